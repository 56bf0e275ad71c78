/** Loads a GGUF file into llama.cpp as an encoder. */
import { basename } from "node:path";
import type { Device, LoadOptions, ModelFiles } from "../../../contract/backend.ts";
import { type InferyardError, unsupportedModel } from "../../../contract/errors.ts";
import { readGgufModel, type GgufModel } from "../../../formats/gguf/models/read-model.ts";
import { EmbeddingContexts, type EmbeddingSettings } from "./embedding-contexts.ts";
import { LlamaEncoder } from "./encoder.ts";
import { refuseForeignTypes } from "../../gguf/foreign-types.ts";
import type { LlamaModel } from "../library.ts";
import { getPrecision } from "../../gguf/memory.ts";
import { openModel } from "../open-model.ts";
import type { LlamaBuilds } from "../package.ts";
import { timeRuns } from "../../../platform/statistics.ts";
import { calibrateThreads, threadSentence } from "../../gguf/thread-calibration.ts";
import { ggufNumber } from "../../../formats/gguf/gguf-metadata.ts";
import { ggufPooling } from "../../../formats/gguf/models/architectures.ts";

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
    throw unsupportedModel(
      `llamacpp applies adapters to language models, and ${shown} is to be run as an encoder`,
      "leave the adapters out",
    );
  }
  const gguf = await readGgufModel(path, shown);
  refuseForeignTypes(gguf);
  const head = encoderHead(gguf, shown);
  const vocabulary = gguf.tensors.get("token_embd.weight")?.shape[1];
  if (vocabulary === undefined) throw unsupportedModel(`${shown} has no token embeddings`);
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

/** The output of an encoder: `[batch, elements]`. */
interface EncoderHead {
  readonly output: "sentence_embedding" | "logits";
  /** Elements of a row. Undefined: as many as llama.cpp reports. */
  readonly elements: number | undefined;
}

/**
 * The pooled vector of a text, or the logits of a reranker. Throws MODEL_UNSUPPORTED for a model whose output node-llama-cpp does not give or computes
 * otherwise than the model was trained: vectors of tokens, and rerankers with token types or with a prompt of their own.
 */
function encoderHead(gguf: GgufModel, shown: string): EncoderHead {
  const pooling = ggufPooling(gguf);
  if (pooling === undefined || pooling === "none") {
    const stated = pooling === undefined ? "states no pooling" : 'states the pooling "none"';
    throw unsupported(`${shown} ${stated}, and node-llama-cpp gives no vectors of tokens`);
  }
  if (pooling !== "rank") return { output: "sentence_embedding", elements: undefined };
  const labels = gguf.tensors.get("cls.output.weight");
  if (labels === undefined) throw unsupported(`${shown} is a reranker without the tensor cls.output.weight`);
  if (softmaxArchitectures.has(gguf.architecture) || gguf.metadata.has("tokenizer.chat_template.rerank")) {
    throw unsupported(
      `${shown} is a reranker of the architecture "${gguf.architecture}" that reads query and document in a prompt`,
    );
  }
  const types = gguf.tensors.get("token_types.weight")?.shape[1] ?? 1;
  if (types > 1)
    throw unsupported(`${shown} has ${types} token types, and llama.cpp reads query and document as of the first one`);
  return { output: "logits", elements: labels.shape[1] ?? 1 };
}

/** Decoders whose labels "yes" and "no" llama.cpp turns into probabilities by itself: `build_pooling` of llama-graph.cpp. */
const softmaxArchitectures: ReadonlySet<string> = new Set(["qwen3", "qwen3vl"]);

/** Maximum number of tokens of a text. Undefined: the file states none. */
function maxEncoderTokens({ metadata, architecture, tensors }: GgufModel): number | undefined {
  // llama.cpp aborts the process at a position that the table does not have.
  const lengths = [ggufNumber(metadata, `${architecture}.context_length`), tensors.get("position_embd.weight")?.shape[1]];
  const stated = lengths.filter((length) => length !== undefined);
  return stated.length === 0 ? undefined : Math.min(...stated);
}

function unsupported(message: string): InferyardError {
  return unsupportedModel(message, "run it on native");
}
