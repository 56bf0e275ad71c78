/**
 * How much memory a language model in a GGUF file needs at a context size: its weights and its cache of keys and values. The cache has, for
 * every token and layer, one key and one value for each key-value head, in half precision, which is llama.cpp's default. What an engine
 * needs for computing comes on top and is not in the file.
 */
import type { GgufFile } from "../formats/gguf/read-gguf.ts";
import { ggufNumber, ggufText } from "../formats/gguf/gguf-metadata.ts";

export interface MemoryEstimate {
  /** Tokens. */
  readonly context: number;
  readonly weightBytes: number;
  readonly cacheBytes: number;
  readonly totalBytes: number;
  /** How cacheBytes came about, with the numbers of this model. */
  readonly formula: string;
  /** Where the cache may be smaller. */
  readonly note?: string;
}

/** An estimate, or the reason why there is none. */
export type MemoryFinding = { readonly memory: MemoryEstimate } | { readonly memoryUnknown: string };

/** Used where the caller names none; models are often made for far more than is wanted. */
const defaultContext = 4096;
const bytesPerElement = 2;

/** Metadata, after the architecture's name, of models whose state is not only keys and values. */
const unsupportedStates: readonly (readonly [RegExp, string])[] = [
  [/^\.(ssm|wkv|kda|shortconv)\./, "it keeps a recurrent state besides keys and values"],
  [/^\.attention\.kv_lora_rank$/, "it keeps its keys and values compressed (multi-head latent attention)"],
  [/^\.decoder_start_token_id$/, "its decoder also keeps keys and values of what the encoder read"],
];
/** Metadata of models that keep less than the formula says. */
const smallerCaches: readonly (readonly [string, string])[] = [
  ["attention.sliding_window", "layers with a sliding window of tokens can keep less"],
  ["attention.shared_kv_layers", "layers that share keys and values keep less"],
];

export function estimateMemory(file: GgufFile, wanted: number | undefined): MemoryFinding {
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
  if (context === undefined) return { memoryUnknown: `it does not say ${architecture}.context_length; give --context` };
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
      formula: `${countOf(context, "token")} × ${cache.formula} × ${bytesPerElement} bytes (keys and values in half precision)`,
      ...(note === "" ? {} : { note }),
    },
  };
}

function isEncoder({ metadata }: GgufFile, architecture: string): boolean {
  const causal = metadata.get(`${architecture}.attention.causal`);
  return causal?.type === "bool" && causal.value === false;
}

/** Elements one token adds, or the metadata that is missing for telling. */
function cachePerToken(file: GgufFile, architecture: string): { elements: number; formula: string } | { missing: string } {
  const number = (key: string): number | undefined => ggufNumber(file.metadata, `${architecture}.${key}`);
  const layers = number("block_count");
  if (layers === undefined) return { missing: "block_count" };
  const heads = perLayer(file, `${architecture}.attention.head_count`, layers);
  const keyValueHeads = perLayer(file, `${architecture}.attention.head_count_kv`, layers) ?? heads;
  if (keyValueHeads === undefined) return { missing: "attention.head_count" };
  const width = number("embedding_length");
  const most = Math.max(0, ...(heads ?? []));
  const usual = width === undefined || most === 0 ? undefined : width / most;
  const keyLength = number("attention.key_length") ?? usual;
  const valueLength = number("attention.value_length") ?? usual;
  if (keyLength === undefined || valueLength === undefined) return { missing: "attention.key_length" };
  const total = keyValueHeads.reduce((sum, count) => sum + count, 0);
  const [first = 0] = keyValueHeads;
  const same = keyValueHeads.every((count) => count === first);
  const layersWords = countOf(layers, "layer");
  const headsWords = same ? `${layersWords} × ${countOf(first, "head")}` : `${countOf(total, "head")} in ${layersWords}`;
  const elements = total * (keyLength + valueLength);
  if (!Number.isSafeInteger(elements) || elements < 0) return { missing: "attention.key_length in a usable size" };
  return { elements, formula: `${headsWords} × (${keyLength} + ${valueLength})` };
}

function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** More layers than this are no model's; the list of them must stay small. */
const maxLayers = 1024;

/** One number for each layer: the file may state one for all. */
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
