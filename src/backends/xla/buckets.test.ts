import { describe, expect, it, vi } from "vitest";
import { InferyardError } from "../../contract/errors.ts";
import { required } from "../../contract/checked.ts";
import type { Tensor, TensorInfo, TensorMap } from "../../contract/tensor.ts";
import { ShapeBuckets } from "./buckets.ts";

const token = (name: string): TensorInfo => ({ name, dataType: "int64", shape: ["batch", "sequence"] });
const inputs = [token("input_ids"), token("attention_mask")];
const states: TensorInfo = { name: "states", dataType: "float32", shape: ["batch", "sequence", 2] };
const pooled: TensorInfo = { name: "pooled", dataType: "float32", shape: ["batch", 2] };

function given(batch: number, sequence: number): TensorMap {
  const tensor = (valueAt: (index: number) => number): Tensor => ({
    dataType: "int64",
    shape: [batch, sequence],
    data: BigInt64Array.from({ length: batch * sequence }, (_, index) => BigInt(valueAt(index))),
  });
  return { input_ids: tensor((index) => index + 1), attention_mask: tensor(() => 1) };
}

/** A model whose states are each id and ten times it, and whose pooled output is the sum of the visible ids, twice. */
function model({ input_ids: ids, attention_mask: mask }: TensorMap): TensorMap {
  const [batch = 0, sequence = 0] = required(ids, "ids").shape;
  const [values, seen] = [ids, mask].map((tensor) => Array.from(tensor!.data as BigInt64Array, Number));
  const sums = Array.from({ length: batch }, (_, row) =>
    values!.slice(row * sequence, (row + 1) * sequence).reduce((sum, id, at) => sum + id * seen![row * sequence + at]!, 0),
  );
  const floats = (shape: readonly number[], data: readonly number[]): Tensor => ({
    dataType: "float32",
    shape,
    data: Float32Array.from(data),
  });
  return {
    states: floats(
      [batch, sequence, 2],
      values!.flatMap((id) => [id, 10 * id]),
    ),
    pooled: floats(
      [batch, 2],
      sums.flatMap((sum) => [sum, sum]),
    ),
  };
}

const sizes = { batch: [1, 6], sequence: [4, 10] };
const open = (outputs: readonly TensorInfo[] = [states, pooled]): ShapeBuckets =>
  required(ShapeBuckets.of(inputs, outputs, sizes), "buckets");
const shapesOf = (run: ReturnType<typeof vi.fn>): unknown =>
  run.mock.calls.map(([padded]) => (padded as TensorMap)["attention_mask"]!.shape);

describe("inputs", () => {
  it.each([
    [1, 3, [1, 4]],
    [2, 5, [6, 10]],
    [7, 11, [12, 20]],
    [13, 21, [24, 40]],
    [1, 4, [1, 4]],
  ])("of %i rows and %i tokens run in the bucket, and give what they give as they are", async (batch, sequence, bucket) => {
    const run = vi.fn(async (padded: TensorMap) => model(padded));
    const buckets = open();
    expect(await buckets.run(given(batch, sequence), run)).toEqual(model(given(batch, sequence)));
    expect(shapesOf(run)).toEqual([bucket]);
    expect(buckets.describe()).toBe(
      `inputs are padded to batches of 1, 6, 12 and so on, sequences of 4, 10, 20 and so on; so far to ${bucket.join("x")}`,
    );
  });

  it("pad rows with the last row, and tokens with masked zeros", async () => {
    const run = vi.fn(async (padded: TensorMap) => model(padded));
    await open().run(given(2, 3), run);
    const { input_ids: ids, attention_mask: mask } = run.mock.calls[0]![0];
    const rows = (tensor: Tensor | undefined): unknown =>
      Array.from({ length: 6 }, (_, row) => Array.from((tensor!.data as BigInt64Array).slice(4 * row, 4 * row + 4), Number));
    expect(rows(ids)).toEqual([[1, 2, 3, 0], ...Array.from({ length: 5 }, () => [4, 5, 6, 0])]);
    expect(rows(mask)).toEqual(Array.from({ length: 6 }, () => [1, 1, 1, 0]));
  });

  it("run as they are where the model has no positions for the bucket, and are not padded to it again", async () => {
    const run = vi.fn(async (padded: TensorMap) => {
      if ((padded["input_ids"]!.shape[1] ?? 0) > 7) throw new InferyardError("MODEL_UNSUPPORTED", "it has 7 positions");
      return model(padded);
    });
    const buckets = open();
    for (const _again of [1, 2]) expect(await buckets.run(given(1, 6), run)).toEqual(model(given(1, 6)));
    expect(shapesOf(run)).toEqual([
      [1, 10],
      [1, 6],
      [1, 6],
    ]);
    expect(buckets.describe()).toContain("; not to 1x10, which the model does not take");
  });

  it.each([
    ["no shape", { ...states, shape: [] }],
    ["another shape", { ...states, shape: ["batch", 2] }],
  ])("run as they are where an output is declared with %s", async (_, declared) => {
    const buckets = open([declared, pooled]);
    expect(await buckets.run(given(2, 3), async (padded) => model(padded))).toEqual(model(given(2, 3)));
  });

  it("that the model refuses as they are give its error, and spoil no bucket", async () => {
    const buckets = open();
    const refusing = async (): Promise<TensorMap> => {
      throw new InferyardError("RUN_FAILED", "not now");
    };
    await expect(buckets.run(given(1, 3), refusing)).rejects.toThrow("not now");
    const run = vi.fn(async (padded: TensorMap) => model(padded));
    await buckets.run(given(1, 3), run);
    expect(shapesOf(run)).toEqual([[1, 4]]);
  });

  it("are not run a second time after an abort", async () => {
    const run = vi.fn(async (): Promise<TensorMap> => {
      throw new InferyardError("ABORTED", "stopped");
    });
    await expect(open().run(given(1, 3), run)).rejects.toThrow("stopped");
    expect(run).toHaveBeenCalledTimes(1);
  });
});

it.each([
  ["no mask", [token("input_ids")], [states]],
  ["another free axis", [...inputs, { ...token("pixels"), shape: ["batch", "width"] }], [states]],
  ["an output of another free size", inputs, [{ ...states, shape: ["batch", "patches", 2] }]],
  ["fixed sizes", [{ ...token("attention_mask"), shape: [1, 16] }], [states]],
])("a model with %s is not padded", (_, own, outputs) => {
  expect(ShapeBuckets.of(own, outputs, sizes)).toBeUndefined();
});
