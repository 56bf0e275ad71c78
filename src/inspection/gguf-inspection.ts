/** Inspects GGUF files. */
import { omitUndefined } from "../contract/checked.ts";
import { type GgufFile, readGguf } from "../formats/gguf/read-gguf.ts";
import { estimateGgufMemory, type MemoryEstimate } from "./gguf-memory.ts";
import { type GgufArray, type GgufScalar, type GgufValue, ggufNumber, ggufText } from "../formats/gguf/gguf-metadata.ts";
import { ggmlFileType } from "../formats/gguf/ggml-types.ts";
import { huggingFaceModel } from "../formats/gguf/models/architectures.ts";
import { type BackendVerdict, countTypes, type InspectedTensor, computeSum, type TypeCount } from "./inspection.ts";

/** The content of a GGUF file without the elements of its tensors. */
export interface GgufInspection {
  readonly format: "gguf";
  /** Path as the user wrote it. */
  readonly path: string;
  /** Bytes of the file. */
  readonly bytes: number;
  /** Version of the format, 1 to 3. */
  readonly version: number;
  readonly byteOrder: GgufFile["byteOrder"];
  /** Tensors begin at multiples of this number of bytes. */
  readonly alignment: number;
  /** `general.architecture`. */
  readonly architecture?: string;
  /** `general.name`. */
  readonly name?: string;
  /** Number of elements of all tensors. */
  readonly parameters: number;
  readonly types: readonly TypeCount[];
  readonly quantization?: Quantization;
  readonly tokenizer?: GgufTokenizerReport;
  /** Number of tokens that the model was trained for. */
  readonly contextLength?: number;
  readonly memory?: MemoryEstimate;
  /** Why `memory` is absent. */
  readonly memoryUnknown?: string;
  /** Set if the model is split into several files. */
  readonly split?: { readonly part: number; readonly of: number };
  /** In the order of the file. Of long strings and arrays only the beginning. */
  readonly metadata: readonly GgufEntry[];
  readonly backends: readonly BackendVerdict[];
  readonly tensors: readonly InspectedTensor[];
}

/** Quantization of the parameters of a GGUF file. */
export interface Quantization {
  /** The type that `general.file_type` states. */
  readonly stated?: string;
  /** The type of most parameters. */
  readonly majority: string;
  /** Average over all parameters. */
  readonly bitsPerParameter: number;
}

/** The tokenizer in a GGUF file. */
export interface GgufTokenizerReport {
  /** "llama" (SentencePiece), "gpt2" (byte-level BPE), "bert" (WordPiece), "t5" (Unigram), ... */
  readonly model: string;
  /** Name of the rule that splits text before tokenization: "llama-bpe", "qwen2", ... */
  readonly pretokenizer?: string;
  /** Number of tokens. */
  readonly vocabulary?: number;
  readonly hasChatTemplate: boolean;
}

/** A key of GGUF metadata with its value, or with the first elements of an array. */
export interface GgufEntry {
  readonly key: string;
  readonly type: string;
  readonly value?: GgufScalar;
  readonly items?: readonly (GgufScalar | GgufArray)[];
  /** Bytes of the whole string, or elements of the whole array. */
  readonly length?: number;
}

/** Elements of an array that are kept. */
const maxShownItems = 8;

/**
 * Inspects the GGUF file at `path`; `displayName` is the path as the user wrote it. `context` is the number of tokens for the memory estimate. `verdicts` is called with the
 * architecture. Throws as `readGguf` does.
 */
export async function inspectGgufFile(
  path: string,
  displayName: string,
  context: number | undefined,
  verdicts: (architecture: string | undefined) => readonly BackendVerdict[],
): Promise<GgufInspection> {
  const file = await readGguf(path, displayName);
  const { metadata, tensors } = file;
  const architecture = ggufText(metadata, "general.architecture");
  const name = ggufText(metadata, "general.name");
  const contextLength = ggufNumber(metadata, `${architecture}.context_length`);
  const quantization = getQuantization(file);
  const tokenizer = getTokenizer(file);
  const parts = ggufNumber(metadata, "split.count") ?? 1;
  return {
    format: "gguf",
    path: displayName,
    bytes: file.bytes,
    version: file.version,
    byteOrder: file.byteOrder,
    alignment: file.alignment,
    ...omitUndefined({ architecture, name }),
    parameters: computeSum(tensors, ({ elements }) => elements),
    types: countTypes(tensors),
    ...omitUndefined({ quantization, tokenizer, contextLength }),
    ...estimateGgufMemory(file, context),
    ...(parts > 1 ? { split: { part: (ggufNumber(metadata, "split.no") ?? 0) + 1, of: parts } } : {}),
    metadata: [...metadata].map(([key, value]) => ({ key, ...getEntry(value) })),
    backends: verdicts((await getClass(file, path)) ?? architecture),
    tensors: tensors.map(({ name: tensor, type, shape, bytes }) => ({ name: tensor, type, shape, bytes })),
  };
}

/** The class in Hugging Face transformers, by which the engine knows a model; undefined if it has none. Inspection does not fail for what the metadata lacks. */
async function getClass({ metadata, tensors, bytes }: GgufFile, path: string): Promise<string | undefined> {
  const architecture = ggufText(metadata, "general.architecture");
  if (architecture === undefined) return undefined;
  const byName = new Map(tensors.map((tensor) => [tensor.name, { ...tensor, path }]));
  const model = { architecture, metadata, tensors: byName, paths: [path], bytes };
  return (await huggingFaceModel(model).catch(() => undefined))?.className;
}

function getQuantization({ metadata, tensors }: GgufFile): Quantization | undefined {
  const parameters = computeSum(tensors, ({ elements }) => elements);
  const [largest] = countTypes(tensors).sort((a, b) => b.parameters - a.parameters);
  if (largest === undefined || parameters === 0) return undefined;
  const stated = ggufNumber(metadata, "general.file_type");
  const bits = (computeSum(tensors, ({ bytes }) => bytes) * 8) / parameters;
  return {
    ...(stated === undefined ? {} : { stated: ggmlFileType(stated, new Set(tensors.map(({ type }) => type))) }),
    majority: largest.type,
    bitsPerParameter: Math.round(bits * 100) / 100,
  };
}

function getTokenizer({ metadata }: GgufFile): GgufTokenizerReport | undefined {
  const model = ggufText(metadata, "tokenizer.ggml.model");
  if (model === undefined) return undefined;
  const pretokenizer = ggufText(metadata, "tokenizer.ggml.pre");
  const tokens = metadata.get("tokenizer.ggml.tokens");
  return {
    model,
    ...omitUndefined({ pretokenizer }),
    ...(tokens?.type === "array" ? { vocabulary: tokens.length } : {}),
    hasChatTemplate: metadata.has("tokenizer.chat_template"),
  };
}

function getEntry(value: GgufValue): Omit<GgufEntry, "key"> {
  if (value.type === "array") {
    return { type: `array of ${value.of}`, items: value.items.slice(0, maxShownItems), length: value.length };
  }
  return { type: value.type, value: value.value, ...(value.type === "string" ? { length: value.bytes } : {}) };
}
