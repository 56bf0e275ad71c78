/**
 * Storage for the elements of a large constant. The elements may be in memory, in a file, or neither: then they are read, unpacked or computed
 * again on access. Literals that share elements share one storage object, so its identity tells whether two literals are the same data.
 */
import { type BlockFormat, decodeBlocks } from "../../formats/gguf/blocks/block-format.ts";
import type { TensorData } from "../../contract/tensor.ts";
import type { ElementType } from "./element-types.ts";

/** A constant tensor, contiguous and row-major. */
export interface Literal {
  readonly dataType: ElementType;
  readonly shape: readonly number[];
  /** The elements. With lazy storage each access may materialize them again, so read this once and keep the result. */
  readonly data: TensorData;
  /** Storage of a large literal, whose elements can be released from memory; undefined for small ones. */
  readonly storage?: LazyStorage;
}

/** Where a lazy storage gets its elements from. */
export interface ElementSource {
  /** Returns the elements in a new array. Every call returns equal elements. */
  materialize(): TensorData;
  /** Writes the bytes of the elements to `target` without an array in between. Default: not possible. */
  copyTo?(target: Uint8Array): void;
  /** The source reads a file that will be closed; `LazyStorage.loadFromFile` must run before that. */
  readonly inFile?: true;
}

/** The quantized form of a matrix, which kernels multiply without widening it. It decodes to the values of the literal. */
export interface QuantizedBlocks {
  readonly format: BlockFormat;
  /** Name of the format. */
  readonly type: string;
  /** Rows and columns as stored. Blocks run along the rows. */
  readonly rows: number;
  readonly columns: number;
  /** Set for a literal [rows, columns]: the literal [columns, rows] of the same matrix. Absent for that literal. */
  readonly transposed?: Literal;
  /** Returns the blocks, one row after the other. Only for the literal [columns, rows], and not after its release. */
  read(): Uint8Array;
}

/** The elements of one large constant, and the results of analyses of it. */
export class LazyStorage {
  /** The elements while they are resident. */
  #data: TensorData | undefined;
  /** The array of the last access, until the garbage collector takes it: repeated accesses do not materialize again. */
  #cached: WeakRef<TensorData & object> | undefined;
  #source: ElementSource | undefined;
  #blocks: QuantizedBlocks | undefined;
  /** Bytes of blocks that were read from their file and are not packed yet. */
  #blockBytes = 0;
  readonly #analyses = new Map<string, unknown>();

  /**
   * `data`: the elements, if they are in memory. `source`: where they come from once they were released, or if they never were in memory. `blocks`: their quantized
   * form, if they have one.
   */
  constructor(data: TensorData | undefined, source: ElementSource | undefined, blocks?: QuantizedBlocks) {
    this.#data = data;
    this.#source = source;
    this.#blocks = blocks;
  }

  /** The quantized form of the elements; undefined if they have none. */
  get blocks(): QuantizedBlocks | undefined {
    return this.#blocks;
  }

  /** Bytes that this object keeps in memory; 0 once released. */
  get residentBytes(): number {
    return ((this.#data as Uint8Array | undefined)?.byteLength ?? 0) + this.#blockBytes;
  }

  /** The elements. Equal on every access, but perhaps in another array: read it once and keep the result. */
  get data(): TensorData {
    const known = this.#data ?? this.#cached?.deref();
    if (known !== undefined) return known;
    if (this.#source === undefined) throw new Error("a lazy storage has neither elements nor a source of them");
    const elements = this.#source.materialize();
    this.#cached = new WeakRef(elements);
    return elements;
  }

  /** Writes the bytes of the elements to `target` without an array in between; does nothing unless `canCopy`. */
  copyTo(target: Uint8Array): void {
    this.#source?.copyTo?.(target);
  }

  /** Frees the elements, if there is a source to get them from again: `source`, or the one given before. */
  release(source: ElementSource | undefined = this.#source): void {
    if (source === undefined) return;
    this.#source = source;
    this.#data = undefined;
    if (this.#blocks === undefined) return;
    this.#blocks = { ...this.#blocks, read: released };
    this.#blockBytes = 0;
  }

  /** Whether `copyTo` works: the elements are not resident, and the source can write them. */
  get canCopy(): boolean {
    return this.#data === undefined && this.#source?.copyTo !== undefined;
  }

  /** Whether the elements exist in memory or in a file, as opposed to being computed again on access. */
  get isStored(): boolean {
    return this.#data !== undefined || this.#source?.inFile === true;
  }

  /** Reads elements that are in a file into memory, quantized ones as they are, so that the file can be closed. Does nothing for other storage. */
  loadFromFile(): void {
    if (this.#source?.inFile !== true) return;
    if (this.#blocks !== undefined) {
      const bytes = this.#blocks.read();
      const { format, rows, columns } = this.#blocks;
      this.#blocks = { ...this.#blocks, read: () => bytes };
      this.#blockBytes = bytes.byteLength;
      this.#source = { materialize: () => transposedValues(format, bytes, rows, columns) };
      return;
    }
    this.#data = this.data;
    this.#source = undefined;
  }

  /** Results of all analyses, by name. */
  get analyses(): ReadonlyMap<string, unknown> {
    return this.#analyses;
  }

  /** Adds results that another replica of the model has computed for equal elements. */
  addAnalyses(results: ReadonlyMap<string, unknown>): void {
    for (const [name, value] of results) this.#analyses.set(name, value);
  }

  /**
   * The result of an analysis of the elements, such as their range. `compute` runs once; the result outlives the elements. It must be plain data,
   * since it is sent to other threads.
   */
  analysis<T>(name: string, compute: () => T): T {
    if (!this.#analyses.has(name)) this.#analyses.set(name, compute());
    return this.#analyses.get(name) as T;
  }
}

function released(): never {
  throw new Error("the blocks of a constant were released");
}

/** Writes the transpose of a matrix [rows, columns], in 32 x 32 blocks, which fit the CPU cache. */
export function transposeMatrix(from: ArrayLike<number>, to: Float32Array, rows: number, columns: number): void {
  const side = 32;
  for (let top = 0; top < rows; top += side) {
    for (let left = 0; left < columns; left += side) {
      const [bottom, right] = [Math.min(rows, top + side), Math.min(columns, left + side)];
      for (let column = left; column < right; column += 1)
        for (let row = top; row < bottom; row += 1) to[column * rows + row] = from[row * columns + column] ?? 0;
    }
  }
}

/** The values of blocks as [columns, rows]. */
export function transposedValues(format: BlockFormat, bytes: Uint8Array, rows: number, columns: number): Float32Array {
  const values = new Float32Array(rows * columns);
  decodeBlocks(format, bytes, values);
  const transposed = new Float32Array(values.length);
  transposeMatrix(values, transposed, rows, columns);
  return transposed;
}
