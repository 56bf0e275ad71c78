/**
 * The weights of a transformer, looked up by their PyTorch names and checked against the shapes that config.json implies. All become float32; matrices
 * of linear layers, stored `[out, in]`, become `[in, out]`. Both conversions happen once per model, so that all its executables share the result.
 * Elements are read after the model was accepted, and those of large tensors when they are packed.
 */
import { InferyardError } from "../../contract/errors.ts";
import { type TensorData, elementCount } from "../../contract/tensor.ts";
import type { ParameterSource } from "../build/nn/parameter-source.ts";
import { sameShape } from "../ir/tensor-type.ts";
import { LazyStorage, transposeMatrix } from "../ir/lazy-storage.ts";
import { minLazyElements, type Literal, literalWithStorage } from "../ir/literal.ts";
import { decodeFloats } from "../../contract/small-floats.ts";
import { requirePacking } from "../../formats/answers/encoder-answers.ts";
import { type BlockFormat, decodeBlocks } from "../../formats/gguf/blocks/block-format.ts";
import { type PackedType, getPacking, packValues } from "../../formats/scaled-blocks/encode.ts";

/** A tensor as declared in the header of a file of weights. */
export interface StoredTensor {
  /** The data type that its reader returns, in safetensors' notation. F32, F16 and BF16 are supported. */
  readonly type: string;
  readonly shape: readonly number[];
  /** Set for a matrix whose axes are swapped, compared with a safetensors file of the model. */
  readonly isTransposed?: boolean;
  /** Quantization of its elements, for a matrix whose reader can also return the quantized form. */
  readonly blocks?: { readonly type: string; readonly format: BlockFormat };
}

/** A weight that the architecture declared and whose elements have not been read from the file. */
export interface PendingWeight {
  /** Name of the tensor in the file. */
  readonly name: string;
  /**
   * Sets how the elements are read. `read` returns them as stored: Float32Array, or Uint16Array with the bits of 16-bit floats. It must work until
   * `Weights.detachFromFile` was called, and may be called more than once. `readBlocks` returns a quantized matrix as it is stored: `QuantizedBlocks.read`.
   */
  setReader(read: () => TensorData, readBlocks?: () => Uint8Array): void;
}

/** Whether a matrix keeps its stored axes or swaps them. */
type WeightLayout = "as stored" | "transposed";

/** What a weight is used as. Matrices of linear layers and tables of embeddings can be packed. `inputs`: the axis of the shape that lies along the blocks. */
type Packable = { readonly inputs: 0 | 1 } | undefined;

/** The two literals of a quantized matrix that is stored [rows, columns]. */
interface QuantizedLiterals {
  /** [columns, rows]: the matrix of a linear layer. */
  readonly matrix: Literal;
  /** [rows, columns]. */
  readonly table: Literal;
}

/** Which weights were packed. */
export interface PackedWeightNames {
  readonly type: PackedType;
  readonly packed: ReadonlySet<string>;
  /** Weights that keep their precision, because the length of their rows is not a multiple of the block size. */
  readonly unfit: ReadonlySet<string>;
}

/** The tensors of one weights file as parameters of an architecture. Elements are read later, through `PendingWeight`. */
export class Weights implements ParameterSource {
  readonly #stored: ReadonlyMap<string, StoredTensor>;
  readonly #prefixes: string[];
  /** Prefixes of the tensors that the architecture has read. */
  readonly #used = new Set<string>();
  readonly #byLayout = new Map<string, Literal>();
  readonly #literals: Literal[] = [];
  readonly #pending = new Map<string, Supply[]>();
  readonly #packTo: PackedType | undefined;
  readonly #packed = new Set<string>();
  readonly #unfit = new Set<string>();

  /**
   * `stored` are the tensors of the file by name; `prefixes` are optional prefixes of these names: `Architecture.prefixes`. `packTo`: what the matrices of linear
   * layers and the tables of tokens are quantized to when they are read. Default: nothing.
   */
  constructor(stored: ReadonlyMap<string, StoredTensor>, prefixes: readonly string[], packTo?: PackedType) {
    this.#stored = stored;
    this.#prefixes = ["", ...prefixes];
    this.#packTo = packTo;
  }

