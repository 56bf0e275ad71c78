/** ggml's functions for rows of its types: decoding, quantizing and products, as llama.cpp computes them on this processor. */
import { InferyardError } from "../../contract/errors.ts";
import {
  type AsyncNativeFunction,
  ForeignFunctions,
  type NativeFunction,
  type NativeLibrary,
  type NativeMemory,
} from "../ffi/index.ts";
import { findGgmlFiles } from "./ggml-files.ts";
import { type GgmlTypeEntry, readTypes } from "./ggml-types.ts";
import { MatrixProducts } from "./matrix-products.ts";

/** `void to_float(const void * x, float * y, int64_t k)`, and the same for the other direction. */
const convert = { result: "void", parameters: ["pointer", "pointer", "int64"] } as const;
/** `void vec_dot(int n, float * s, size_t bs, const void * x, size_t bx, const void * y, size_t by, int nrc)`. */
const vecDot = {
  result: "void",
  parameters: ["int32", "pointer", "size", "pointer", "size", "pointer", "size", "int32"],
} as const;

/** Settings of `GgmlLibrary.open`. */
export interface GgmlOptions {
  /** Path of the CPU backend. Default: the one of the folder with the highest `ggml_backend_score`, 0 being one that this processor cannot run. */
  readonly cpu?: string;
  /** Default: koffi, which must be installed. */
  readonly functions?: ForeignFunctions;
}

/** What ggml has for rows of one type. */
export interface GgmlType extends Pick<GgmlTypeEntry, "name" | "number" | "blockElements" | "blockBytes" | "activationType"> {
  readonly canDecode: boolean;
  readonly canQuantize: boolean;
  /** Whether it multiplies rows of this type with rows of `activationType`, in which float32 can be quantized. */
  readonly canMultiply: boolean;
}

/** The product of rows of a type and float32 rows, on memory that stays where it is. */
export interface GgmlProduct {
  /** Bytes of a row of weights, and of a quantized row of activations. */
  readonly rowBytes: number;
  readonly activationBytes: number;
  /** Quantizes a float32 row at an address into `activationBytes` at another. */
  quantize(values: bigint | NativeMemory, target: bigint | NativeMemory): void;
  /** Writes the product of a row of weights and a quantized row as one float32. */
  multiply(weights: bigint | NativeMemory, activations: bigint | NativeMemory, target: bigint | NativeMemory): void;
  /** The same on a thread of koffi's pool. */
  multiplyAsync(weights: bigint | NativeMemory, activations: bigint | NativeMemory, target: bigint | NativeMemory): Promise<void>;
}

/** See `GgmlLibrary.multiplier`. */
export type GgmlMultiply = (
  sizes: { readonly m: number; readonly n: number; readonly k: number },
  activations: Float32Array,
  weights: Uint8Array,
  output: Float32Array,
) => void;

/** Bytes that `ggml_vec_dot` may be given for strides; with one row they are not read. */
const noStride = 0;

/** ggml of one folder. Its functions run on the calling thread. */
export class GgmlLibrary {
  /** Absolute paths of the libraries that were opened. */
  readonly basePath: string;
  readonly cpuPath: string;
  /** The release that the library states, such as "0.9.4"; undefined for those before it stated one. */
  readonly version: string | undefined;
  readonly commit: string | undefined;
  /** By name, such as "IQ2_S". */
  readonly types: ReadonlyMap<string, GgmlType>;
  readonly #functions: ForeignFunctions;
  readonly #base: NativeLibrary;
  readonly #cpu: NativeLibrary;
  readonly #entries: ReadonlyMap<string, GgmlTypeEntry>;
  readonly #prepare: ((type: number) => void) | undefined;
  #products: MatrixProducts | undefined;

