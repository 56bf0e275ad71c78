/** Loads a GGUF file into a llama library of the user's. */
import { basename } from "node:path";
import type { Device, LanguageModel, LanguageModelFiles, LoadOptions } from "../../contract/backend.ts";
import { InferyardError, throwIfAborted, unsupportedModel } from "../../contract/errors.ts";
import { readGgufModel } from "../../formats/gguf/models/read-model.ts";
import { type FieldValue, type StructLayout, writeField } from "../../libraries/ffi/index.ts";
import { refuseForeignTypes } from "../gguf/foreign-types.ts";
import { batchTokens, getCachePrecision, getPrecision, unknownBytesPerToken } from "../gguf/memory.ts";
import { usualSelfTestKind } from "../gguf/self-test-model.ts";
import { SlottedLanguageModel } from "../gguf/slotted-language-model.ts";
import { type SelfTestSubject, openSelfTestRecord } from "../gguf/self-test-record.ts";
import { proveEngine, runSelfTest } from "../gguf/self-test.ts";
import { timeRuns } from "../../platform/statistics.ts";
import { calibrateThreads, threadSentence } from "../gguf/thread-calibration.ts";
import { contextLengthFor, estimateCache } from "../sequences/cache-estimate.ts";
import { checkTokenization } from "./check-tokenization.ts";
import { type LibraryDeviceType, getLibraryDeviceType } from "./device-types.ts";
import { LibrarySlots } from "./library-slots.ts";
import { LibraryContext } from "./llama-context.ts";
import { type LibrarySource, type OpenedLibrary, getLibraryName, openLibrary } from "./open-library.ts";
import { TokenBatch } from "./token-batch.ts";

/** Sequences of a context, and cells that it begins with. */
const slots = 32;
const firstCells = 1024;
/** Bytes of cache that may be allocated, unless one sequence needs more. */
const cacheBytes = 2 ** 30;
/** Layers on a GPU: all. */
const allLayers = 999;
/** `ggml_type` of the elements of caches. */
const cacheTypes = { fp32: 0, fp16: 1 } as const;
/** File names of ggml's GPU backends. */
const gpuBackend = /ggml-(?:cuda|hip|musa|vulkan|metal|sycl|opencl|cann|webgpu)[-.]/;
/** What llama.cpp logs when it has loaded a model on a GPU. */
const offloading = /offloaded (\d+)\/(\d+) layers to \w+/;
/** Tokens that are timed for each number of threads. */
const timedTokens = 4;

/**
 * Loads a language model on a device, after the library has passed the self-test with the model's weight types. The file is read by our own parser first, since
 * llama.cpp aborts the process on some damaged files. Throws errors of `openLibrary`, MODEL_INVALID for a damaged file, MODEL_UNSUPPORTED for an architecture
 * that the library does not implement, BACKEND_UNAVAILABLE for a device that it does not have, LOAD_FAILED with the library's message, and VERIFICATION_FAILED
 * for a library that computes wrongly.
 */
export async function openLibraryLanguageModel(
  source: LibrarySource,
  files: LanguageModelFiles,
  device: Device,
  settings: LoadOptions,
): Promise<LanguageModel> {
  const gguf = await readGgufModel(files.path, basename(files.path));
  refuseForeignTypes(gguf);
  const opened = await openLibrary(source);
  try {
    // Self-test results are stored for the CPU only: an update of a GPU driver cannot be detected.
    const record = device.type === "cpu" ? openSelfTestRecord(getRecord(opened)) : undefined;
    const proof = await proveEngine(gguf, record, (tiny) => openModelIn(opened, tiny, device, { threads: 1 }));
    return await openModelIn(opened, files, device, settings, { close: () => opened.close(), proof: [proof] });
  } catch (error) {
    opened.close();
    throw error;
  }
}

function getRecord({ file }: OpenedLibrary): SelfTestSubject {
  return { tests: "tiny models on library:cpu", module: import.meta.url, engine: { library: JSON.stringify(file.files) } };
}

/** Runs the self-test without a user's model. Returns the device on which the library computed. Throws the errors of `openLanguageModel`. */
export async function testLibrary(source: LibrarySource, device: Device): Promise<string> {
  const opened = await openLibrary(source);
  try {
    const { evidence } = await runSelfTest(usualSelfTestKind, (tiny) => openModelIn(opened, tiny, device, { threads: 1 }));
    return evidence[1] ?? "";
  } finally {
    opened.close();
  }
}

