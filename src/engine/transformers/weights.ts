/**
 * The tensors of a transformer, found by the names PyTorch gives them and checked against the shapes the configuration asks for. All become
 * float32, and matrices of linear layers, which are stored [out, in], become [in, out]: once, when the model is loaded, so that all programs share
 * them. Their elements come later: a model is refused before they are read, and those of large ones are read when somebody wants them.
 */
import { InferyardError } from "../../errors.ts";
import type { TensorData } from "../../tensor.ts";
import { elementCount } from "../../tensor.ts";
import { sameShape } from "../ir/graph.ts";
import { LazyStorage } from "../ir/lazy-storage.ts";
import { minLazyElements, type Literal, literalWithStorage } from "../ir/literal.ts";
import { decodeFloat } from "../../formats/floats/small-floats.ts";

/** A tensor as the header of its file states it. */
export interface StoredTensor {
  /** As safetensors calls it: F32, F16, BF16 are read. */
  readonly type: string;
  readonly shape: readonly number[];
}

/** A tensor whose elements are still to be read. */
export interface PendingWeight {
  /** In the file. */
  readonly name: string;
  /** `read` gives its elements as they are stored, Float32Array or the bits of 16-bit floats. It must do so until `keep` was called. */
  setReader(read: () => TensorData): void;
}

type WeightLayout = "as stored" | "transposed";

export class Weights {
  readonly #stored: ReadonlyMap<string, StoredTensor>;
  readonly #prefixes: readonly string[];
  readonly #byLayout = new Map<string, Literal>();
  readonly #literals: Literal[] = [];
  readonly #pending = new Map<string, ((read: () => Float32Array) => void)[]>();

  /** `prefixes`: what may stand before a name, as "bert." does where a head was trained on top. */
  constructor(stored: ReadonlyMap<string, StoredTensor>, prefixes: readonly string[]) {
    this.#stored = stored;
    this.#prefixes = ["", ...prefixes];
  }

  has(name: string): boolean {
    return this.#find(name) !== undefined;
  }

  /** The size of the first axis. MODEL_INVALID where there is no such tensor. */
  rows(name: string): number {
    return this.#stored.get(this.#nameInFile(name))?.shape[0] ?? 0;
  }

  /** A tensor as it is stored. MODEL_INVALID where it is missing or of another shape, MODEL_UNSUPPORTED where it is of another type. */
  tensor(name: string, ...shape: readonly number[]): Literal {
    return this.#literal(name, shape, "as stored");
  }

  /** A matrix that is stored [to, from], as [from, to]. */
  matrix(name: string, from: number, to: number): Literal {
    return this.#literal(name, [to, from], "transposed");
  }

  /** A constant of the model that is in no file. */
  addConstant(literal: Literal): Literal {
    this.#literals.push(literal);
    return literal;
  }

  get literals(): readonly Literal[] {
    return this.#literals;
  }

  get pending(): readonly PendingWeight[] {
    const tables = new Map<string, Float32Array>();
    return [...this.#pending].map(([name, supplies]) => ({
      name,
      setReader: (read) => {
        const floats = (): Float32Array => widened(read(), this.#stored.get(name)?.type ?? "", tables);
        for (const supply of supplies) supply(floats);
      },
    }));
  }

  /** Brings into memory what is still in the file and was not packed. */
  detachFromFile(): void {
    for (const { storage } of this.#literals) storage?.loadFromFile();
  }

  /** Names in the file that nothing asked for. */
  get unusedNames(): readonly string[] {
    return [...this.#stored.keys()].filter((name) => !this.#pending.has(name));
  }

  #literal(name: string, shape: readonly number[], arrangement: WeightLayout): Literal {
    const found = this.#nameInFile(name);
    const known = this.#byLayout.get(`${arrangement}:${found}`);
    const stored = this.#stored.get(found);
    if (stored === undefined || !sameShape(stored.shape, shape)) {
      const has = stored?.shape.join(", ") ?? "";
      throw new InferyardError(
        "MODEL_INVALID",
        `the tensor "${found}" is [${has}], and config.json asks for [${shape.join(", ")}]`,
        {
          remedy: "use the config.json that belongs to these weights",
          data: { tensor: found },
        },
      );
    }
    if (!["F32", "F16", "BF16"].includes(stored.type)) {
      throw new InferyardError("MODEL_UNSUPPORTED", `the tensor "${found}" is ${stored.type}, and F32, F16 and BF16 are built`, {
        data: { tensor: found },
      });
    }
    if (known !== undefined) return known;
    const [rows = 1, columns = 1] = shape;
    const arranged = (floats: Float32Array): Float32Array => {
      if (arrangement === "as stored") return floats;
      const turned = allocated(floats.length, found);
      transpose(floats, turned, rows, columns);
      return turned;
    };
    const { literal, supply } = pendingLiteral(arrangement === "transposed" ? shape.toReversed() : shape, found, arranged);
    this.#pending.set(found, [...(this.#pending.get(found) ?? []), supply]);
    this.#byLayout.set(`${arrangement}:${found}`, literal);
    this.#literals.push(literal);
    return literal;
  }

  #nameInFile(name: string): string {
    const found = this.#find(name);
    if (found !== undefined) return found;
    throw new InferyardError("MODEL_INVALID", `the file has no tensor "${name}"`, {
      remedy: "download the weights again, with the config.json that belongs to them",
      data: { tensor: name },
    });
  }

  /** Old files call what a norm multiplies by gamma, and what it adds beta. */
  #find(name: string): string | undefined {
    const old = name.replace(/LayerNorm\.weight$/, "LayerNorm.gamma").replace(/LayerNorm\.bias$/, "LayerNorm.beta");
    return this.#prefixes.flatMap((prefix) => [prefix + name, prefix + old]).find((each) => this.#stored.has(each));
  }
}

/** A literal whose elements are there, or can be had, once it was supplied. */
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
  const materialize = (): Float32Array => {
    if (elements === undefined) throw new Error(`the elements of "${name}" were not read`);
    return elements();
  };
  const held = new LazyStorage(undefined, { materialize, inFile: true });
  return { literal: literalWithStorage(held, dataType, shape), supply: (read) => (elements = () => arranged(read())) };
}

function allocated(count: number, name: string): Float32Array {
  try {
    return new Float32Array(count);
  } catch (cause) {
    throw new InferyardError("OUT_OF_MEMORY", `there is no memory for the tensor "${name}" of ${4 * count} bytes`, { cause });
  }
}

/** 16-bit floats are looked up: there are 65,536 of them. */
function widened(data: TensorData, type: string, tables: Map<string, Float32Array>): Float32Array {
  if (data instanceof Float32Array) return data;
  if (!(data instanceof Uint16Array)) throw new TypeError(`${type} is not read`);
  const float = type === "BF16" ? "bfloat16" : "float16";
  const table = tables.get(type) ?? Float32Array.from({ length: 2 ** 16 }, (_, bits) => decodeFloat(float, bits));
  tables.set(type, table);
  const floats = new Float32Array(data.length);
  for (let index = 0; index < data.length; index += 1) floats[index] = table[data[index] ?? 0] ?? 0;
  return floats;
}

/** In squares that stay in the cache. */
function transpose(from: Float32Array, to: Float32Array, rows: number, columns: number): void {
  const side = 32;
  for (let top = 0; top < rows; top += side) {
    for (let left = 0; left < columns; left += side) {
      const [bottom, right] = [Math.min(rows, top + side), Math.min(columns, left + side)];
      for (let column = left; column < right; column += 1)
        for (let row = top; row < bottom; row += 1) to[column * rows + row] = from[row * columns + column] ?? 0;
    }
  }
}