  private constructor(functions: ForeignFunctions, base: NativeLibrary, cpu: NativeLibrary) {
    this.#functions = functions;
    this.#base = base;
    this.#cpu = cpu;
    this.basePath = base.path;
    this.cpuPath = cpu.path;
    const text = { result: "string", parameters: [] } as const;
    this.version = base.has("ggml_version") ? base.bind("ggml_version", text)() : undefined;
    this.commit = base.has("ggml_commit") ? base.bind("ggml_commit", text)() : undefined;
    // Tables of float16 values and of codebooks, which ggml makes when they are first needed.
    if (cpu.has("ggml_cpu_init")) cpu.bind("ggml_cpu_init", { result: "void", parameters: [] })();
    this.#prepare = base.has("ggml_quantize_init")
      ? base.bind("ggml_quantize_init", { result: "void", parameters: ["int32"] })
      : undefined;
    this.#entries = readTypes(functions, base, cpu);
    this.types = new Map([...this.#entries].map(([name, entry]) => [name, this.#describe(entry)]));
  }

  /**
   * Opens ggml in a folder. Its constructors run in this process. Throws BACKEND_UNAVAILABLE without koffi, LOAD_FAILED if a file cannot be loaded, and
   * LIBRARY_INCOMPATIBLE if the folder has no ggml, none of its CPU backends runs on this processor, or its layout is not known.
   */
  static async open(folder: string, options: GgmlOptions = {}): Promise<GgmlLibrary> {
    const files = await findGgmlFiles(folder);
    const functions = options.functions ?? (await ForeignFunctions.load());
    const base = functions.open(files.base);
    keepLoaded(base);
    try {
      const cpu = options.cpu === undefined ? fastest(functions, files.cpu, folder) : functions.open(options.cpu);
      try {
        return new GgmlLibrary(functions, base, cpu);
      } catch (error) {
        cpu.close();
        throw error;
      }
    } catch (error) {
      base.close();
      throw error;
    }
  }

  /** The elements of whole blocks as float32. Throws INPUT_INVALID if the bytes are no whole blocks or the type has no decoder. */
  toFloat(type: string, bytes: Uint8Array): Float32Array {
    const entry = this.#entry(type);
    const elements = (bytes.length / entry.blockBytes) * entry.blockElements;
    if (!Number.isInteger(elements))
      throw invalid(`${bytes.length} bytes are no whole blocks of ${type}, which take ${entry.blockBytes}`);
    if (type === "F32") return new Float32Array(bytes.slice().buffer);
    const values = new Float32Array(elements);
    if (elements > 0) this.#convert(entry.toFloat, type, "decoder")(bytes, values, elements);
    return values;
  }

  /**
   * Float32 values as whole blocks. "reference": by the portable function (`from_float_ref`), else by that of this processor. Throws INPUT_INVALID if the
   * values are no whole blocks or the type cannot be written.
   */
  fromFloat(type: string, values: Float32Array, by: "reference" | "processor" = "reference"): Uint8Array {
    const entry = this.#entry(type);
    const bytes = (values.length / entry.blockElements) * entry.blockBytes;
    if (!Number.isInteger(bytes))
      throw invalid(`${values.length} elements are no whole blocks of ${type}, which have ${entry.blockElements}`);
    const target = new Uint8Array(bytes);
    const convertTo = this.#convert(by === "reference" ? entry.fromFloatReference : entry.fromFloat, type, "quantizer");
    this.#prepare?.(entry.number);
    if (bytes > 0) convertTo(values, target, values.length);
    return target;
  }

  /** Products of rows with `columns` elements. Throws INPUT_INVALID if those are no whole blocks, or the type is not multiplied. */
  product(type: string, columns: number): GgmlProduct {
    const entry = this.#entry(type);
    const activations = this.#entry(entry.activationType);
    if (!Number.isSafeInteger(columns) || columns < 1 || columns > 2 ** 31 - 1) throw invalid(`${columns} columns`);
    if (columns % entry.blockElements !== 0 || columns % activations.blockElements !== 0)
      throw invalid(`rows of ${columns} are no whole blocks of ${type} and ${activations.name}`);
    if (entry.vecDot === 0n) throw invalid(`ggml does not multiply rows of ${type}`);
    const dot: NativeFunction<typeof vecDot> = this.#functions.functionAt(entry.vecDot, vecDot);
    const dotAsync: AsyncNativeFunction<typeof vecDot> = this.#functions.asyncFunctionAt(entry.vecDot, vecDot);
    const isPlain = activations.name === "F32";
    const quantize = isPlain ? undefined : this.#convert(activations.fromFloat, activations.name, "quantizer");
    const activationBytes = (columns / activations.blockElements) * activations.blockBytes;
    return {
      rowBytes: (columns / entry.blockElements) * entry.blockBytes,
      activationBytes,
      quantize: (values, target) => {
        if (quantize !== undefined) quantize(values, target, columns);
        else this.#getBytes(target, activationBytes).set(this.#getBytes(values, activationBytes));
      },
      multiply: (weights, row, target) => dot(columns, target, noStride, weights, noStride, row, noStride, 1),
      multiplyAsync: async (weights, row, target) => dotAsync(columns, target, noStride, weights, noStride, row, noStride, 1),
    };
  }

  /**
   * A function that multiplies [m, k] float32 with the transpose of weights [n, k] of a type into [m, n], on memory that stays where it is: of JavaScript or of
   * WebAssembly, shared or not. ggml's CPU backend computes it with one thread; sizes are the caller's to keep. Throws INPUT_INVALID if the type is not multiplied, or k is not whole blocks.
   */
  multiplier(type: string): GgmlMultiply {
    const { number } = this.#entry(type);
    this.#products ??= MatrixProducts.create(this.#base, this.#cpu);
    const products = this.#products;
    if (products === undefined) throw invalid(`${this.cpuPath} has no backend that multiplies matrices`);
    const rowBytes = new Map<number, number>();
    return ({ m, n, k }, activations, weights, output) => {
      const known = rowBytes.get(k) ?? this.product(type, k).rowBytes;
      rowBytes.set(k, known);
      const address = this.#functions.getAddress(weights);
      const stored = { type: number, rows: n, columns: k, address, bytes: n * known };
      products.multiply(stored, this.#functions.getAddress(activations), m, this.#functions.getAddress(output));
    };
  }

  /** The products of all rows of a matrix [rows, columns] and a float32 vector [columns]. Throws INPUT_INVALID for sizes that do not agree. */
  multiply(type: string, weights: Uint8Array, vector: Float32Array): Float32Array {
    const { rowBytes } = this.product(type, vector.length);
    const rows = weights.length / rowBytes;
    if (!Number.isInteger(rows)) throw invalid(`${weights.length} bytes are no whole rows of ${rowBytes}`);
    const result = new Float32Array(rows);
    this.multiplier(type)({ m: 1, n: rows, k: vector.length }, vector, weights, result);
    return result;
  }

  /** Gives the libraries back. Functions of it must not be called any more. */
  close(): void {
    this.#products?.close();
    this.#cpu.close();
    this.#base.close();
  }

  #describe(entry: GgmlTypeEntry): GgmlType {
    const { name, number, blockElements, blockBytes, activationType } = entry;
    const activations = this.#entries.get(activationType);
    const canMultiply = entry.vecDot !== 0n && (activationType === "F32" || (activations?.fromFloat ?? 0n) !== 0n);
    return {
      name,
      number,
      blockElements,
      blockBytes,
      activationType,
      canDecode: name === "F32" || entry.toFloat !== 0n,
      canQuantize: entry.fromFloatReference !== 0n,
      canMultiply,
    };
  }

  #entry(type: string): GgmlTypeEntry {
    const found = this.#entries.get(type);
    if (found !== undefined) return found;
    throw invalid(`${this.basePath} has no type ${type}`);
  }

  #convert(at: bigint, type: string, what: string): NativeFunction<typeof convert> {
    if (at === 0n) throw invalid(`ggml has no ${what} for ${type}`);
    return this.#functions.functionAt(at, convert);
  }

