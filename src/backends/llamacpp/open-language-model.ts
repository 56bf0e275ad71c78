/** Loads a GGUF file into llama.cpp as a language model. */
import { basename } from "node:path";
import type { Device, LanguageModel, LanguageModelFiles, LoadOptions } from "../../contract/backend.ts";
import { unsupportedModel } from "../../contract/errors.ts";
import { readGgufModel } from "../../formats/gguf/models/read-model.ts";
import { contextLengthFor, estimateCache } from "../sequences/cache-estimate.ts";
import { refuseForeignTypes } from "../gguf/foreign-types.ts";
import { getCachePrecision, getPrecision, unknownBytesPerToken } from "../gguf/memory.ts";
import { loadAdapters, readAdapters } from "./open-adapters.ts";
import { openModel } from "./open-model.ts";
import type { LlamaBuilds } from "./package.ts";
import { SequenceSlots } from "./sequence-slots.ts";
import { proveEngine } from "../gguf/self-test.ts";
import { openRunRecord } from "./run-record.ts";
import { SlottedLanguageModel } from "../gguf/slotted-language-model.ts";
import { calibrateThreads, threadSentence } from "../gguf/thread-calibration.ts";
import { timeRuns } from "../../platform/statistics.ts";
import { evaluate } from "./evaluate.ts";
import type { LlamaModel } from "./library.ts";

/** Bytes of caches that are allocated before idle sequences give up theirs. */
const cacheBytes = 2 ** 30;

/**
 * Loads a language model on a device, after llama.cpp has passed the self-test with the model's weight types. The file is read by our own parser
 * first, since llama.cpp aborts the process on some damaged files. Throws MODEL_INVALID for a damaged file, MODEL_UNSUPPORTED for an architecture
 * that llama.cpp does not implement, BACKEND_UNAVAILABLE if nothing runs on the device, LOAD_FAILED with llama.cpp's message, and VERIFICATION_FAILED
 * if it computes wrongly.
 */
export async function openLanguageModel(
  files: LanguageModelFiles,
  device: Device,
  settings: LoadOptions,
  builds: LlamaBuilds,
): Promise<LanguageModel> {
  const gguf = await readGgufModel(files.path, basename(files.path));
  refuseForeignTypes(gguf);
  // Self-test results are stored for the CPU only: an update of a GPU driver cannot be detected.
  const record =
    device.type === "cpu" ? openRunRecord("tiny models before loads on llamacpp:cpu", import.meta.url)?.passed : undefined;
  const proof = await proveEngine(gguf, record, (tiny) => openUntested(tiny, device, { threads: 1 }, builds));
  return await openUntested(files, device, settings, builds, [proof]);
}

/** Loads a language model without the self-test. `proof`: sentences for the decision's evidence. Throws the errors of `openLanguageModel`. */
export async function openUntested(
  files: LanguageModelFiles,
  device: Device,
  settings: LoadOptions,
  builds: LlamaBuilds,
  proof: readonly string[] = [],
): Promise<LanguageModel> {
  const { threads: maxThreads = 1, adapters = [], signal } = settings;
  const { path, config } = files;
  const gguf = await readGgufModel(path, basename(path));
  const vocabulary = getVocabulary(gguf.tensors.get("token_embd.weight")?.shape[1]);
  const read = await readAdapters(adapters, gguf);
  const wantedContext = contextLengthFor(config, settings);
  return await openModel(path, device, { ...settings, contextLength: wantedContext, builds }, async (opened) => {
    const { model, library, placement, takeErrors } = opened;
    await loadAdapters(model, read.lora, takeErrors);
    const contextLength = wantedContext ?? model.trainContextSize;
    const cachePrecision = getCachePrecision(getPrecision(gguf), settings);
    const bytesPerToken = estimateCache(config, cachePrecision, 0)?.bytesPerToken ?? unknownBytesPerToken;
    const calibration = await calibrateThreads(maxThreads, (threads) => timeTokens(model, threads, vocabulary, signal));
    const engine = new SequenceSlots(model, {
      vocabulary,
      contextLength,
      threads: calibration?.threads ?? maxThreads,
      isSinglePrecision: cachePrecision === "fp32",
      maxTokens: Math.max(contextLength, Math.floor(cacheBytes / bytesPerToken)),
      lora: read.lora,
    });
    return new SlottedLanguageModel({
      engine,
      library,
      device,
      limits: { vocabulary, contextLength, cacheBytesPerToken: bytesPerToken, hasEncoder: false },
      evidence: [
        placement,
        ...proof,
        ...read.evidence,
        ...(calibration === undefined ? [] : [threadSentence(calibration, "a token")]),
      ],
    });
  });
}

function getVocabulary(rows: number | undefined): number {
  if (rows !== undefined) return rows;
  throw unsupportedModel("the file has no token embeddings, so it is no language model");
}

/** Tokens that are timed for each number of threads. */
const timedTokens = 5;

/** Median milliseconds of decoding one token with this many threads. */
async function timeTokens(
  model: LlamaModel,
  threads: number,
  vocabulary: number,
  signal: AbortSignal | undefined,
): Promise<number> {
  const context = await model.createContext({
    contextSize: 64,
    sequences: 1,
    batchSize: 64,
    threads,
    swaFullCache: true,
    failedCreationRemedy: false,
  });
  try {
    const sequence = context.getSequence();
    return await timeRuns(timedTokens, (token) => evaluate(sequence, [token], { count: 1, candidates: 1 }, vocabulary, signal));
  } finally {
    await context.dispose();
  }
}
