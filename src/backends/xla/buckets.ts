/**
 * Buckets of shapes: XLA compiles a program for each shape, which takes seconds, so inputs are padded to one of few shapes. Tokens are padded at the end and
 * masked by `attention_mask`; the batch is padded with copies of its last row. Padding is cut off the outputs.
 */
import { at } from "../../contract/checked.ts";
import { elementCount, type Tensor, type TensorInfo, type TensorMap } from "../../contract/tensor.ts";

/** Sizes that axes are padded to, in ascending order; beyond the last one, to a power of two times it. */
export interface BucketSizes {
  /** Numbers of rows. */
  readonly batch: readonly number[];
  /** Numbers of tokens. */
  readonly sequence: readonly number[];
}

/** Buckets that double. Texts of up to 16 tokens share one program. */
export const defaultBuckets: BucketSizes = { batch: [1], sequence: [16] };

/** Names of the free axes of a model that are padded. */
interface PaddedAxes {
  readonly batch: string;
  readonly sequence: string;
}

/** Inputs padded to a bucket, and the sizes to which outputs are cut. */
export interface PaddedInputs {
  readonly inputs: TensorMap;
  /** Rows and tokens of the bucket, such as "8x32". */
  readonly bucket: string;
  readonly batch: number;
  readonly sequence: number;
}

/** The padding of the inputs and outputs of one model. */
export class ShapeBuckets {
  readonly #axes: PaddedAxes;
  readonly #sizes: BucketSizes;
  readonly #inputs: readonly TensorInfo[];
  readonly #outputs: ReadonlyMap<string, TensorInfo>;

  private constructor(axes: PaddedAxes, inputs: readonly TensorInfo[], outputs: readonly TensorInfo[], sizes: BucketSizes) {
    this.#axes = axes;
    this.#sizes = sizes;
    this.#inputs = inputs;
    this.#outputs = new Map(outputs.map((output) => [output.name, output]));
  }

  /**
   * The buckets of a model; undefined if its inputs cannot be padded: it has no `attention_mask` [batch, sequence], or one of its inputs or outputs has
   * another free axis.
   */
  static of(
    inputs: readonly TensorInfo[],
    outputs: readonly TensorInfo[],
    sizes: BucketSizes = defaultBuckets,
  ): ShapeBuckets | undefined {
    const mask = inputs.find(({ name }) => name === "attention_mask");
    const [batch, sequence, ...others] = mask?.shape ?? [];
    if (typeof batch !== "string" || typeof sequence !== "string" || others.length > 0 || batch === sequence) return undefined;
    const isKnown = (size: number | string): boolean => typeof size === "number" || size === batch || size === sequence;
    const isPaddable = [...inputs, ...outputs].every(({ shape }) => shape.every(isKnown));
    return isPaddable ? new ShapeBuckets({ batch, sequence }, inputs, outputs, sizes) : undefined;
  }

  /** Pads inputs, whose shapes the caller has checked. Inputs that the model does not declare stay as they are. */
  pad(given: TensorMap): PaddedInputs {
    const [batch = 0, sequence = 0] = given["attention_mask"]?.shape ?? [];
    if (batch === 0 || sequence === 0) return { inputs: given, bucket: `${batch}x${sequence}`, batch, sequence };
    const [rows, tokens] = [bucketSize(batch, this.#sizes.batch), bucketSize(sequence, this.#sizes.sequence)];
    const padded = this.#inputs.flatMap(({ name, shape }): [string, Tensor][] => {
      const tensor = given[name];
      if (tensor === undefined) return [];
      return [[name, resized(tensor, this.#sizesOf(shape, tensor.shape, rows, tokens), shape.indexOf(this.#axes.batch))]];
    });
    return { inputs: { ...given, ...Object.fromEntries(padded) }, bucket: `${rows}x${tokens}`, batch, sequence };
  }

  /** The sizes as a clause: "batches of 1, 2, 4 and so on, sequences of 16, 32, 64 and so on". */
  describe(): string {
    const { batch, sequence } = this.#sizes;
    return `batches of ${describeSizes(batch)}, sequences of ${describeSizes(sequence)}`;
  }

  /** Cuts the padding off outputs. */
  cut(outputs: TensorMap, { batch, sequence }: PaddedInputs): TensorMap {
    const cut = Object.entries(outputs).map(([name, tensor]): [string, Tensor] => {
      const shape = this.#outputs.get(name)?.shape;
      return [name, shape === undefined ? tensor : resized(tensor, this.#sizesOf(shape, tensor.shape, batch, sequence), -1)];
    });
    return Object.fromEntries(cut);
  }

  #sizesOf(
    declared: readonly (number | string)[],
    actual: readonly number[],
    batch: number,
    sequence: number,
  ): readonly number[] {
    return declared.map((size, axis) =>
      size === this.#axes.batch ? batch : size === this.#axes.sequence ? sequence : at(actual, axis),
    );
  }
}

/** The smallest bucket that holds `size`. */
export function bucketSize(size: number, buckets: readonly number[]): number {
  const fitting = buckets.find((bucket) => bucket >= size);
  if (fitting !== undefined) return fitting;
  let bucket = buckets.at(-1) ?? 1;
  while (bucket < size) bucket *= 2;
  return bucket;
}

/** Sizes with the first ones beyond the last. */
function describeSizes(sizes: readonly number[]): string {
  const [last, all] = [sizes.at(-1) ?? 1, [...sizes]];
  for (let size = 2 * last; all.length < 3 || size === 2 * last; size *= 2) all.push(size);
  return `${all.join(", ")} and so on`;
}

/** A tensor cut or padded to a shape. New elements are 0, or along the axis `repeated` copies of the last row. */
function resized(tensor: Tensor, shape: readonly number[], repeated: number): Tensor {
  if (shape.every((size, axis) => size === tensor.shape[axis])) return tensor;
  const source = tensor.data as Float32Array;
  const data = new (source.constructor as Float32ArrayConstructor)(elementCount(shape));
  const copy = (axis: number, from: number, to: number): void => {
    const own = at(tensor.shape, axis);
    const inner = elementCount(tensor.shape.slice(axis + 1));
    const outer = elementCount(shape.slice(axis + 1));
    const shared = Math.min(own, at(shape, axis));
    const isContiguous =
      axis === shape.length - 1 || shape.slice(axis + 1).every((size, next) => size === tensor.shape[axis + 1 + next]);
    if (isContiguous) {
      data.set(source.subarray(from, from + shared * inner), to);
    } else {
      for (let index = 0; index < shared; index += 1) copy(axis + 1, from + index * inner, to + index * outer);
    }
    if (axis !== repeated || own === 0) return;
    for (let index = own; index < at(shape, axis); index += 1) {
      const last = to + (own - 1) * outer;
      data.copyWithin(to + index * outer, last, last + outer);
    }
  };
  copy(0, 0, 0);
  return { ...tensor, shape: [...shape], data };
}