  /** Which weights are packed; undefined if no packing was requested. */
  get packing(): PackedWeightNames | undefined {
    return this.#packTo === undefined ? undefined : { type: this.#packTo, packed: this.#packed, unfit: this.#unfit };
  }

  /** Whether the file has a tensor of this name, with or without a prefix. */
  has(name: string): boolean {
    return this.#find(name) !== undefined;
  }

  /** Size of the first axis of a tensor; 0 for a scalar. MODEL_INVALID if the file has no such tensor. */
  rows(name: string): number {
    return this.#stored.get(this.#nameInFile(name))?.shape[0] ?? 0;
  }

  /** A tensor with its stored axes. MODEL_INVALID if it is missing or its shape differs, MODEL_UNSUPPORTED if its type is not F32, F16 or BF16. */
  tensor(name: string, ...shape: readonly number[]): Literal {
    return this.#literal(name, shape, "as stored");
  }

  /** A matrix that is stored `[outFeatures, inFeatures]`, as `[inFeatures, outFeatures]`. Throws as `tensor` does. */
  matrix(name: string, inFeatures: number, outFeatures: number): Literal {
    return this.#literal(name, [outFeatures, inFeatures], "transposed", { inputs: 1 });
  }

  /** A matrix that is stored `[inFeatures, outFeatures]`. Throws as `tensor` does. */
  transposedMatrix(name: string, inFeatures: number, outFeatures: number): Literal {
    return this.#literal(name, [inFeatures, outFeatures], "as stored", { inputs: 0 });
  }

  /** An embedding table `[rows, width]`. Throws as `tensor` does. */
  table(name: string, rows: number, width: number): Literal {
    return this.#literal(name, [rows, width], "as stored", { inputs: 1 });
  }

  /** All weights that the architecture has read. */
  get literals(): readonly Literal[] {
    return this.#literals;
  }