  #getBytes(memory: bigint | NativeMemory, bytes: number): Uint8Array {
    if (typeof memory === "bigint") return new Uint8Array(this.#functions.memoryAt(memory, bytes));
    return ArrayBuffer.isView(memory)
      ? new Uint8Array(memory.buffer, memory.byteOffset, bytes)
      : new Uint8Array(memory, 0, bytes);
  }
}

/** RTLD_NOW with RTLD_NODELETE. */
const keepFlags: Partial<Readonly<Record<NodeJS.Platform, number>>> = { linux: 0x1002, darwin: 0x82 };

/**
 * Keeps the base library in the process after it was given back, also by the garbage collector: its constructor sets the handler of uncaught exceptions, and ends
 * the process if it finds its own one there when the library is loaded again.
 */
function keepLoaded(base: NativeLibrary): void {
  const flags = keepFlags[process.platform];
  if (flags === undefined || !base.has("dlopen")) return;
  base.bind("dlopen", { result: "pointer", parameters: ["string", "int32"] })(base.path, flags);
}

/** The CPU backend with the highest score; the others are given back. */
function fastest(functions: ForeignFunctions, paths: readonly string[], folder: string): NativeLibrary {
  let best: { readonly library: NativeLibrary; readonly score: number } | undefined;
  for (const path of paths) {
    const library = functions.open(path);
    const score = library.has("ggml_backend_score")
      ? library.bind("ggml_backend_score", { result: "int32", parameters: [] })()
      : unscored;
    if (score <= (best?.score ?? 0)) {
      library.close();
      continue;
    }
    best?.library.close();
    best = { library, score };
  }
  if (best !== undefined) return best.library;
  throw new InferyardError("LIBRARY_INCOMPATIBLE", `no CPU backend of ggml in ${folder} runs on this processor`, {
    remedy: "use a build of llama.cpp for this processor",
    data: { folder, tried: paths },
  });
}

/** Score of a backend that is built for the machine that it is built on, and has no function for it. */
const unscored = 1;

function invalid(message: string): InferyardError {
  return new InferyardError("INPUT_INVALID", message, { remedy: "see the types of the library" });
}
