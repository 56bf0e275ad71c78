/** Every level of machine code that this machine has, and WebAssembly alone: the same counts of passed and refused cases, and the same bits with more threads. */
import { readdirSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createRuntime, type Runtime, type RuntimeConfig, type Tensor, type TensorMap } from "inferyard";
import { findCases } from "../../scripts/conformance/cases.ts";
import { judge, openNativeWith } from "../../scripts/conformance/judge.ts";
import { runGoldens } from "../../scripts/goldens/run.ts";
import { fuseElementwise } from "../../src/engine/passes/fuse-elementwise.ts";
import { printGraph } from "../../src/engine/ir/print.ts";
import { type X64Level, machineCodeLevels } from "../../src/kernels/simd-levels.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";
import { amount, runsAll } from "../fixtures/slow.ts";
import { randomGraph } from "./fixtures/random-graph.ts";
import { compiled, expectSame, interpreted } from "./fixtures/run-graph.ts";
import { openLevel } from "./machine-kernels.ts";

type Setting = NonNullable<RuntimeConfig["machineCode"]>;

/** The settings of `machineCode` that mean something here, WebAssembly alone first. */
const levels = Object.entries(machineCodeLevels).filter(([, level]) => typeof openLevel(level) !== "string") as readonly [
  Exclude<Setting, "off">,
  X64Level,
][];
/** With TEST_SLOW=1 all of them, otherwise the highest. */
const triedLevels = levels.slice(runsAll ? 0 : -1);
const settings: readonly Setting[] = ["off", ...triedLevels.map(([setting]) => setting)];
const [skip, title] = needsData("every level of machine code");
const timeout = 3_600_000;

function open(setting: Setting, threads: number): Promise<Runtime> {
  return createRuntime({ target: "native:cpu", host: "inline", threads, machineCode: setting });
}

/** Expects what every setting gives to be what WebAssembly alone gives, and says it. */
async function expectSameEverywhere(what: string, find: (setting: Setting) => Promise<unknown>): Promise<void> {
  const found = new Map<Setting, unknown>();
  for (const setting of settings) found.set(setting, await find(setting));
  console.log(what, JSON.stringify(Object.fromEntries(found)));
  for (const setting of settings) expect(found.get(setting), setting).toEqual(found.get("off"));
}

describe.skipIf(skip)(title, () => {
  const folders = runsAll ? [""] : ["tiny-random-bert"];
  it("holds the same goldens", { timeout }, async () => {
    await expectSameEverywhere("goldens:", async (machineCode) => {
      const counts = { passed: 0, failed: 0, refused: 0 };
      const failed: string[] = [];
      for (const folder of folders)
        for (const result of await runGoldens(sharedData + folder, ["native:cpu"], () => {}, undefined, { machineCode })) {
          counts[result.verdict] += 1;
          if (result.verdict === "failed") failed.push(`${result.model}: ${result.reason}`);
        }
      return { ...counts, failed };
    });
  });

  it("passes and refuses the same conformance cases", { timeout }, async () => {
    const all = findCases(`${sharedData}onnx-conformance`);
    const cases = runsAll ? all : all.filter((_, index) => index % 40 === 3);
    await expectSameEverywhere("conformance:", async (setting) => {
      const level = levels.find(([name]) => name === setting)?.[1];
      const machineCode = level === undefined ? undefined : openLevel(level);
      if (typeof machineCode === "string") throw new Error(machineCode);
      const counts = { passed: 0, failed: 0, refused: 0 };
      for (const each of cases) counts[(await judge(each, openNativeWith(machineCode && (() => machineCode)))).verdict] += 1;
      return counts;
    });
  });

  it("has the same bits with two threads as with one", { timeout }, async () => {
    const models: readonly (readonly [path: string, variant: string | undefined, inputs: TensorMap])[] = [
      ["vision/version-RFB-320_simplified.onnx", undefined, { input: picture([1, 3, 240, 320]) }],
      ...(runsAll
        ? ([
            ["all-MiniLM-L6-v2", "fp32", tokens(33)],
            ["tiny-random-bert", "fp32", tokens(7)],
            ["vision/mnist.onnx", undefined, { Input3: picture([1, 1, 28, 28]) }],
            ["all-MiniLM-L6-v2", "int8", tokens(33)],
          ] as const)
        : []),
    ];
    for (const setting of settings)
      for (const [path, variant, inputs] of models) {
        const [one, two] = [await outputs(setting, 1, path, variant, inputs), await outputs(setting, 2, path, variant, inputs)];
        expect(two, `${path} with ${setting}`).toEqual(one);
      }
  });

  /** Types of weights whose products have machine code, by the files that have them. */
  const languageFiles = skip ? [] : readdirSync(`${sharedData}gguf-tiny-llama`).filter((file) => /q8_0|q4_0|_k|tq/.test(file));
  it("multiplies weights in blocks with the bits of WebAssembly, with any number of threads", { timeout }, async () => {
    for (const file of runsAll ? languageFiles : languageFiles.slice(0, 1))
      for (const [setting, level] of triedLevels) {
        const type = /(q\d_\w+|tq\d_0)\.gguf$/.exec(file)![1]!.toUpperCase();
        const wasm = await logits(setting, 1, file, `${type}_Wasm`);
        for (const threads of [1, 2]) {
          const machine = await logits(setting, threads, file, undefined);
          expect(
            machine.ids.some((id) => id.startsWith(`${type}_AVX`)),
            `${file} at ${level}: ${machine.ids.join()}`,
          ).toBe(true);
          expect(wasm.ids).toContain(`${type}_Wasm`);
          expect(machine.rows, `${file} at ${level} with ${threads} threads`).toEqual(wasm.rows);
        }
      }
  });
});

