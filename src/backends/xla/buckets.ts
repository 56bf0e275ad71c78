/**
 * Buckets of shapes: XLA compiles a program for each shape, which takes seconds, so inputs are padded to one of few shapes. Tokens are padded at the end and
 * masked by `attention_mask`; the batch is padded with copies of its last row. Padding is cut off the outputs.
 */
import { at } from "../../contract/checked.ts";
import { type ErrorCode, InferyardError } from "../../contract/errors.ts";
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

/** Numbers of rows and tokens. */
interface Sizes {
  readonly batch: number;
  readonly sequence: number;
}

/** Runs a model. */
type Run = (inputs: TensorMap) => Promise<TensorMap>;

/** Codes of errors that have nothing to do with the shapes of the inputs. */
const endingCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>(["ABORTED", "DISPOSED"]);

/** The padding of the inputs and outputs of one model. */
export class ShapeBuckets {
  readonly #axes: PaddedAxes;
  readonly #sizes: BucketSizes;
  readonly #inputs: readonly TensorInfo[];
  readonly #outputs: ReadonlyMap<string, TensorInfo>;
  /** Buckets that runs were padded to. */
  readonly #used = new Set<string>();
  /** Buckets that the model cannot be padded to, as where it has no positions for so many tokens. */
  readonly #refused = new Set<string>();

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

  /**
   * Runs a model with padded inputs, whose shapes the caller has checked, and returns its outputs without the padding. Inputs that the model does not declare stay
   * as they are. A model that refuses the padded inputs, or whose outputs do not have the shapes that it declares, runs with the inputs as they are.
   */
  async run(inputs: TensorMap, run: Run): Promise<TensorMap> {
    const [batch = 0, sequence = 0] = inputs["attention_mask"]?.shape ?? [];
    if (batch === 0 || sequence === 0) return await run(inputs);
    const padded = { batch: bucketSize(batch, this.#sizes.batch), sequence: bucketSize(sequence, this.#sizes.sequence) };
    const bucket = `${padded.batch}x${padded.sequence}`;
    if (this.#refused.has(bucket)) return await run(inputs);
    const outputs = await this.#runPadded(inputs, padded, run);
    const cut = outputs && this.#cut(outputs, padded, { batch, sequence });
    if (cut !== undefined) {
      this.#used.add(bucket);
      return cut;
    }
    const exact = await run(inputs);
    this.#refused.add(bucket); // only now: what refuses the inputs as they are does not refuse the bucket
    return exact;
  }

  /** The padded sizes of the inputs, as a sentence without a full stop; undefined before the first run. */
  describe(): string | undefined {
    if (this.#used.size + this.#refused.size === 0) return undefined;
    const { batch, sequence } = this.#sizes;
    const sizes = `batches of ${describeSizes(batch)}, sequences of ${describeSizes(sequence)}`;
    const used = this.#used.size === 0 ? "" : `; so far to ${[...this.#used].join(", ")}`;
    const refused = this.#refused.size === 0 ? "" : `; not to ${[...this.#refused].join(", ")}, which the model does not take`;
    return `inputs are padded to ${sizes}${used}${refused}`;
  }

  /** The outputs for padded inputs; undefined if the model refuses these. */
  async #runPadded(inputs: TensorMap, to: Sizes, run: Run): Promise<TensorMap | undefined> {
    const padded = this.#inputs.flatMap(({ name, shape }): [string, Tensor][] => {
      const tensor = inputs[name];
      if (tensor === undefined) return [];
      return [[name, resized(tensor, this.#shapeWith(shape, tensor.shape, to), shape.indexOf(this.#axes.batch))]];
    });
    try {
      return await run({ ...inputs, ...Object.fromEntries(padded) });
    } catch (error) {
      if (!(error instanceof InferyardError) || endingCodes.has(error.code)) throw error;
      return undefined;
    }
  }

  /** Cuts outputs for padded inputs to other sizes; undefined if one does not have the padded sizes at the axes where it is declared to have them. */
  #cut(outputs: TensorMap, from: Sizes, to: Sizes): TensorMap | undefined {
    const cut: Record<string, Tensor> = {};
    for (const [name, tensor] of Object.entries(outputs)) {
      const shape = this.#outputs.get(name)?.shape;
      if (shape === undefined) return undefined;
      const isAsDeclared =
        shape.length === tensor.shape.length &&
        this.#shapeWith(shape, tensor.shape, from).every((size, axis) => size === tensor.shape[axis]);
      if (!isAsDeclared) return undefined;
      cut[name] = resized(tensor, this.#shapeWith(shape, tensor.shape, to), -1);
    }
    return cut;
  }

  /** A shape with these sizes at the axes of batch and sequence. */
  #shapeWith(declared: readonly (number | string)[], actual: readonly number[], sizes: Sizes): readonly number[] {
    return declared.map((size, axis) =>
      size === this.#axes.batch ? sizes.batch : size === this.#axes.sequence ? sizes.sequence : at(actual, axis),
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