  /** The tensors that the architecture reads, one entry per name in the file. */
  get pending(): readonly PendingWeight[] {
    return [...this.#pending].map(([name, supplies]) => ({
      name,
      setReader: (read, readBlocks) => {
        const floats = (): Float32Array => widened(read(), this.#stored.get(name)?.type ?? "");
        for (const supply of supplies) supply(floats, readBlocks);
      },
    }));
  }

  /** Reads into memory all weights that were not packed yet; the file may be closed afterwards. */
  detachFromFile(): void {
    for (const { storage } of this.#literals) storage?.loadFromFile();
  }

  /** Names of the tensors in the file that the architecture does not read. */
  get unusedNames(): readonly string[] {
    return [...this.#stored.keys()].filter((name) => !this.#pending.has(name));
  }

  /**
   * Whether a tensor of the file belongs to a head: in the file of a model with a head, tensors of the base model have a prefix, and this one does not have it.
   */
  isOfHead(name: string): boolean {
    const [prefix = "", ...others] = this.#used;
    return others.length === 0 && prefix !== "" && !name.startsWith(prefix);
  }

  #literal(name: string, shape: readonly number[], arrangement: WeightLayout, packable?: Packable): Literal {
    const found = this.#nameInFile(name);
    const stored = this.#stored.get(found);
    const isTransposed = stored?.isTransposed === true;
    const known = this.#byLayout.get(`${arrangement}:${found}`);
    if (stored === undefined || !sameShape(stored.shape, isTransposed ? shape.toReversed() : shape)) {
      const has = (isTransposed ? stored?.shape.toReversed() : stored?.shape)?.join(", ") ?? "";
      throw new InferyardError(
        "MODEL_INVALID",
        `the tensor "${found}" has the shape [${has}], and config.json requires [${shape.join(", ")}]`,
        {
          remedy: "use the config.json that belongs to these weights",
          data: { tensor: found },
        },
      );
    }
    if (!["F32", "F16", "BF16"].includes(stored.type)) {
      throw new InferyardError(
        "MODEL_UNSUPPORTED",
        `the tensor "${found}" is ${stored.type}, and the engine supports F32, F16 and BF16`,
        {
          data: { tensor: found },
        },
      );
    }
    if (known !== undefined) return known;
    if (stored.blocks !== undefined && shape.length === 2) {
      const { matrix, table } = this.#quantized(found, stored, stored.blocks);
      return (arrangement === "transposed") === isTransposed ? table : matrix;
    }
    const packed = packable === undefined ? undefined : this.#packedLiterals(found, stored, packable);
    if (packed !== undefined) return arrangement === "transposed" || packable?.inputs === 0 ? packed.matrix : packed.table;
    const [rows = 1, columns = 1] = stored.shape;
    const isArranged = (arrangement === "transposed") === isTransposed;
    const arranged = (floats: Float32Array): Float32Array => (isArranged ? floats : transposed(floats, found, rows, columns));
    const { literal, supply } = pendingLiteral(arrangement === "transposed" ? shape.toReversed() : shape, found, arranged);
    this.#pending.set(found, [...(this.#pending.get(found) ?? []), supply]);
    this.#byLayout.set(`${arrangement}:${found}`, literal);
    this.#literals.push(literal);
    return literal;
  }

  /** The literals of a matrix that is quantized when it is read; undefined if it keeps its precision. */
  #packedLiterals(name: string, stored: StoredTensor, { inputs }: NonNullable<Packable>): QuantizedLiterals | undefined {
    if (this.#packTo === undefined) return undefined;
    const type = this.#packTo;
    const { name: typeName, format } = getPacking(type);
    const [first = 1, second = 1] = stored.shape;
    const [rows, columns] = inputs === 1 ? [first, second] : [second, first];
    if (columns % format.elements !== 0) {
      this.#unfit.add(name);
      return undefined;
    }
    requirePacking(type);
    this.#packed.add(name);
    const isSwapped = inputs === 0;
    const values = (floats: Float32Array): Float32Array => (isSwapped ? transposed(floats, name, first, second) : floats);
    return this.#quantized(
      name,
      { ...stored, shape: [rows, columns], isTransposed: isSwapped },
      { type: typeName, format },
      (read) => {
        const blocks = (): Uint8Array => packValues(type, values(read()));
        const rounded = (): Float32Array => {
          const target = allocated(rows * columns, name);
          decodeBlocks(format, blocks(), target);
          return target;
        };
        return [rounded, blocks];
      },
    );
  }

  /** The two literals of a quantized matrix that is stored [rows, columns]. `pack`: makes readers of blocks from one of floats. */
  #quantized(
    name: string,
    { shape: [rows = 1, columns = 1], isTransposed = false }: StoredTensor,
    { type, format }: NonNullable<StoredTensor["blocks"]>,
    pack?: (read: () => Float32Array) => readonly [read: () => Float32Array, readBlocks: () => Uint8Array],
  ): QuantizedLiterals {
    let [floats, stored]: [(() => Float32Array) | undefined, (() => Uint8Array) | undefined] = [undefined, undefined];
    const blocks = { type, format, rows, columns };
    const matrix = literalWithStorage(
      new LazyStorage(
        undefined,
        { materialize: () => transposed(given(floats, name)(), name, rows, columns), inFile: true },
        { ...blocks, read: () => given(stored, name)() },
      ),
      "float32",
      [columns, rows],
    );
    const table = literalWithStorage(
      new LazyStorage(
        undefined,
        { materialize: () => transposed(matrix.data as Float32Array, name, columns, rows) },
        { ...blocks, transposed: matrix, read: () => given(stored, name)() },
      ),
      "float32",
      [rows, columns],
    );
    const supply: Supply = (read, readBlocks) => ([floats, stored] = pack?.(read) ?? [read, readBlocks]);
    this.#pending.set(name, [...(this.#pending.get(name) ?? []), supply]);
    this.#byLayout.set(`${isTransposed ? "transposed" : "as stored"}:${name}`, table);
    this.#byLayout.set(`${isTransposed ? "as stored" : "transposed"}:${name}`, matrix);
    this.#literals.push(matrix, table);
    return { matrix, table };
  }

  #nameInFile(name: string): string {
    const found = this.#find(name) ?? this.#findUnderOtherPrefix(name);
    if (found !== undefined) {
      this.#used.add(this.#prefixes.find((prefix) => prefix !== "" && found.startsWith(prefix)) ?? "");
      return found;
    }
    throw new InferyardError("MODEL_INVALID", `the file has no tensor "${name}"`, {
      remedy: "download the weights again, with the config.json that belongs to them",
      data: { tensor: name },
    });
  }

  /** The first tensor of a model whose tensor names have another prefix than its family uses, as written by a program that wraps the model. The prefix is replaced by the family's. */
  #findUnderOtherPrefix(name: string): string | undefined {
    if (this.#used.size > 0) return undefined;
    const [found, ...others] = [...this.#stored.keys()].filter((each) => each.endsWith(`.${name}`));
    if (found === undefined || others.length > 0) return undefined;
    this.#prefixes.push(found.slice(0, -name.length));
    return found;
  }

  /** The full name in the file. Early BERT checkpoints call the weight and bias of a layer norm gamma and beta. */
  #find(name: string): string | undefined {
    const old = name.replace(/LayerNorm\.weight$/, "LayerNorm.gamma").replace(/LayerNorm\.bias$/, "LayerNorm.beta");
    return this.#prefixes.flatMap((prefix) => [prefix + name, prefix + old]).find((each) => this.#stored.has(each));
  }
}

