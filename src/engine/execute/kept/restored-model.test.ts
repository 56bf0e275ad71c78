/** Plans that one engine made, run by another as an earlier process left them. */
import { describe, expect, it } from "vitest";
import { integer, message, model, node, value } from "../../../../test/fixtures/models/onnx-bytes.ts";
import { features } from "../../../../test/engine/kernel-memory.ts";
import type { TensorMap } from "../../../contract/tensor.ts";
import { toByteSource } from "../../../formats/byte-source.ts";
import { onnxSource } from "../../onnx/trace-model.ts";
import { readOnnxModel } from "../../onnx/read-model.ts";
import { EngineModel } from "../engine-model.ts";
import type { EngineReplica } from "../engine-replicas.ts";
import { describeInputTypes, type KeptPlan, type KeptWeightsTable } from "./kept-plan.ts";
import { RestoredModel, type RestoredModelSettings } from "./restored-model.ts";

const width = 96;
const floats = (length: number, step: number): Float32Array =>
  Float32Array.from({ length }, (_, index) => ((index * step) % 23) / 16 - 0.7);
const tensor = (name: string, shape: readonly number[], data: Float32Array): Buffer =>
  message(5, ...shape.map((size) => integer(1, size)), integer(2, 1), message(8, name), message(9, Buffer.from(data.buffer)));

/** y = gelu-like chain of x times weights that stand turned; `again` is x, `fixed` a constant. */
const bytes = model({
  opsets: { "": 17 },
  graph: [
    value(11, "x", 1, ["n", width]),
    tensor("turned", [width, width], floats(width * width, 7)),
    tensor("bias", [width], floats(width, 5)),
    tensor("fixed one", [2], floats(2, 3)),
    node({ operator: "Transpose", inputs: ["turned"], outputs: ["straight"] }),
    node({ operator: "MatMul", inputs: ["x", "straight"], outputs: ["product"] }),
    node({ operator: "Add", inputs: ["product", "bias"], outputs: ["sum"] }),
    node({ operator: "Tanh", inputs: ["sum"], outputs: ["y"] }),
    node({ operator: "Softmax", inputs: ["y"], outputs: ["z"] }),
    node({ operator: "Identity", inputs: ["x"], outputs: ["again"] }),
    node({ operator: "Identity", inputs: ["fixed one"], outputs: ["fixed"] }),
    ...["y", "z", "again", "fixed"].map((name) => value(12, name)),
  ],
});

const inputs = [{ name: "x", dataType: "float32", shape: ["n", width] }] as const;
const rows = (count: number): TensorMap => ({
  x: { dataType: "float32", shape: [count, width], data: floats(count * width, 11) },
});

function open(replica?: EngineReplica): EngineModel {
  const { model: read, loadRemaining } = readOnnxModel(toByteSource(bytes), "made up");
  const engine = new EngineModel(onnxSource(read), { features, keepsPlans: true, ...(replica === undefined ? {} : { replica }) });
  if (replica === undefined) engine.prepare(inputs);
  loadRemaining();
  return engine;
}

/** What a process leaves: after runs with these numbers of rows. */
async function leave(counts: readonly number[]): Promise<{ table: KeptWeightsTable; weights: Uint8Array[]; plans: KeptPlan[] }> {
  const engine = open();
  for (const count of counts) await engine.run(rows(count));
  const taken = engine.takePlans()!;
  expect(taken.problems).toEqual([]);
  const table = taken.table();
  const left = structuredClone({
    table,
    weights: [...taken.readWeights(table)].map((each) => each.slice()),
    plans: [...taken.plans],
  });
  await engine.dispose();
  return left;
}

interface Restored {
  readonly restored: RestoredModel;
  /** How often the engine was opened. */
  opened: number;
}

function restore(left: Awaited<ReturnType<typeof leave>>, settings: Partial<RestoredModelSettings> = {}): Restored {
  const weights = left.weights.values();
  const result = { opened: 0 };
  const restored = new RestoredModel({
    table: left.table,
    readWeights: (target) => target.set(weights.next().value!),
    findPlan: (types) => left.plans.find(({ inputTypes }) => inputTypes === types),
    openEngine: async (replica, use) => {
      result.opened += 1;
      const engine = open(replica);
      await use(engine);
      return engine;
    },
    machineCode: "this test has none",
    ...settings,
  });
  return Object.assign(result, { restored });
}

