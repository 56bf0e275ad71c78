/** Loads a GGUF file into llama.cpp. */
import { stat } from "node:fs/promises";
import { basename } from "node:path";
import {
  type Device,
  InferyardError,
  type LanguageModelFiles,
  type LoadOptions,
  messageOf,
  throwIfAborted,
} from "../../backend.ts";
import { isBitnetType } from "../../formats/gguf/ggml-types.ts";
import { readGgufModel } from "../../formats/gguf/models/read-model.ts";
import { contextLengthFor, estimateCache } from "../sequences/cache-estimate.ts";
import { gpuOf } from "./devices.ts";
import { LlamaLanguageModel } from "./language-model.ts";
import type { LlamaGpu, LlamaModel, ModelOptions } from "./library.ts";
import { cachePrecisionOf, unknownBytesPerToken } from "./memory.ts";
import { type OpenLlama, openLlama } from "./package.ts";
import { SequenceSlots } from "./sequence-slots.ts";
import { calibrateThreads, type ThreadCalibration } from "./thread-calibration.ts";

/** Bytes of caches that are allocated before idle sequences give up theirs. */
const cacheBytes = 2 ** 30;

/**
 * Loads a language model on a device. The file is read by our own parser first, since llama.cpp aborts the process on some damaged files. Throws
 * MODEL_INVALID for a damaged file, MODEL_UNSUPPORTED for an architecture that llama.cpp does not have, BACKEND_UNAVAILABLE if the device computes
 * nothing, and LOAD_FAILED with what llama.cpp says.
 */
export async function openLanguageModel(
  files: LanguageModelFiles,
  device: Device,
  settings: LoadOptions,
): Promise<LlamaLanguageModel> {
  const { threads: maxThreads = 1, cpuNodes = "refuse", signal } = settings;
  const { path, config } = files;
  const gguf = await readGgufModel(path, basename(path));
  const foreign = [...gguf.tensors.values()].find(({ type }) => isBitnetType(type));
  if (foreign !== undefined) {
    throw new InferyardError(
      "MODEL_UNSUPPORTED",
      `the tensor "${foreign.name}" is of the type ${foreign.type} of BitNet's fork, which llama.cpp does not have`,
      { remedy: "ask for native:cpu, which reads I2_S", data: { tensor: foreign.name, type: foreign.type } },
    );
  }
  const gpu = gpuOf(device);
  if (gpu === undefined) {
    throw new InferyardError("BACKEND_UNAVAILABLE", `llama.cpp does not compute on ${device.type}:${device.index}`, {
      remedy: "ask for llamacpp:cpu",
    });
  }
  const opened = await openLlama(gpu);
  const { llama, library } = opened;
  try {
    if (gpu !== false && !llama.supportsGpuOffloading)
      throw new InferyardError("BACKEND_UNAVAILABLE", `llama.cpp finds no ${gpu} device on this machine`);
    const wantedContext = contextLengthFor(config, settings);
    const model = await loadModel(opened, path, layersOn(gpu, cpuNodes, wantedContext), signal);
    try {
      if (gpu !== false && model.gpuLayers === 0)
        throw new InferyardError("LOAD_FAILED", `llama.cpp put no layer of the model on ${gpu}`);
      const contextLength = wantedContext ?? model.trainContextSize;
      const vocabulary = vocabularyOf(gguf.tensors.get("token_embd.weight")?.shape[1]);
      const precision = [...gguf.tensors.values()].every(({ type }) => type === "F32") ? "fp32" : undefined;
      const cachePrecision = cachePrecisionOf(precision, settings);
      const bytesPerToken = estimateCache(config, cachePrecision, 0)?.bytesPerToken ?? unknownBytesPerToken;
      const calibration = await calibrateThreads(model, { maxThreads, vocabulary, signal });
      const threads = calibration?.threads ?? maxThreads;
      const slots = new SequenceSlots(model, {
        contextLength,
        threads,
        isSinglePrecision: cachePrecision === "fp32",
        maxTokens: Math.max(contextLength, Math.floor(cacheBytes / bytesPerToken)),
      });
      const identity = `${gguf.bytes} ${(await stat(path)).mtimeMs} ${library.version}`;
      const loaded = new LlamaLanguageModel({
        model,
        slots,
        library,
        identity,
        limits: { vocabulary, contextLength, cacheBytesPerToken: bytesPerToken, hasEncoder: false },
        evidence: [await placement(opened, model), ...(calibration === undefined ? [] : [threadSentence(calibration)])],
        close: () => llama.dispose(),
      });
      return loaded;
    } catch (error) {
      await model.dispose();
      throw error;
    }
  } catch (error) {
    await llama.dispose();
    throw error;
  }
}

/** Layers on the GPU: all of them, unless the CPU may compute some; then as many as fit beside the cache of one sequence. */
function layersOn(gpu: LlamaGpu, cpuNodes: "refuse" | "allow", contextLength: number | undefined): ModelOptions["gpuLayers"] {
  if (gpu === false) return 0;
  if (cpuNodes === "refuse") return "max";
  return contextLength === undefined ? "auto" : { fitContext: { contextSize: contextLength } };
}

async function loadModel(
  { llama, takeErrors }: OpenLlama,
  path: string,
  gpuLayers: ModelOptions["gpuLayers"],
  signal: AbortSignal | undefined,
): Promise<LlamaModel> {
  try {
    return await llama.loadModel({ modelPath: path, gpuLayers, ...(signal === undefined ? {} : { loadSignal: signal }) });
  } catch (error) {
    throwIfAborted(signal);
    const said = [messageOf(error), takeErrors()].filter((part) => part !== undefined && part !== "").join(": ");
    const isUnknown = /unknown model architecture|unsupported/i.test(said);
    throw new InferyardError(
      isUnknown ? "MODEL_UNSUPPORTED" : "LOAD_FAILED",
      `llama.cpp cannot load ${basename(path)}: ${said}`,
      {
        cause: error,
      },
    );
  }
}

/** What llama.cpp itself says of where it computes. */
async function placement({ llama }: OpenLlama, model: LlamaModel): Promise<string> {
  const { repo, release } = llama.llamaCppRelease;
  const build = `${repo} ${release}`;
  if (llama.gpu === false) return `${build}: built without a GPU, computes on the CPU`;
  const devices = await llama.getGpuDeviceNames();
  return `${build}: ${model.gpuLayers} layers offloaded to ${llama.gpu} (${devices.join(", ")})`;
}

function threadSentence({ threads, milliseconds }: ThreadCalibration): string {
  const measured = [...milliseconds].map(([count, each]) => `${each.toFixed(1)} ms with ${count}`);
  return `${threads} ${threads === 1 ? "thread decodes" : "threads decode"} fastest: a token took ${measured.join(", ")}`;
}

function vocabularyOf(rows: number | undefined): number {
  if (rows !== undefined) return rows;
  throw new InferyardError("MODEL_UNSUPPORTED", "the file has no token embeddings, so it is no language model");
}
