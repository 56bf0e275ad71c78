/**
 * The functions of llama.h that are called, under the names that a release has: https://github.com/ggml-org/llama.cpp/blob/master/include/llama.h. Those that compute are
 * called on another thread, since they log from there and the log is written by this one.
 */
import { InferyardError } from "../../contract/errors.ts";
import type { LlamaLayout } from "../../libraries/contracts/index.ts";
import type { NativeLibrary } from "../../libraries/ffi/index.ts";

/** Models, contexts and vocabularies are addresses. */
type Address = bigint;

/** Functions on the caches of sequences. Positions are half-open ranges; -1: to the end. */
export interface MemoryFunctions {
  /** Copies a sequence, whose cells are then shared. */
  copy(context: Address, from: number, to: number): void;
  /** Removes positions. false: this kind of cache cannot remove a part. */
  remove(context: Address, slot: number, start: number, end: number): boolean;
}

/** The functions of one library. */
export interface LlamaFunctions {
  loadModel(path: string, params: Uint8Array): Promise<Address>;
  freeModel(model: Address): void;
  modelParams(): Uint8Array;
  contextParams(): Uint8Array;
  createContext(model: Address, params: Uint8Array): Promise<Address>;
  freeContext(context: Address): void;
  /** 0: done; 1: no room in the cache; otherwise it failed. */
  decode(context: Address, batch: Uint8Array): Promise<number>;
  logitsAt(context: Address, index: number): Address;
  setThreads(context: Address, threads: number): void;
  readonly memory: MemoryFunctions;
  stateSize(context: Address, slot: number): number;
  /** Returns the bytes written; 0: it failed. */
  readState(context: Address, bytes: Uint8Array, slot: number): number;
  /** Returns the bytes read; 0: it failed. */
  writeState(context: Address, bytes: Uint8Array, slot: number): number;
  vocabularySize(model: Address): number;
  contextLength(model: Address): number;
  hasEncoder(model: Address): boolean;
  modelBytes(model: Address): number;
  /**
   * Token ids of a text, with the special tokens that the model adds at its ends. Special tokens written in the text are read as plain text. Undefined if there
   * are more than `capacity`.
   */
  tokenize(model: Address, text: string, capacity: number): readonly number[] | undefined;
  supportsGpu(): boolean;
  /** Loads the parts of ggml that are files of their own, from this folder. */
  loadComputeLibraries(folder: string): void;
  start(): void;
}

const pointers = { result: "pointer", parameters: ["pointer"] } as const;
const freeing = { result: "void", parameters: ["pointer"] } as const;

