/**
 * Estimates the memory that a language model in a GGUF file needs at a context length: its weights and its KV cache. The cache has, for every token and layer, one
 * key and one value vector per key-value head, in float16, the default of llama.cpp. Memory for activations is not included, since it depends on the engine.
 */
import type { GgufFile } from "../formats/gguf/read-gguf.ts";
import { ggufNumber, ggufText } from "../formats/gguf/gguf-metadata.ts";

/** Estimated memory, in bytes, that running a GGUF model needs. */
export interface MemoryEstimate {
  /** Context length in tokens. */
  readonly context: number;
  readonly weightBytes: number;
  /** Bytes of the KV cache. */
  readonly cacheBytes: number;
  /** Weights and KV cache. */
  readonly totalBytes: number;
  /** The computation of `cacheBytes`, with the numbers of this model. */
  readonly formula: string;
  /** Why the cache may be smaller, or the context too large. */
  readonly note?: string;
}

/** A memory estimate, or the reason why none is possible. */
export type MemoryFinding = { readonly memory: MemoryEstimate } | { readonly memoryUnknown: string };

/** Largest default context length: many models are trained for far longer contexts than are needed. */
const defaultContext = 4096;
const bytesPerElement = 2;

/** Patterns of metadata keys, without the name of the architecture, of models whose state is more than keys and values. */
const unsupportedStates: readonly (readonly [RegExp, string])[] = [
  [/^\.(ssm|wkv|kda|shortconv)\./, "it keeps a recurrent state besides keys and values"],
  [/^\.attention\.kv_lora_rank$/, "it keeps its keys and values compressed (multi-head latent attention)"],
  [/^\.decoder_start_token_id$/, "its decoder also keeps keys and values of what the encoder read"],
];
/** Metadata keys of models whose cache can be smaller than the formula says. */
const smallerCaches: readonly (readonly [string, string])[] = [
  ["attention.sliding_window", "layers with a sliding window of tokens can keep less"],
  ["attention.shared_kv_layers", "layers that share keys and values keep less"],
];

/**
 * Estimates the memory that a GGUF model needs at a context length of `wanted` tokens. Default: the length the model was trained
 * for, at most 4096.
 */
export function estimateGgufMemory(file: GgufFile, wanted: number | undefined): MemoryFinding {
  const { metadata, tensors } = file;
  if (tensors.length === 0) return { memoryUnknown: "it holds no tensors" };
  const architecture = ggufText(metadata, "general.architecture");
  if (architecture === undefined) return { memoryUnknown: "it does not name its architecture" };
  const number = (key: string): number | undefined => ggufNumber(metadata, `${architecture}.${key}`);
  const weightBytes = tensors.reduce((sum, { bytes }) => sum + bytes, 0);
  for (const key of metadata.keys()) {
    const other = unsupportedStates.find(
      ([pattern]) => key.startsWith(architecture) && pattern.test(key.slice(architecture.length)),
    );
    if (other !== undefined) return { memoryUnknown: other[1] };
  }
  const trained = number("context_length");
  const context = wanted ?? (trained === undefined || trained < 1 ? undefined : Math.min(trained, defaultContext));
  if (context === undefined) return { memoryUnknown: `it does not say ${architecture}.context_length; give a context length` };
  if (isEncoder(file, architecture)) {
    const formula = "none: an encoder sees all tokens at once and keeps nothing";
    return { memory: { context, weightBytes, cacheBytes: 0, totalBytes: weightBytes, formula } };
  }
  const cache = cachePerToken(file, architecture);
  if ("missing" in cache) return { memoryUnknown: `it does not say ${architecture}.${cache.missing}` };
  const cacheBytes = context * cache.elements * bytesPerElement;
  const note = [
    ...smallerCaches.flatMap(([key, words]) => ((number(key) ?? 0) > 0 ? [words] : [])),
    ...(trained !== undefined && context > trained ? [`the model was made for ${trained} tokens`] : []),
  ].join("; ");
  return {
    memory: {
      context,
      weightBytes,
      cacheBytes,
      totalBytes: weightBytes + cacheBytes,
      formula: `${getCount(context, "token")} × ${cache.formula} × ${bytesPerElement} bytes (keys and values in half precision)`,
      ...(note === "" ? {} : { note }),
    },
  };
}

function isEncoder({ metadata }: GgufFile, architecture: string): boolean {
  const causal = metadata.get(`${architecture}.attention.causal`);
  return causal?.type === "bool" && causal.value === false;
}

/** Elements of the cache per token, or the metadata key that is missing. */
function cachePerToken(file: GgufFile, architecture: string): { elements: number; formula: string } | { missing: string } {
  const number = (key: string): number | undefined => ggufNumber(file.metadata, `${architecture}.${key}`);
  const layers = number("block_count");
  if (layers === undefined) return { missing: "block_count" };
  const heads = perLayer(file, `${architecture}.attention.head_count`, layers);
  const keyValueHeads = perLayer(file, `${architecture}.attention.head_count_kv`, layers) ?? heads;
  if (keyValueHeads === undefined) return { missing: "attention.head_count" };
  const width = number("embedding_length");
  const maxHeads = Math.max(0, ...(heads ?? []));
  const headLength = width === undefined || maxHeads === 0 ? undefined : width / maxHeads;
  const keyLength = number("attention.key_length") ?? headLength;
  const valueLength = number("attention.value_length") ?? headLength;
  if (keyLength === undefined || valueLength === undefined) return { missing: "attention.key_length" };
  const total = keyValueHeads.reduce((sum, count) => sum + count, 0);
  const [first = 0] = keyValueHeads;
  const same = keyValueHeads.every((count) => count === first);
  const layersWords = getCount(layers, "layer");
  const headsWords = same ? `${layersWords} × ${getCount(first, "head")}` : `${getCount(total, "head")} in ${layersWords}`;
  const elements = total * (keyLength + valueLength);
  if (!Number.isSafeInteger(elements) || elements < 0) return { missing: "attention.key_length in a usable size" };
  return { elements, formula: `${headsWords} × (${keyLength} + ${valueLength})` };
}

function getCount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** Largest number of layers; no model has more, and a hostile file must not make the list huge. */
const maxLayers = 1024;

/** One number per layer. The file has either a list, or one number for all layers. */
function perLayer({ metadata }: GgufFile, key: string, layers: number): number[] | undefined {
  const value = metadata.get(key);
  if (layers > maxLayers || value === undefined) return undefined;
  if (value.type !== "array") {
    const count = value.value;
    return typeof count === "number" ? Array.from({ length: layers }, () => count) : undefined;
  }
  const counts = value.items.filter((item) => typeof item === "number");
  return counts.length === layers && counts.length === value.length ? counts : undefined;
}
