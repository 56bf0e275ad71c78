/** `maxRunMemory` on real models: a batch that is split gives what it gives whole, and what cannot be split is refused. */
import { createRuntime } from "inferyard";
import { describe, expect, it } from "vitest";
import type { TensorMap } from "../../src/contract/tensor.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";

const [skip, name] = needsData("the memory of a run");

function batch(rows: number, length: number): TensorMap {
  const tensor = (value: (at: number) => number): TensorMap[string] => ({
    dataType: "int64",
    shape: [rows, length],
    data: BigInt64Array.from({ length: rows * length }, (_, at) => BigInt(value(at))),
  });
  return {
    input_ids: tensor((at) => 1000 + ((at * 37) % 5000)),
    attention_mask: tensor(() => 1),
    token_type_ids: tensor(() => 0),
  };
}

describe.skipIf(skip)(name, () => {
  it.each(["onnx", "native", "wasm"])(
    "%s",
    async (target) => {
      const reference = `${sharedData}all-MiniLM-L6-v2`;
      const inputs = batch(6, 48);
      await using free = await createRuntime({ target });
      await using bounded = await createRuntime({ target, maxRunMemory: "3MB" });
      const whole = await free.run(reference, inputs);
      const split = await bounded.run(reference, inputs);
      for (const [output, { shape, data }] of Object.entries(whole.outputs)) {
        expect(split.outputs[output]?.shape).toEqual(shape);
        const other = split.outputs[output]?.data as Float32Array;
        expect(Math.max(...(data as Float32Array).map((value, at) => Math.abs(value - (other[at] ?? Number.NaN))))).toBeLessThan(
          1e-4,
        );
      }
      await expect(bounded.run(reference, batch(1, 512))).rejects.toMatchObject({ code: "LIMIT_EXCEEDED" });
    },
    60_000,
  );
});