/** Sets how the elements of a weight are read, and its blocks if it is quantized. */
type Supply = (read: () => Float32Array, readBlocks: (() => Uint8Array) | undefined) => void;

/** The reader of a weight. Throws CONTRACT_VIOLATION before it is set. */
function given<Result>(read: (() => Result) | undefined, name: string): () => Result {
  if (read !== undefined) return read;
  throw new InferyardError("CONTRACT_VIOLATION", `the tensor "${name}" is used before it has a reader`);
}

/** A literal whose elements are read by the function that `supply` is given: at once for a small tensor, on demand for a large one. */
function pendingLiteral(
  shape: readonly number[],
  name: string,
  arranged: (floats: Float32Array) => Float32Array,
): { readonly literal: Literal; supply(read: () => Float32Array): void } {
  const dataType = "float32";
  if (elementCount(shape) < minLazyElements) {
    const data = allocated(elementCount(shape), name);
    return { literal: { dataType, shape, data }, supply: (read) => data.set(arranged(read())) };
  }
  let elements: (() => Float32Array) | undefined;
  const materialize = (): Float32Array => given(elements, name)();
  const held = new LazyStorage(undefined, { materialize, inFile: true });
  return { literal: literalWithStorage(held, dataType, shape), supply: (read) => (elements = () => arranged(read())) };
}

function allocated(count: number, name: string): Float32Array {
  try {
    return new Float32Array(count);
  } catch (cause) {
    throw new InferyardError("OUT_OF_MEMORY", `cannot allocate ${4 * count} bytes for the tensor "${name}"`, { cause });
  }
}

/** The elements as float32. */
function widened(data: TensorData, type: string): Float32Array {
  if (data instanceof Float32Array) return data;
  if (!(data instanceof Uint16Array))
    throw new InferyardError("CONTRACT_VIOLATION", `the reader of a tensor of type ${type} returned ${data.constructor.name}`);
  return decodeFloats(type === "BF16" ? "bfloat16" : "float16", data);
}

/** The transpose of a matrix [rows, columns] of the tensor `name`. */
function transposed(matrix: Float32Array, name: string, rows: number, columns: number): Float32Array {
  const target = allocated(matrix.length, name);
  transposeMatrix(matrix, target, rows, columns);
  return target;
}
