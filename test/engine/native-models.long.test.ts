/** Whole trained models on our own engine, through the public runtime, against onnxruntime-node. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Runtime, type Tensor, createRuntime } from "inferyard";
import { needsData, sharedData } from "../fixtures/shared-data.ts";
import { runsAll } from "../fixtures/slow.ts";

const [skip, name] = needsData("trained models on native:cpu");

describe.skipIf(skip)(name, () => {
  const folder = mkdtempSync(join(tmpdir(), "inferyard-native-models-"));
  let [native, onnx]: (Runtime | undefined)[] = [];
  beforeAll(
    async () =>
      ([native, onnx] = [
        await createRuntime({ target: "native:cpu", host: "inline", threads: 1 }),
        await createRuntime({ target: "onnx:cpu", host: "inline", threads: 1 }),
      ]),
  );
  afterAll(async () => {
    await native?.dispose();
    await onnx?.dispose();
    rmSync(folder, { recursive: true });
  });

  /** A picture of nothing, the same each time. */
  const picture = (shape: readonly number[]): Tensor => {
    const count = shape.reduce((product, size) => product * size, 1);
    return { dataType: "float32", shape, data: Float32Array.from({ length: count }, (_, index) => Math.sin(index * 0.37)) };
  };

  it.each([
    ["mnist.onnx", { Input3: picture([1, 1, 28, 28]) }],
    ["version-RFB-320_simplified.onnx", { input: picture([1, 3, 240, 320]) }],
  ])("%s gives what onnxruntime-node gives", async (file, inputs) => {
    const path = `${sharedData}vision/${file}`;
    const ours = await native!.run(path, inputs);
    const theirs = await onnx!.run(path, inputs);
    expect(ours.decision.selected?.target).toBe("native:cpu");
    for (const [output, { shape, data }] of Object.entries(theirs.outputs)) {
      const given = ours.outputs[output]!;
      expect(given.shape).toEqual(shape);
      const size = Math.max(1, ...Array.from(data as Float32Array, (value) => Math.abs(value)));
      const worst = Math.max(...Array.from(data as Float32Array, (value, index) => Math.abs(value - Number(given.data[index]))));
      expect(worst / size).toBeLessThan(1e-5);
    }
  });

  it.each([
    ["tiny-random-bert", "fp32"],
    ["all-MiniLM-L6-v2", "int8"],
  ])("%s in %s takes fewer steps with each level of graphOptimization, for the same vectors", async (model, variant) => {
    const path = `${sharedData}${model}`;
    const levels = ["disabled", "basic", "extended", "all"] as const;
    // Loading MiniLM takes a second: its first and last level each time.
    const own = runsAll || variant === "fp32" ? levels : levels.filter((level) => level === "disabled" || level === "all");
    const steps: number[] = [];
    for (const graphOptimization of own) {
      const loaded = await native!.load(path, { variant, graphOptimization });
      const evidence = loaded.decision.selected?.evidence.join("; ") ?? "";
      steps.push(Number(/executable of (\d+) steps/.exec(evidence)?.[1]));
      const tensor = (data: BigInt64Array): Tensor => ({ dataType: "int64", shape: [1, 4], data });
      const inputs = {
        input_ids: tensor(BigInt64Array.of(101n, 137n, 93n, 102n)),
        attention_mask: tensor(new BigInt64Array(4).fill(1n)),
        token_type_ids: tensor(new BigInt64Array(4)),
      };
      const [ours] = Object.values((await native!.run(loaded, inputs)).outputs);
      const [theirs] = Object.values((await onnx!.run(path, inputs, { variant })).outputs);
      for (const [index, value] of (theirs!.data as Float32Array).entries())
        expect(Number(ours!.data[index])).toBeCloseTo(value, variant === "fp32" ? 5 : 1);
    }
    expect(steps).toEqual([...new Set(steps)].sort((a, b) => b - a));
    expect(steps).toHaveLength(own.length);
  });

  it("SqueezeNet, whose dropout names a mask that nobody uses, gives a class's share of one", async () => {
    const data = new Uint16Array(3 * 224 * 224).map((_, index) => 0x3000 + (index % 0x800)); // half precision, 0.125 to 0.5
    const { outputs } = await native!.run(`${sharedData}vision/SqueezeNet_fp16.onnx`, {
      data_0: { dataType: "float16", shape: [1, 3, 224, 224], data },
    });
    const { data: shares } = outputs["softmaxout_1"]!;
    const half = (bits: number): number =>
      bits >> 10 === 0 ? bits * 2 ** -24 : (1 + (bits & 1023) / 1024) * 2 ** ((bits >> 10) - 15);
    expect(Array.from(shares as Uint16Array, (bits) => half(bits)).reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 1);
  });

  it("the g2p transducer, a recurrent model, gives what onnxruntime-node gives", async () => {
    execFileSync("unzip", ["-q", `${sharedData}g2p-arpabet/g2p-arpabet.zip`, "g2p.onnx", "-d", folder]);
    const path = join(folder, "g2p.onnx");
    expect(readFileSync(path).length).toBe(1_769_706);
    const ours = await native!.load(path);
    const theirs = await onnx!.load(path);
    expect(ours.inputs).toEqual(theirs.inputs);
    const inputs = Object.fromEntries(
      ours.inputs.map(({ name, dataType, shape }): [string, Tensor] => {
        const sizes = shape.map((size) => (typeof size === "number" ? size : name === "t" ? 1 : 4));
        const count = sizes.reduce((product, size) => product * size, 1);
        const data = dataType === "int64" ? new BigInt64Array(count).fill(2n) : new Int32Array(count).fill(2);
        return [name, { dataType, shape: sizes, data }];
      }),
    );
    const [one, other] = [await native!.run(ours, inputs), await onnx!.run(theirs, inputs)];
    expect(Object.keys(one.outputs)).toEqual(Object.keys(other.outputs));
    for (const [output, { data }] of Object.entries(other.outputs))
      for (const [index, value] of data.entries()) expect(Number(one.outputs[output]!.data[index])).toBeCloseTo(Number(value), 3);
  });
});