/** Loads a model with an open library. `close`: frees the library. `proof`: sentences for the decision's evidence. */
async function openModelIn(
  opened: OpenedLibrary,
  files: LanguageModelFiles,
  device: Device,
  settings: LoadOptions,
  { close: closeLibrary = () => {}, proof = [] }: { readonly close?: () => void; readonly proof?: readonly string[] } = {},
): Promise<LanguageModel> {
  const { path, config } = files;
  const { threads: maxThreads = 1, signal } = settings;
  const gguf = await readGgufModel(path, basename(path));
  const { functions } = opened;
  const cleanups: (() => void)[] = [];
  const close = (): void => {
    for (const cleanup of cleanups.splice(0).reverse()) cleanup();
  };
  try {
    const type = deviceTypeFor(opened, device);
    const model = await loadModel(opened, path, type);
    cleanups.push(() => functions.freeModel(model));
    throwIfAborted(signal);
    const placement = getPlacement(opened, type);
    const vocabulary = functions.vocabularySize(model);
    const contextLength = contextLengthFor(config, settings) ?? functions.contextLength(model);
    const cachePrecision = getCachePrecision(getPrecision(gguf), settings);
    const bytesPerToken = estimateCache(config, cachePrecision, 0)?.bytesPerToken ?? unknownBytesPerToken;
    let threads = maxThreads;
    const create = (cells: number): Promise<bigint> =>
      createContext(opened, model, { cells, threads, cachePrecision, isOnGpu: type.name !== "cpu" });
    const maxCells = Math.min(slots * contextLength, Math.max(contextLength, Math.floor(cacheBytes / bytesPerToken)));
    const minCells = Math.min(maxCells, firstCells, contextLength); // one text of the self-test's model, whose context then grows
    const context = await LibraryContext.create({ functions, create, minCells, maxCells, slots });
    cleanups.push(() => context.free());
    const batch = new TokenBatch(opened.ffi, opened.structs.batch, batchTokens);
    const calibration = await calibrateThreads(maxThreads, (threads) => timeTokens(opened, context, batch, threads));
    threads = calibration?.threads ?? maxThreads;
    functions.setThreads(context.address, threads);
    const tokenization = await checkTokenization(path, (text) => functions.tokenize(model, text, 4 * text.length + 16));
    cleanups.pop(); // the model frees its context itself
    const { ffi, log } = opened;
    const weightBytes = functions.modelBytes(model);
    return new SlottedLanguageModel({
      engine: new LibrarySlots({
        ffi,
        functions,
        context,
        batch,
        log,
        vocabulary,
        weightBytes,
        close: () => {
          close();
          closeLibrary();
        },
      }),
      library: getLibraryName(opened.file),
      device,
      limits: { vocabulary, contextLength, cacheBytesPerToken: bytesPerToken, hasEncoder: false },
      evidence: [
        `${opened.file.path}, sha256 ${opened.file.sha256}, layout ${opened.layout}`,
        placement,
        tokenization,
        ...proof,
        ...(calibration === undefined ? [] : [threadSentence(calibration, "a token")]),
      ],
    });
  } catch (error) {
    close();
    throw error;
  }
}

/** The kind of a device. Throws BACKEND_UNAVAILABLE if the library has none of it. */
function deviceTypeFor({ devices, file }: OpenedLibrary, device: Device): LibraryDeviceType {
  const type = getLibraryDeviceType(device);
  const isThere = type !== undefined && (type.name === "cpu" || devices.some(({ name }) => name.startsWith(type.prefix)));
  if (isThere) return type;
  const known = devices.map(({ name }) => name).join(", ") || "no device";
  throw new InferyardError(
    "BACKEND_UNAVAILABLE",
    `${file.path} does not compute on ${device.type}:${device.index}: it reports ${known}`,
    {
      remedy: "ask for library:cpu",
    },
  );
}

async function loadModel(opened: OpenedLibrary, path: string, type: LibraryDeviceType): Promise<bigint> {
  const { functions, structs, devices, log, ffi } = opened;
  const own = type.name === "cpu" ? [] : devices.filter(({ name }) => name.startsWith(type.prefix));
  // A list that ends with NULL. Empty for the CPU: otherwise a build with a GPU would compute large batches there.
  const list = new BigUint64Array(new ArrayBuffer(8 * (own.length + 1)));
  list.set(own.map(({ address }) => address));
  const params = functions.modelParams();
  setFields(structs.modelParams, params, { devices: ffi.getAddress(list), n_gpu_layers: own.length === 0 ? 0 : allLayers });
  log.clear();
  const model = await functions.loadModel(path, params);
  if (list.length > 0 && model !== 0n) {
    if (!functions.hasEncoder(model)) return model;
    functions.freeModel(model);
    throw unsupportedModel("models with an encoder and a decoder are not run by a llama library");
  }
  const said = log.reason ?? "it does not say why";
  const isUnknown = /unknown model architecture|unsupported|unknown (pre-)?tokenizer/i.test(said);
  throw new InferyardError(
    isUnknown ? "MODEL_UNSUPPORTED" : "LOAD_FAILED",
    `${opened.file.name} cannot load ${basename(path)}: ${said}`,
  );
}