describe("random programs", () => {
  const programs = fc
    .array(fc.integer({ min: 0, max: 2 ** 20 }), { minLength: 12, maxLength: 240, size: "max" })
    .map(randomGraph)
    .map((made) => ({ ...made, [fc.toStringMethod]: () => printGraph(made.graph) }));
  it.each(triedLevels)("give with %s what the interpreter gives, in any number of calls", { timeout }, (_, level) => {
    const machineCode = openLevel(level);
    if (typeof machineCode === "string") throw new Error(machineCode);
    fc.assert(
      fc.property(programs, fc.integer({ min: 1, max: 4 }), ({ graph, inputs, tolerances }, splits) => {
        expectSame(compiled(fuseElementwise(graph), inputs, splits, machineCode), interpreted(graph, inputs), tolerances);
      }),
      { numRuns: amount(2000, 5) },
    );
  });
});

function tokens(length: number): TensorMap {
  const tensor = (data: BigInt64Array): Tensor => ({ dataType: "int64", shape: [2, length], data });
  return {
    input_ids: tensor(BigInt64Array.from({ length: 2 * length }, (_, index) => BigInt(100 + (index % 20)))),
    attention_mask: tensor(BigInt64Array.from({ length: 2 * length }, (_, index) => (index < length + 5 ? 1n : 0n))),
    token_type_ids: tensor(new BigInt64Array(2 * length)),
  };
}

function picture(shape: readonly number[]): Tensor {
  const count = shape.reduce((product, size) => product * size, 1);
  return { dataType: "float32", shape, data: Float32Array.from({ length: count }, (_, index) => Math.sin(index * 0.37)) };
}

async function outputs(
  setting: Setting,
  threads: number,
  path: string,
  variant: string | undefined,
  inputs: TensorMap,
): Promise<unknown> {
  const runtime = await open(setting, threads);
  try {
    return (await runtime.run(sharedData + path, inputs, variant === undefined ? {} : { variant })).outputs;
  } finally {
    await runtime.dispose();
  }
}

async function logits(
  setting: Setting,
  threads: number,
  file: string,
  kernel: string | undefined,
): Promise<{ readonly rows: unknown; readonly ids: readonly string[] }> {
  const runtime = await open(setting, threads);
  try {
    const kernels = kernel === undefined ? {} : { kernels: [kernel] };
    const handle = await runtime.load(`${sharedData}gguf-tiny-llama/${file}`, { kind: "language", ...kernels });
    const sequence = await handle.language.createSequence();
    const rows = [
      await handle.language.decode([{ sequence, tokens: [1, 2, 3, 4, 5, 6, 7], logits: 7 }]),
      await handle.language.decode([{ sequence, tokens: [8] }]),
    ];
    const ids = ((await handle.kernelCounts()) ?? []).map(({ id }) => id);
    await handle.dispose();
    return { rows, ids };
  } finally {
    await runtime.dispose();
  }
}