/** Binds the functions. Throws LIBRARY_INCOMPATIBLE if the library has none of a name. */
export function bindLlama(library: NativeLibrary, { modelParams, contextParams, batch }: LlamaLayout): LlamaFunctions {
  const name = (...names: readonly string[]): string => getFirst(library, names);
  const bind = library.bind.bind(library);
  const hasVocabulary = library.has("llama_model_get_vocab");
  const vocabularyOf = hasVocabulary ? bind("llama_model_get_vocab", pointers) : (model: Address) => model;
  const vocabularySize = bind(name("llama_vocab_n_tokens", "llama_n_vocab"), { result: "int32", parameters: ["pointer"] });
  const tokenizing = ["pointer", "string", "int32", "pointer", "int32", "bool", "bool"] as const;
  const tokenize = bind("llama_tokenize", { result: "int32", parameters: tokenizing });
  const withState = ["pointer", "pointer", "size", "int32"] as const;
  const contextLength = bind(name("llama_model_n_ctx_train", "llama_n_ctx_train"), { result: "int32", parameters: ["pointer"] });
  const modelSize = bind("llama_model_size", { result: "uint64", parameters: ["pointer"] });
  const setThreads = bind("llama_set_n_threads", { result: "void", parameters: ["pointer", "int32", "int32"] });
  return {
    loadModel: library.bindAsync(name("llama_model_load_from_file", "llama_load_model_from_file"), {
      result: "pointer",
      parameters: ["string", modelParams],
    }),
    freeModel: bind(name("llama_model_free", "llama_free_model"), freeing),
    modelParams: bind("llama_model_default_params", { result: modelParams, parameters: [] }),
    contextParams: bind("llama_context_default_params", { result: contextParams, parameters: [] }),
    createContext: library.bindAsync(name("llama_init_from_model", "llama_new_context_with_model"), {
      result: "pointer",
      parameters: ["pointer", contextParams],
    }),
    freeContext: bind("llama_free", freeing),
    decode: library.bindAsync("llama_decode", { result: "int32", parameters: ["pointer", batch] }),
    logitsAt: bind("llama_get_logits_ith", { result: "pointer", parameters: ["pointer", "int32"] }),
    setThreads: (context, threads) => setThreads(context, threads, threads),
    memory: bindMemory(library),
    stateSize: bind("llama_state_seq_get_size", { result: "size", parameters: ["pointer", "int32"] }),
    readState: stateFunction(bind("llama_state_seq_get_data", { result: "size", parameters: withState })),
    writeState: stateFunction(bind("llama_state_seq_set_data", { result: "size", parameters: withState })),
    vocabularySize: (model) => vocabularySize(vocabularyOf(model)),
    contextLength,
    hasEncoder: bind("llama_model_has_encoder", { result: "bool", parameters: ["pointer"] }),
    modelBytes: (model) => Number(modelSize(model)),
    tokenize(model, text, capacity) {
      const ids = new Int32Array(new ArrayBuffer(4 * capacity));
      const count = tokenize(vocabularyOf(model), text, Buffer.byteLength(text), ids, capacity, true, false);
      return count < 0 ? undefined : [...ids.subarray(0, count)];
    },
    supportsGpu: bind("llama_supports_gpu_offload", { result: "bool", parameters: [] }),
    loadComputeLibraries(folder) {
      if (!library.has("ggml_backend_load_all_from_path")) return;
      bind("ggml_backend_load_all_from_path", { result: "void", parameters: ["string"] })(folder);
    },
    start: bind("llama_backend_init", { result: "void", parameters: [] }),
  };
}

/** The cache functions: `llama_memory_*` on the memory of a context, `llama_kv_self_*` and `llama_kv_cache_*` on the context itself. */
function bindMemory(library: NativeLibrary): MemoryFunctions {
  const prefix = ["llama_memory", "llama_kv_self", "llama_kv_cache"].find((each) => library.has(`${each}_seq_cp`));
  const copying = { result: "void", parameters: ["pointer", "int32", "int32", "int32", "int32"] } as const;
  const removing = { result: "bool", parameters: ["pointer", "int32", "int32", "int32"] } as const;
  const copy = library.bind(`${prefix ?? "llama_memory"}_seq_cp`, copying);
  const remove = library.bind(`${prefix ?? "llama_memory"}_seq_rm`, removing);
  const memoryOf = prefix === "llama_memory" ? library.bind("llama_get_memory", pointers) : (context: Address) => context;
  return {
    copy: (context, from, to) => copy(memoryOf(context), from, to, -1, -1),
    remove: (context, slot, start, end) => remove(memoryOf(context), slot, start, end),
  };
}

function stateFunction(call: (context: Address, bytes: Uint8Array, size: number, slot: number) => number) {
  return (context: Address, bytes: Uint8Array, slot: number): number => call(context, bytes, bytes.length, slot);
}

function getFirst(library: NativeLibrary, names: readonly string[]): string {
  const found = names.find((each) => library.has(each));
  if (found !== undefined) return found;
  throw new InferyardError("LIBRARY_INCOMPATIBLE", `${library.path} has none of the functions ${names.join(", ")}`, {
    data: { path: library.path, missing: names },
    remedy: `inferyard libraries verify ${library.path} says what else is missing`,
  });
}
