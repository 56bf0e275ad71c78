/** Runs a tiny static model of each storage and compares the results with known ones. */
import { InferyardError } from "../../contract/errors.ts";
import type { Library } from "../../contract/backend.ts";
import type { TensorMap } from "../../contract/tensor.ts";
import { int8Matrix, float32Matrix, float16Matrix, int4Matrix } from "./embedding-matrix.ts";
import type { EmbeddingMatrix } from "./embedding-matrix.ts";
import { StaticModel } from "./static-model.ts";

/** Three tokens, [1, 2], [3, -4] and [-8, 7] (the extremes of 4 bits), in each storage. */
const storages: readonly (() => EmbeddingMatrix)[] = [
  () => float32Matrix(Float32Array.of(1, 2, 3, -4, -8, 7), 2),
  () => float16Matrix(Uint16Array.of(0x3c00, 0x4000, 0x4200, 0xc400, 0xc800, 0x4700), 2),
  () => int8Matrix(Int8Array.of(1, 2, 3, -4, -8, 7), 2),
  () => int4Matrix(Uint8Array.of(0xa9, 0x4b, 0xf0), 2),
];
const weights = Float32Array.of(1, 0.5, 0.25);
/** Three texts: tokens 0 and 2; token 1 and padding; no tokens. */
const inputs: TensorMap = {
  input_ids: { dataType: "int64", shape: [3, 2], data: BigInt64Array.of(0n, 2n, 1n, 0n, 0n, 0n) },
  attention_mask: { dataType: "int64", shape: [3, 2], data: BigInt64Array.of(1n, 1n, 1n, 0n, 0n, 0n) },
};
const expected: readonly number[] = [(1 - 2) / 2, (2 + 1.75) / 2, 1.5, -2, 0, 0];

/** Returns the storages that were tested. Throws RUN_FAILED for the first wrong result; all numbers are exact. */
export async function selfTest(library: Library): Promise<readonly string[]> {
  const tested: string[] = [];
  for (const makeRows of storages) {
    const matrix = makeRows();
    const model = new StaticModel({ matrix, weights }, library);
    const { sentence_embedding: result } = await model.run(inputs);
    await model.dispose();
    const computed = Array.from((result?.data ?? []) as Iterable<number>);
    if (computed.length !== expected.length || computed.some((value, index) => value !== expected[index])) {
      throw new InferyardError(
        "RUN_FAILED",
        `${matrix.precision} embeddings gave [${computed.join(", ")}] instead of [${expected.join(", ")}]`,
      );
    }
    tested.push(matrix.precision);
  }
  return tested;
}
