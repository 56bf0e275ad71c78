/** Loads a GGUF file into llama.cpp as an encoder. */
import { basename } from "node:path";
import type { Device, LoadOptions, ModelFiles } from "../../../contract/backend.ts";
import { InferyardError } from "../../../contract/errors.ts";
import { readGgufModel } from "../../../formats/gguf/models/read-model.ts";
import { EmbeddingContexts, type EmbeddingSettings } from "./embedding-contexts.ts";
import { encoderHead, maxEncoderTokens } from "./encoder-head.ts";
import { LlamaEncoder } from "./encoder.ts";
import { refuseForeignTypes } from "../../gguf/foreign-types.ts";
import type { LlamaModel } from "../library.ts";
import { getPrecision } from "../../gguf/memory.ts";
import { openModel } from "../open-model.ts";
import type { LlamaBuilds } from "../package.ts";
import { timeRuns } from "../../../platform/statistics.ts";
import { calibrateThreads, threadSentence } from "../../gguf/thread-calibration.ts";

/** Tokens of the text that is timed to choose the number of threads, and how often. */
const timedTokens = 32;
const timedRuns = 3;

/** Loads an encoder on a device. Throws as `openModel` and `encoderHead` do, and MODEL_INVALID for a damaged file. */
export async function openEncoder(
  { path }: ModelFiles,
  device: Device,
  settings: LoadOptions,
  builds: LlamaBuilds,
): Promise<LlamaEncoder> {
  const shown = basename(path);
  if (settings.adapters !== undefined) {
    throw new InferyardError(
      "MODEL_UNSUPPORTED",
      `llamacpp applies adapters to language models, and ${shown} is to be run as an encoder`,
      {
        remedy: "leave the adapters out",
      },
    );
  }
  const gguf = await readGgufModel(path, shown);
  refuseForeignTypes(gguf);
  const head = encoderHead(gguf, shown);
  const vocabulary = gguf.tensors.get("token_embd.weight")?.shape[1];
  if (vocabulary === undefined) throw new InferyardError("MODEL_UNSUPPORTED", `${shown} has no token embeddings`);
  const { threads: maxThreads = 1, cpuNodes, signal } = settings;
  const stated = maxEncoderTokens(gguf);
  const open = { cpuNodes, signal, contextLength: stated, builds };
  return await openModel(path, device, open, async ({ model, library, placement }) => {
    const maxTokens = stated ?? model.trainContextSize;
    const isRanking = head.output === "logits";
    const shared = { maxTokens, isRanking, isSinglePrecision: getPrecision(gguf) === "fp32" };
    const text = Array.from({ length: Math.min(timedTokens, maxTokens) }, (_, index) => index % vocabulary);
    const calibration = await calibrateThreads(maxThreads, (threads) => timeText(model, { ...shared, threads }, text));
    return new LlamaEncoder({
      model,
      contexts: new EmbeddingContexts(model, { ...shared, threads: calibration?.threads ?? maxThreads }),
      library,
      device,
      output: head.output,
      elements: head.elements ?? model.embeddingVectorSize,
      vocabulary,
      maxTokens,
      evidence: [
        placement,
        ...(calibration === undefined ? [] : [threadSentence(calibration, `a text of ${text.length} tokens`)]),
      ],
    });
  });
}

/** Median milliseconds of a text. */
async function timeText(model: LlamaModel, settings: EmbeddingSettings, text: readonly number[]): Promise<number> {
  const contexts = new EmbeddingContexts(model, settings);
  try {
    return await timeRuns(timedRuns, () => contexts.compute(text));
  } finally {
    await contexts.dispose();
  }
}
