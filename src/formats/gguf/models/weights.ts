/** The tensors of a GGUF model under their names in a safetensors file of the same model, as float32. */
import { required } from "../../../contract/checked.ts";
import { InferyardError } from "../../../contract/errors.ts";
import { requireDecoder } from "../../answers/decoder-answers.ts";
import type { ByteSource } from "../../byte-source.ts";
import { type BlockFormat, blockFormats, decodeTensor, isDecodable } from "../blocks/index.ts";
import { decodeI2S, i2s, i2sBlocks, type I2SLayout, type I2SShape } from "../blocks/i2s.ts";
import { ternaryBlocks, ternaryElementsFor, ternaryFormat } from "../blocks/ternary.ts";
import type { GgufArchitecture } from "./architecture.ts";
import { isBitnetType } from "../ggml-types.ts";
import { ggufArchitecture } from "./architectures.ts";
import type { GgufModel, GgufModelTensor } from "./read-model.ts";
import { GgufSettings } from "./settings.ts";
import { readTableMatrix, type TableMatrices, type TableMatrix } from "./table-weights.ts";

/** A tensor of the model, and the conversion of its elements to the layout of safetensors files. */
export interface GgufWeight {
  readonly tensor: GgufModelTensor;
  /** The outermost dimension first. */
  readonly shape: readonly number[];
  /** The file has the axes of a matrix in the other order than a safetensors file. */
  readonly isTransposed: boolean;
  /** Set if rows are stored in the order of interleaved rotary embeddings: the number of heads that they belong to. */
  readonly interleavedHeads: number | undefined;
  /** Subtracted from every element. */
  readonly offset: number;
  /** Order of the codes of an I2_S tensor. */
  readonly i2sLayout: I2SLayout;
  /** Tiles and scale of a matrix in TL1 or TL2. */
  readonly table: TableMatrix | undefined;
}

/** Layouts of weights that the file of a model does not state. */
export interface WeightLayouts {
  /** Order of the codes of I2_S tensors. Default: "x86". */
  readonly i2sLayout?: I2SLayout | undefined;
  /** Matrices in TL1 and TL2. Default: none. */
  readonly tables?: Pick<TableMatrices, "matrices" | "scales">;
}

/** The bytes of the file that holds a tensor. */
export type SourceOf = (tensor: GgufModelTensor) => ByteSource;

/**
 * The weights of the model by their names in a safetensors file. A tensor without a counterpart keeps its name. Throws MODEL_UNSUPPORTED for an architecture
 * that is not built, and for a type that is not decoded.
 */
export function ggufWeights(
  model: GgufModel,
  { i2sLayout = "x86", tables }: WeightLayouts = {},
): ReadonlyMap<string, GgufWeight> {
  const architecture = ggufArchitecture(model);
  if (architecture === undefined) {
    throw new InferyardError("MODEL_UNSUPPORTED", `the engine does not build the GGUF architecture "${model.architecture}"`, {
      remedy: "run the model on llamacpp",
      data: { architecture: model.architecture },
    });
  }
  const weights = new Map<string, GgufWeight>();
  for (const tensor of model.tensors.values()) {
    if (isRopeFactor(tensor.name) || isPostPooling(tensor.name, architecture)) continue;
    if (tables?.scales.has(tensor.name) === true) continue;
    const table = tables?.matrices.get(tensor.name);
    if (table === undefined) checkType(tensor);
    const name = huggingFaceName(tensor.name, architecture);
    weights.set(name, {
      tensor,
      shape: tensor.shape.toReversed(),
      isTransposed: (architecture.transposed ?? []).some((each) => name.endsWith(`${each}.weight`)),
      interleavedHeads: interleavedHeads(tensor.name, architecture, model),
      offset: architecture.addsOneToNorms === true && tensor.name.endsWith("norm.weight") ? 1 : 0,
      i2sLayout,
      table,
    });
  }
  return weights;
}

/** Refuses types that are not decoded. I8_S is the type of activations in BitNet's fork; no published converter of language models writes weights in it. */
function checkType({ name, type }: GgufModelTensor): void {
  if (type === "I2_S" || isDecodable(type)) return;
  throw new InferyardError("MODEL_UNSUPPORTED", `the tensor "${name}" is of the type ${type}, which the engine does not decode`, {
    remedy: isBitnetType(type) ? "use the model in I2_S" : "use the model in another quantization",
    data: { tensor: name, type },
  });
}

/** Factors of rotary embeddings are part of the configuration. */
function isRopeFactor(name: string): boolean {
  return /^rope_(freqs|factors_(short|long))\.weight$/.test(name);
}

/** Layers after the pooling are modules of their own: `ggufPostPooling`. */
function isPostPooling(name: string, { postPooling = [] }: GgufArchitecture): boolean {
  return postPooling.some((stem) => name === `${stem}.weight` || name === `${stem}.bias`);
}

/** Suffixes of tensors, and what they are called in a safetensors file. "scale": a factor of the weights of BitNet. */
const suffixes: Readonly<Record<string, string>> = { weight: ".weight", bias: ".bias", scale: ".weight_scale" };

