/** ONNX files with the peculiarities of published exports: free sizes without names, inputs that must be long, tensors in onnxruntime's form. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Runtime, type Tensor, createRuntime } from "inferyard";
import ort from "onnxruntime-node";
import { model, node, value, weight } from "../fixtures/models/onnx-bytes.ts";

const folder = mkdtempSync(join(tmpdir(), "inferyard-exports-"));
let runtime: Runtime;
beforeAll(async () => {
  runtime = await createRuntime({ host: "inline", threads: 1 });
});
afterAll(async () => {
  await runtime.dispose();
  rmSync(folder, { recursive: true });
});

function written(name: string, graph: readonly Buffer[]): string {
  const path = join(folder, `${name}.onnx`);
  writeFileSync(path, model({ irVersion: 8, opsets: { "": 13 }, graph }));
  return path;
}

/** y = relu(x), x of the given shape. */
const relu = (name: string, shape: readonly (number | string)[]): string =>
  written(name, [
    node({ operator: "Relu", inputs: ["x"], outputs: ["y"] }),
    value(11, "x", 1, shape),
    value(12, "y", 1, ["a", "b", "c"]),
  ]);

/** A convolution along the time of a signal, with a window of `window` samples. */
const windowed = (window: number): string =>
  written(`window-${window}`, [
    node({ operator: "Conv", inputs: ["x", "w"], outputs: ["y"] }),
    weight("w", 1, [1, 1, window]),
    value(11, "x", 1, ["batch", 1, "sequence"]),
    value(12, "y", 1, ["batch", 1, "frames"]),
  ]);

const ones = (shape: readonly number[]): Tensor => ({
  dataType: "float32",
  shape,
  data: new Float32Array(shape.reduce((product, size) => product * size, 1)).fill(1),
});

describe.each(["onnx:cpu", "wasm", "native"])("models as they are published, on %s", (target) => {
  it.each([
    ["Paddle's question marks", ["?", "?", "?"]],
    ["sizes of -1", [-1, -1, -1]],
    ["the word None", ["None", "None", "None"]],
    ["TensorFlow's unk__6", ["unk__6", "unk__6", "unk__6"]],
  ])("free sizes without a name are not compared with each other: %s", async (name, shape) => {
    const { outputs } = await runtime.run(relu(name.replaceAll(/\W/g, ""), shape), { x: ones([1, 4, 19]) }, { target });
    expect(outputs["y"]?.shape).toEqual([1, 4, 19]);
  });

  it("two sizes of one name are still refused", async () => {
    const run = runtime.run(relu("named", ["n", "n", 2]), { x: ones([1, 4, 2]) }, { target });
    await expect(run).rejects.toThrow(/"n" is 1 in "x" and 4 in "x"/);
  });

  it("a made-up probe that is too short for the model is followed by longer ones", async () => {
    const { outputs, decision } = await runtime.run(windowed(256), { x: ones([1, 1, 300]) }, { target });
    expect(outputs["y"]?.shape).toEqual([1, 1, 45]);
    expect(decision.selected?.evidence[0]).toBe("a probe input ran, and its output is finite");
  });

  it("a model that refuses every made-up probe is loaded, and the decision says that none ran", async () => {
    const { outputs, decision } = await runtime.run(windowed(20_001), { x: ones([1, 1, 20_002]) }, { target });
    expect(outputs["y"]?.shape).toEqual([1, 1, 2]);
    expect(decision.selected?.evidence[0]).toMatch(
      /^no probe ran: no shape is known; the model refused inputs of the guessed lengths/,
    );
  });
});

it.each(["inline", "worker"] as const)("tensors of onnxruntime are refused by the names of their fields (%s)", async (host) => {
  await using own = await createRuntime({ host, threads: 1 });
  const path = relu("tensors", [1, 1, 1]);
  const plain = { type: "float32", dims: [1, 1, 1], data: Float32Array.of(1) };
  for (const x of [plain, new ort.Tensor("float32", Float32Array.of(1), [1, 1, 1])]) {
    await expect(own.run(path, { x: x as unknown as Tensor })).rejects.toMatchObject({
      code: "INPUT_INVALID",
      message: expect.stringContaining(
        'input "x" is a tensor of onnxruntime with the fields type and dims: write dataType for type',
      ),
    });
  }
});