interface ContextParams {
  readonly cells: number;
  readonly threads: number;
  readonly cachePrecision: keyof typeof cacheTypes;
  readonly isOnGpu: boolean;
}

async function createContext(
  opened: OpenedLibrary,
  model: bigint,
  { cells, threads, cachePrecision, isOnGpu }: ContextParams,
): Promise<bigint> {
  const { functions, structs, log } = opened;
  const params = functions.contextParams();
  setFields(structs.contextParams, params, {
    n_ctx: cells,
    n_batch: batchTokens,
    n_ubatch: batchTokens,
    n_seq_max: slots,
    n_threads: threads,
    n_threads_batch: threads,
    type_k: cacheTypes[cachePrecision],
    type_v: cacheTypes[cachePrecision],
    offload_kqv: isOnGpu,
    op_offload: isOnGpu,
    no_perf: true,
    // Sequences share all cells, and can be cut back in models with sliding windows.
    kv_unified: true,
    swa_full: true,
    // Fused attention computes in half precision on the CPU.
    ...(cachePrecision === "fp32" ? { flash_attn_type: 0, flash_attn: false } : {}),
  });
  log.clear();
  const context = await functions.createContext(model, params);
  if (context !== 0n) return context;
  throw new InferyardError(
    "OUT_OF_MEMORY",
    `the library could not allocate a cache of ${cells} tokens: ${log.reason ?? "it does not say why"}`,
    {
      remedy: "load the model with a smaller context length",
    },
  );
}

/** Sets those of the fields that the release has. */
function setFields(layout: StructLayout, bytes: Uint8Array, values: Readonly<Record<string, FieldValue>>): void {
  for (const [name, value] of Object.entries(values)) {
    if (Object.hasOwn(layout.fields, name)) writeField(layout, bytes, name, value);
  }
}

/** Where the library computes, by what it reports. Throws LOAD_FAILED if it put a layer elsewhere, and PLACEMENT_UNPROVEN if it does not say. */
function getPlacement({ devices, functions, log, file }: OpenedLibrary, { name }: LibraryDeviceType): string {
  const reported = devices.map((device) => `${device.name} (${device.description})`).join(", ");
  const all = reported === "" ? "" : `; devices: ${reported}`;
  if (name === "cpu") {
    const gpus = file.files.map((each) => each.name).filter((each) => gpuBackend.test(each));
    const beside = gpus.length === 0 ? "" : `, although ${gpus.join(", ")} is beside it`;
    const given = functions.supportsGpu() ? "no device but the CPU was given to it" : `it reports no GPU${beside}`;
    return `${given}; it computes on the CPU${all}`;
  }
  const line = log.lines.findLast((each) => offloading.test(each));
  const [said, done, layers] = offloading.exec(line ?? "") ?? [];
  if (said === undefined)
    throw new InferyardError("PLACEMENT_UNPROVEN", `${file.name} does not say how many layers it put on ${name}`);
  if (done !== layers) {
    throw new InferyardError("LOAD_FAILED", `${file.name} put ${done} of ${layers} layers on ${name}, and all were asked for`, {
      remedy: "use a smaller model, or ask for library:cpu",
    });
  }
  return `${said}${all}`;
}

/** Median milliseconds of decoding one token with this many threads. */
async function timeTokens(
  { functions }: OpenedLibrary,
  context: LibraryContext,
  batch: TokenBatch,
  threads: number,
): Promise<number> {
  functions.setThreads(context.address, threads);
  const slot = (await context.reserve(undefined, timedTokens + 1)) ?? 0;
  try {
    return await timeRuns(timedTokens, async (position) => {
      const tokens = batch.write([{ token: position, position, slot, wantsLogits: true }]);
      const outcome = await functions.decode(context.address, tokens);
      if (outcome !== 0) throw new InferyardError("LOAD_FAILED", `llama_decode returned ${outcome} for a token`);
    });
  } finally {
    context.give(slot);
  }
}
