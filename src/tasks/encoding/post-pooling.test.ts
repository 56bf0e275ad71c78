import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { DenseActivation, VectorModule } from "../../models/manifest.ts";
import type { Tensor } from "../../contract/tensor.ts";
import { writeSafetensors } from "../../formats/safetensors/write-safetensors.ts";
import { type PostPooling, loadPostPooling } from "./post-pooling.ts";

let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "inferyard-modules-"))));
afterAll(() => rm(folder, { recursive: true, force: true }));

const f32 = (shape: number[], values: number[]): Tensor => ({ dataType: "float32", shape, data: Float32Array.from(values) });
let files = 0;

async function written(tensors: Record<string, Tensor>): Promise<{ path: string; displayName: string }> {
  files += 1;
  const path = join(folder, `${files}.safetensors`);
  await writeSafetensors(path, tensors);
  return { path, displayName: path };
}

interface DenseParts {
  readonly weight: readonly (readonly number[])[];
  readonly bias?: readonly number[];
  readonly activation?: DenseActivation;
}

async function dense({ weight, bias, activation = "Identity" }: DenseParts): Promise<VectorModule> {
  const [outFeatures, inFeatures] = [weight.length, weight[0]!.length];
  const weights = await written({
    "linear.weight": f32([outFeatures, inFeatures], weight.flat()),
    ...(bias === undefined ? {} : { "linear.bias": f32([outFeatures], [...bias]) }),
  });
  return { kind: "dense", weights, inFeatures, outFeatures, bias: bias !== undefined, activation };
}

const applied = (modules: PostPooling, values: number[]): number[] => [...modules.apply(Float32Array.from(values))];

describe("Dense", () => {
  it("is weight times vector plus bias, rows of the weight being outputs", async () => {
    const modules = await loadPostPooling([
      await dense({
        weight: [
          [1, 2, 3],
          [0, -1, 0.5],
        ],
        bias: [10, 0],
      }),
    ]);
    expect(modules.dimensions).toBe(2);
    expect(applied(modules, [1, 1, 2])).toEqual([1 + 2 + 6 + 10, -1 + 1]);
    const plain = await loadPostPooling([await dense({ weight: [[1, 2, 3]] })]);
    expect(applied(plain, [1, 1, 2])).toEqual([9]);
  });

  // Values of torch.nn's functions at -1.5, 0 and 2, from their formulas with Φ(-1.5) = 0.0668072013 and Φ(2) = 0.9772498681.
  it.each<[DenseActivation, number[]]>([
    ["Identity", [-1.5, 0, 2]],
    ["ReLU", [0, 0, 2]],
    ["Tanh", [-0.905148254, 0, 0.96402758]],
    ["Sigmoid", [0.182425524, 0.5, 0.880797078]],
    ["SiLU", [-0.273638286, 0, 1.761594156]],
    ["GELU", [-0.100210802, 0, 1.954499736]],
  ])("with %s", async (activation, expected) => {
    const modules = await loadPostPooling([await dense({ weight: [[1], [0], [0]], bias: [0, 0, 2], activation })]);
    for (const [index, value] of applied(modules, [-1.5]).entries()) expect(value).toBeCloseTo(expected[index]!, 6);
  });

  it("GELU far out is the identity on one side and nothing on the other", async () => {
    const modules = await loadPostPooling([await dense({ weight: [[1], [-1], [0.001]], activation: "GELU" })]);
    const [above, below, near] = applied(modules, [50]);
    expect([above, Math.abs(below!)]).toEqual([50, 0]);
    expect(near).toBeCloseTo(0.05 * 0.5199388, 7); // Φ(0.05)
  });

  it("several in turn, with unit length and a layer norm between them; the vector given is not touched", async () => {
    const weights = await written({ "norm.weight": f32([2], [2, 1]), "norm.bias": f32([2], [0, 5]) });
    const modules = await loadPostPooling([
      { kind: "normalize" },
      await dense({
        weight: [
          [5, 0],
          [0, 10],
        ],
      }),
      { kind: "layer-norm", weights, features: 2 },
      await dense({ weight: [[1, 1]], bias: [1] }),
    ]);
    const vector = Float32Array.of(3, 4);
    // Unit length [0.6, 0.8], then [3, 8]: mean 5.5, deviation 2.5.
    const step = 2.5 / Math.sqrt(2.5 ** 2 + 1e-5);
    expect([...modules.apply(vector)][0]).toBeCloseTo(-2 * step + step + 5 + 1, 5);
    expect([...vector]).toEqual([3, 4]);
    expect(modules.dimensions).toBe(1);
  });

  it("weights in half precision are read", async () => {
    const weights = await written({
      "linear.weight": { dataType: "float16", shape: [1, 2], data: Uint16Array.of(0x3c00, 0xc000) },
    });
    const module: VectorModule = { kind: "dense", weights, inFeatures: 2, outFeatures: 1, bias: false, activation: "Identity" };
    expect(applied(await loadPostPooling([module]), [3, 1])).toEqual([1]);
  });

  it("a vector of another length is refused", async () => {
    const modules = await loadPostPooling([await dense({ weight: [[1, 2]] })]);
    expect(() => modules.apply(new Float32Array(3))).toThrow(
      "vectors of 3 numbers, and its modules.json goes on with a module for 2",
    );
  });
});