function huggingFaceName(name: string, { tensors }: GgufArchitecture): string {
  const [, stem = "", last = ""] = /^(.*)\.(weight|bias|scale)$/.exec(name) ?? [];
  const layer = /^blk\.(\d+)\./.exec(stem)?.[1];
  const pattern = layer === undefined ? stem : stem.replace(`blk.${layer}.`, "blk.*.");
  const found = Object.hasOwn(tensors, pattern) ? tensors[pattern] : undefined;
  return found === undefined ? name : found.replace("*", layer ?? "") + (suffixes[last] ?? "");
}

function interleavedHeads(name: string, { isInterleaved = false }: GgufArchitecture, model: GgufModel): number | undefined {
  const part = /^blk\.\d+\.attn_(q|k)\.(weight|bias)$/.exec(name)?.[1];
  if (!isInterleaved || part === undefined) return undefined;
  const settings = new GgufSettings(model);
  const heads = settings.number("attention.head_count");
  return part === "q" ? heads : (settings.numberIfGiven("attention.head_count_kv") ?? heads);
}

/** Reads the elements of a weight as float32, in the order of the safetensors file but for `isTransposed`. */
export function readGgufWeight(sourceOf: SourceOf, weight: GgufWeight): Float32Array {
  const { interleavedHeads: heads, offset } = weight;
  const values = decoded(sourceOf, weight);
  if (offset !== 0) for (let index = 0; index < values.length; index += 1) values[index] = (values[index] ?? 0) - offset;
  return heads === undefined ? values : deinterleave(values, new Float32Array(values.length), weight.shape, heads);
}

/** The quantized form of a matrix, if kernels can use it: whole rows of blocks, which are not changed when they are read. */
export function ggufBlockFormat({ tensor: { type }, shape, offset, table }: GgufWeight): BlockFormat | undefined {
  if (table !== undefined) {
    const elements = ternaryElementsFor(shape[1] ?? 0);
    return offset !== 0 || elements === undefined ? undefined : ternaryFormat(elements);
  }
  const format = type === "I2_S" ? i2s : blockFormats[type];
  return shape.length === 2 && offset === 0 && (shape[1] ?? 0) % (format?.elements ?? 1) === 0 ? format : undefined;
}

/** Reads a matrix that has a `ggufBlockFormat` as blocks, one row after the other in the order of the safetensors file. */
export function readGgufBlocks(sourceOf: SourceOf, weight: GgufWeight): Uint8Array {
  const { interleavedHeads: heads, shape } = weight;
  const bytes = storedBlocks(sourceOf, weight);
  return heads === undefined ? bytes : deinterleave(bytes, new Uint8Array(bytes.length), shape, heads);
}

/** The blocks of a matrix in the order of the file. */
function storedBlocks(sourceOf: SourceOf, weight: GgufWeight): Uint8Array {
  const { table, tensor, shape } = weight;
  requireDecoder(tensor.type);
  if (table !== undefined) {
    const { codes, scale } = readTableMatrix(sourceOf, table);
    return ternaryBlocks(codes, scale, required(ternaryElementsFor(shape[1] ?? 0), "blocks of a ternary matrix"));
  }
  const stored = storedBytes(sourceOf, tensor);
  return tensor.type === "I2_S" ? i2sBlocks(stored, i2sShape(weight)) : stored;
}

function storedBytes(sourceOf: SourceOf, tensor: GgufModelTensor): Uint8Array {
  const bytes = new Uint8Array(tensor.bytes);
  sourceOf(tensor).read(bytes, tensor.start);
  return bytes;
}

function decoded(sourceOf: SourceOf, weight: GgufWeight): Float32Array {
  const { table, tensor } = weight;
  requireDecoder(tensor.type);
  if (table !== undefined) {
    const { codes, scale } = readTableMatrix(sourceOf, table);
    return Float32Array.from(codes, (code) => code * scale);
  }
  const bytes = storedBytes(sourceOf, tensor);
  return tensor.type === "I2_S" ? decodeI2S(bytes, i2sShape(weight)) : decodeTensor(tensor.type, bytes, tensor.elements);
}

function i2sShape({ tensor: { elements }, shape, i2sLayout: layout }: GgufWeight): I2SShape {
  const columns = shape.at(-1) ?? 1;
  return { rows: elements / columns, columns, layout };
}

/**
 * Rows in the order of rotary embeddings that pair the elements i and i + size / 2 of a head, from rows in the order of those that pair 2 i and 2 i + 1.
 * Also for the elements of a bias, and for rows of blocks. Fills `target`, which has the length of `values`.
 */
function deinterleave<Values extends Float32Array | Uint8Array>(
  values: Values,
  target: Values,
  [rows = 1]: readonly number[],
  heads: number,
): Values {
  const size = values.length / rows;
  for (let row = 0; row < rows; row += 1) {
    const from = interleavedRow(row, rows / heads) * size;
    target.set(values.subarray(from, from + size), row * size);
  }
  return target;
}

/** The row of an interleaved matrix that is row `row` of the other order. `size`: rows of a head. */
export function interleavedRow(row: number, size: number): number {
  const within = row % size;
  return row - within + (within < size / 2 ? 2 * within : 2 * (within - size / 2) + 1);
}
