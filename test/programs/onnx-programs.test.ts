/** Programs from ONNX files, against onnxruntime-node. */
import { join } from "node:path";
import { InferenceSession, Tensor } from "onnxruntime-node";
import { describe, expect, it } from "vitest";
import { compileProgram, nativePrograms, ProgramBackends, programFromOnnx } from "inferyard/program";
import { needsData, sharedData } from "../fixtures/shared-data.ts";

const [skip, title] = needsData("programs from ONNX files");
const backends = new ProgramBackends([nativePrograms()]);

describe.skipIf(skip)(title, () => {
  it("give what onnxruntime gives, for sizes of one bucket and of another", async () => {
    const path = join(sharedData, "tiny-random-bert/onnx/model.onnx");
    const program = await programFromOnnx(path);
    const [batch, tokens] = program.inputs[0]?.shape ?? [];
    const kernel = await compileProgram(program, { backends, mode: "throughput" });
    const session = await InferenceSession.create(path);
    expect([typeof batch, typeof tokens]).toEqual(["string", "string"]);
    for (const [rows, columns] of [
      [2, 5],
      [1, 9],
    ] as const) {
      const ids = BigInt64Array.from({ length: rows * columns }, (_, index) => BigInt(2 + ((index * 7) % 30)));
      const given = Object.fromEntries(
        program.inputs.map(({ name }) => [
          name,
          name === "input_ids" ? ids : new BigInt64Array(ids.length).fill(name === "attention_mask" ? 1n : 0n),
        ]),
      );
      const feeds = Object.fromEntries(
        Object.entries(given).map(([name, data]) => [name, new Tensor("int64", data, [rows, columns])]),
      );
      const [expected, results] = [await session.run(feeds), await kernel.run(feeds)];
      for (const name of program.outputs) {
        expect(results[name]?.shape).toEqual(expected[name]?.dims);
        const right = Array.from(expected[name]?.data as Float32Array);
        const worst = Math.max(...right.map((value, index) => Math.abs(value - Number(results[name]?.data[index]))));
        expect(worst).toBeLessThan(1e-5);
      }
    }
    await kernel.dispose();
  });

  it("are refused if the file is missing or damaged, or its shapes depend on values", async () => {
    await expect(programFromOnnx("/nowhere/model.onnx")).rejects.toMatchObject({ code: "MODEL_NOT_FOUND" });
    await expect(programFromOnnx(Uint8Array.of(1, 2, 3))).rejects.toMatchObject({ code: "MODEL_INVALID" });
    await expect(programFromOnnx(join(sharedData, "tiny-random-whisper/onnx/decoder_model_merged.onnx"))).rejects.toMatchObject({
      code: "MODEL_UNSUPPORTED",
    });
  });
});