describe("a restored model", () => {
  it("gives the bits of the model whose plans it runs, and its own copies of inputs and constants", async () => {
    const left = await leave([3, 40]);
    expect(left.plans.map(({ inputTypes }) => inputTypes)).toEqual([1, 3, 40].map((count) => `"x": float32[${count},${width}]`));
    const made = restore(left);
    const engine = open();
    for (const count of [3, 40, 3, 1]) {
      const results = await made.restored.run(rows(count));
      expect(results).toEqual(await engine.run(rows(count)));
      expect(Object.keys(results)).toEqual(["y", "z", "again", "fixed"]);
      (results["fixed"]!.data as Float32Array).fill(9); // the caller's own
    }
    expect(made.opened).toBe(0);
    expect(made.restored.kernelCounts).toEqual(engine.kernelCounts);
    expect(made.restored.describe()).toBe(engine.describe());
    await made.restored.dispose();
    await engine.dispose();
  });

  it("returns the outputs that are asked for", async () => {
    const { restored } = restore(await leave([3]));
    expect(Object.keys(await restored.run(rows(3), { outputs: ["again", "z"] }))).toEqual(["z", "again"]);
    await restored.dispose();
  });

  it("opens the engine over the same packed weights for inputs without a plan, which then computes everything", async () => {
    const made = restore(await leave([3]));
    await made.restored.run(rows(3));
    const before = made.restored.bytes;
    const engine = open();
    for (const count of [5, 3, 5]) expect(await made.restored.run(rows(count))).toEqual(await engine.run(rows(count)));
    expect(made.opened).toBe(1);
    // The engine holds the elements of the weights once more, which it has folded, but packs nothing.
    expect(made.restored.bytes - before).toBeLessThan(2 * width * width * 4);
    // Its new plans fit the weights that it was restored with.
    expect(made.restored.engine!.takePlans()!.plans.map(({ inputTypes }) => inputTypes)).toEqual([
      describeInputTypes([["x", { dataType: "float32", shape: [5, width] }]]),
      describeInputTypes([["x", { dataType: "float32", shape: [3, width] }]]),
    ]);
    await made.restored.dispose();
    await engine.dispose();
  });

  it("opens the engine where a plan asks for machine code, weights or kernels that are not there", async () => {
    const left = await leave([3]);
    const plan = left.plans.at(-1)!;
    const broken: readonly KeptPlan[] = [
      { ...plan, compiled: plan.compiled.map((each) => ({ ...each, machineKernels: 1 })) },
      { ...plan, compiled: [] },
      { ...plan, weights: plan.weights.map((each) => ({ ...each, layout: "unknown" })) },
      { ...plan, weights: plan.weights.map((each) => ({ ...each, bytes: each.bytes + 16 })) },
    ];
    const engine = open();
    for (const each of broken) {
      const made = restore({ ...left, plans: [each] });
      expect(await made.restored.run(rows(3))).toEqual(await engine.run(rows(3)));
      expect(made.opened).toBe(1);
      await made.restored.dispose();
    }
    await engine.dispose();
  });

  it("keeps to maxRunMemory and to the signal of a run", async () => {
    const left = await leave([3]);
    const { restored } = restore(left, { maxRunBytes: 1000 });
    await expect(restored.run(rows(3))).rejects.toMatchObject({ code: "LIMIT_EXCEEDED" });
    await expect(restored.run(rows(3), { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: "ABORTED" });
    await restored.dispose();
  });

  it("goes on after a run that opened the engine has failed", async () => {
    const { restored } = restore(await leave([3]));
    const wrong = { x: { dataType: "float32", shape: [5, width + 1], data: floats(5 * (width + 1), 11) } } as const;
    await expect(restored.run(wrong)).rejects.toMatchObject({ code: "MODEL_UNSUPPORTED" });
    const engine = open();
    expect(await restored.run(rows(5))).toEqual(await engine.run(rows(5)));
    await restored.dispose();
    await engine.dispose();
  });

  it("whose weights cannot be read is not made", async () => {
    const left = await leave([]);
    const readWeights = (): never => {
      throw new RangeError("it ends early");
    };
    expect(() => restore(left, { readWeights })).toThrow("it ends early");
  });
});

describe("plans", () => {
  it("with steps of the interpreter, or of a model that is divided, are not kept", async () => {
    const cases: readonly (readonly [operator: string, problems: readonly string[]])[] = [
      ["Det", ["the interpreter or plain TypeScript computes some of its steps"]],
      ["NonZero", []],
    ];
    for (const [operator, problems] of cases) {
      const graph = [value(11, "x", 1, [4, 4]), node({ operator, inputs: ["x"], outputs: ["y"] }), value(12, "y")];
      const { model: read } = readOnnxModel(toByteSource(model({ opsets: { "": 17 }, graph })), "made up");
      const engine = new EngineModel(onnxSource(read), { features, keepsPlans: true });
      await engine.run({ x: { dataType: "float32", shape: [4, 4], data: floats(16, 3) } });
      expect(engine.takePlans()).toMatchObject({ plans: [], problems });
      await engine.dispose();
    }
  });
});
