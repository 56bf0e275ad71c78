import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { compileKernels, detectWasmFeatures, type Kernel, type KernelFunctions } from "../../codegen/wasm/index.ts";
import { enableRelaxedSimd } from "../../codegen/wasm/v8-flags.ts";
import type { GraphSource } from "../../build/graph-source.ts";
import type { Value } from "../../ir/graph.ts";
import { planGraph } from "../../plan/plan.ts";
import type { TensorMap } from "../../../contract/tensor.ts";
import { EngineModel } from "../engine-model.ts";
import { type MadeCases, casesOfFamily as makeCases, checkedFamilies } from "./check-cases.ts";
import { type CheckCase, single } from "./case-builder.ts";
import { ordinary } from "./check-values.ts";
import { elementwiseFunctions } from "./elementwise-functions.ts";
import { KernelChecks } from "./kernel-checks.ts";
import type { PassedChecks } from "./passed-checks.ts";
import { runCases } from "./run-cases.ts";

const features = detectWasmFeatures(enableRelaxedSimd);
const isByteDotMissing = features.byteDot === "none";

const made: MadeCases = new Map();
const casesOfFamily = (family: string): readonly CheckCase[] => makeCases(family, made);

/** Compiles kernels, and damages the last output of those that match. */
function breaking(matches: (kernel: Kernel) => boolean): typeof compileKernels {
  return (kernels, memory, given) => {
    const compiled = compileKernels(kernels, memory, given);
    const functions: KernelFunctions = new Map(
      kernels.map((kernel) => {
        const call = compiled.functions.get(kernel.key)!;
        if (!matches(kernel)) return [kernel.key, call];
        const { parameters, dynamicSizes, scratchBytes } = kernel;
        const output = dynamicSizes.length + parameters.length - (scratchBytes > 0 ? 2 : 1);
        return [
          kernel.key,
          (...args: number[]) => {
            const status = call(...args);
            const bytes = new Uint8Array(memory.buffer);
            if (args.at(-2) === 0) for (const byte of [0, 3]) bytes[args[output]! + byte]! ^= 0x41; // after the first piece
            return status;
          },
        ];
      }),
    );
    return { ...compiled, functions };
  };
}

/** GELU of float32, and a cast. */
const steps = elementwiseFunctions().filter(({ name }) => /gelu float32|cast to int32 float32/.test(name));

describe("cases", () => {
  it("exist for every kernel family of the code generator", () => {
    const folder = join(import.meta.dirname, "../../codegen/wasm/kernels");
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
    const families = files.flatMap((name) =>
      [...readFileSync(join(folder, name), "utf8").matchAll(/family: "([^"]+)"/g)].map(([, family]) => family),
    );
    expect(families.length).toBeGreaterThan(20);
    expect(checkedFamilies.toSorted()).toEqual(families.toSorted());
    for (const family of checkedFamilies) expect(casesOfFamily(family), family).not.toEqual([]);
  });

  it("that must be left to the interpreter have no kernel", () => {
    const cases = checkedFamilies.flatMap((family) => casesOfFamily(family));
    const declined = cases.filter(({ isDeclined, states }) => isDeclined === true && states === undefined);
    const interpreted = declined.map(({ nodes, inputs }) => {
      const graph = {
        inputs: [...inputs.keys()].map((value, index) => ({ name: `${index}`, value })),
        nodes,
        outputs: [{ name: "y", value: nodes.at(-1)!.outputs[0]! }],
      };
      return planGraph(graph, { isModelConstant: () => false, hasByteDot: true }).steps.map(({ kind }) => kind);
    });
    expect(interpreted.length).toBeGreaterThan(30);
    expect(new Set(interpreted.flat())).toEqual(new Set(["interpret"]));
  });

  it.skipIf(isByteDotMissing)("run the function that they are named after", () => {
    for (const { name, nodes, inputs, isDeclined } of checkedFamilies.flatMap((family) => casesOfFamily(family))) {
      const graph = {
        inputs: [...inputs.keys()].map((value, index) => ({ name: `${index}`, value })),
        nodes,
        outputs: [{ name: "y", value: nodes.at(-1)!.outputs[0]! }],
      };
      const { functions, kernels } = planGraph(graph, { isModelConstant: () => false, hasByteDot: true });
      if (isDeclined === true) continue;
      // Kernels for quantized weights are named by their ids.
      const families = kernels.map(({ family }) => family);
      expect(
        [...functions.map((each) => each.name), ...families],
        JSON.stringify(nodes.map(({ operation }) => operation)),
      ).toContain(name);
    }
  });
});

describe("a function that must not be used", () => {
  const families = checkedFamilies.filter((family) => !(isByteDotMissing && /^(byte-matmul|quantize-rows)$/.test(family)));
  it.each(families)("of %s: what is computed without it is right", (family) => {
    // A state is stored where it is appended to, so that nothing else can append to it.
    for (const { states: _, ...each } of casesOfFamily(family)) {
      const used = new Set<string>();
      const isExcluded = (name: string, excluded?: string): boolean => {
        used.add(name);
        return name === excluded;
      };
      expect(runCases([each], { features, isExcluded: (name) => isExcluded(name) }), each.name).toEqual([undefined]);
      for (const name of Array.from(used))
        expect(
          runCases([each], { features, isExcluded: (other) => isExcluded(other, name) }),
          `${each.name} without ${name}`,
        ).toEqual([undefined]);
    }
  });
});

let complete: Promise<{ readonly checks: KernelChecks; readonly passed: ReturnType<typeof passedBefore> }> | undefined;

/** All checks on features of this machine, and what is remembered of them; computed once. */
function allPassed(): NonNullable<typeof complete> {
  return (complete ??= (async () => {
    const passed = passedBefore([]);
    const checks = new KernelChecks(features, { passed });
    await checks.checkAll();
    return { checks, passed };
  })());
}

describe("kernel checks", () => {
  it("find nothing wrong with the generated code, on features of this machine and on plain SIMD", async () => {
    const plain = new KernelChecks({ ...features, relaxedSimd: false, byteDot: "none" });
    await plain.checkAll();
    for (const checks of [(await allPassed()).checks, plain]) {
      expect(checks.failed).toEqual([]);
      expect(checks.count).toBeGreaterThan(400);
    }
  });

  it.each(checkedFamilies.filter((family) => !(isByteDotMissing && /^(byte-matmul|quantize-rows)$/.test(family))))(
    "find broken code of %s",
    (family) => {
      const checks = new KernelChecks(features, { compile: breaking((kernel) => kernel.family === family) });
      const names = new Set(casesOfFamily(family).map(({ name }) => name));
      expect(checks.check([...names].map((name) => ({ name })))).toBe(true);
      expect(checks.failed.map(({ name }) => name)).toEqual([...names]);
    },
  );

  it("find one broken function among those of a family", () => {
    const checks = new KernelChecks(features, { compile: breaking(({ key }) => key.includes('op:"gelu"')) });
    expect(checks.check([{ name: "elementwise" }, { name: "matmul gelu" }, ...steps])).toBe(true);
    expect(checks.failed.map(({ name }) => name)).toEqual(["elementwise gelu float32"]);
    expect(checks.failed[0]!.problem).toMatch(/^element 0 of float32\[\d+\] is .+, and .+ is right$/);
  });

  it("survive code that stops", () => {
    const stopping: typeof compileKernels = (kernels, memory, given) => {
      const compiled = compileKernels(kernels, memory, given);
      const stop = (): number => {
        throw new Error("unreachable");
      };
      return {
        ...compiled,
        functions: new Map([...compiled.functions].map(([key, call]) => [key, key.startsWith("norm ") ? stop : call])),
      };
    };
    const checks = new KernelChecks(features, { compile: stopping });
    expect(checks.check([{ name: "norm" }, { name: "softmax" }])).toBe(true);
    expect(checks.failed).toEqual([{ name: "norm", problem: "it stopped: unreachable" }]);
  });

  it("see what is written behind the end of an output", () => {
    const overwriting: typeof compileKernels = (kernels, memory, given) => {
      const compiled = compileKernels(kernels, memory, given);
      const overwrite = (...args: number[]): number => {
        const status = compiled.functions.get(kernels[0]!.key)!(...args);
        new Uint8Array(memory.buffer)[args.at(-3)! + 23 * 4 + 2] = 0;
        return status;
      };
      return { ...compiled, functions: new Map([[kernels[0]!.key, overwrite]]) };
    };
    const negation = { operation: { kind: "unary", function: "neg" }, operands: [0] } as const;
    const short = single("elementwise", { kind: "elementwise", steps: [negation] }, [ordinary("float32", [23])]);
    expect(runCases([short], { features })).toEqual([undefined]);
    expect(() => runCases([short], { features, compile: overwriting })).toThrow(
      "a kernel writes 2 bytes behind the end of a tensor",
    );
  });
});

/** Checks that passed in an earlier process. */
function passedBefore(names: readonly string[], isComplete = false): PassedChecks & { readonly names: string[] } {
  return {
    names: [...names],
    isComplete,
    since: "2026-11-26T10:00:00.000Z",
    add(more, options = {}) {
      this.names.push(...more);
      Object.assign(this, options);
    },
  };
}

describe("checks that passed before", () => {
  const functions = [{ name: "elementwise" }, { name: "matmul gelu" }, ...steps];
  const breakingAll = (): typeof compileKernels => breaking(() => true);

  it("are not repeated, and what passes now is remembered", () => {
    const passed = passedBefore(["elementwise", "matmul gelu"]);
    const checks = new KernelChecks(features, { compile: breaking(({ family }) => family === "matmul"), passed });
    expect(checks.check(functions)).toBe(false);
    checks.remember();
    expect(passed.names.toSorted()).toEqual(functions.map(({ name }) => name).toSorted());
    expect(checks.describe(functions.map(({ name }) => name))).toBe(
      "4 functions of generated code agree with the interpreter (2 remembered from 2026-11-26)",
    );
  });

  it("never are those that failed", () => {
    const passed = passedBefore([]);
    const checks = new KernelChecks(features, { compile: breaking(({ key }) => key.includes('op:"gelu"')), passed });
    expect(checks.check(functions)).toBe(true);
    checks.remember();
    expect(passed.names.toSorted()).toEqual(["elementwise", "elementwise cast to int32 float32", "matmul gelu"]);
  });

  it("all of them: a sample is checked, and everything where that is wrong", async () => {
    const { passed: first } = await allPassed();
    expect(first.isComplete).toBe(true);

    const compiled: Kernel[] = [];
    const counting: typeof compileKernels = (kernels, ...others) => {
      compiled.push(...kernels);
      return compileKernels(kernels, ...others);
    };
    const again = new KernelChecks(features, { compile: counting, passed: passedBefore(first.names, true) });
    await again.checkAll();
    expect(again.failed).toEqual([]);
    const functions = first.names.filter((name) => !name.startsWith("interpreter: "));
    expect(again.right.toSorted()).toEqual(functions.toSorted());
    expect([...new Set(compiled.map(({ family }) => family))].toSorted()).toEqual(["elementwise", "matmul", "norm", "softmax"]);
    expect(again.describe(again.right)).toMatch(/ \(4\d\d remembered from 2026-11-26\)$|\(5\d\d remembered from 2026-11-26\)$/);

    const broken = new KernelChecks(features, { compile: breakingAll(), passed: passedBefore(first.names, true) });
    await broken.checkAll();
    expect(broken.failed.length).toBeGreaterThan(400);
    expect(broken.describe(broken.right)).not.toContain("remembered");
  });
});

describe("a model with a broken kernel", () => {
  const source: GraphSource = {
    weights: [],
    trace: (values, build) => {
      return new Map([["y", build.add({ kind: "gelu", approximate: "none" }, values.get("x") as Value)]]);
    },
  };
  const inputs: TensorMap = {
    x: { dataType: "float32", shape: [3, 5], data: Float32Array.from({ length: 15 }, (_, index) => Math.sin(index)) },
  };
  const run = async (kernelChecks: KernelChecks) => {
    const model = new EngineModel(source, { features, kernelChecks });
    const { y } = await model.run(inputs);
    const told = { y, interpreted: model.lastStepCounts?.interpreted, evidence: model.describeCode() };
    await model.dispose();
    return told;
  };

  it("gives the interpreter's results, and says so", async () => {
    const sound = await run(new KernelChecks(features));
    const broken = await run(new KernelChecks(features, { compile: breaking(({ key }) => key.includes('op:"gelu"')) }));
    expect(sound).toMatchObject({
      interpreted: 0,
      evidence: ["kernel checks: 2 functions of generated code agree with the interpreter"],
    });
    expect(broken.interpreted).toBe(1);
    expect(broken.evidence.join("\n")).toMatch(
      /\nkernel check failed: elementwise gelu float32: element 0 of .+ is right; the interpreter computes it instead$/,
    );
    for (const [index, value] of (sound.y!.data as Float32Array).entries())
      expect((broken.y!.data as Float32Array)[index]).toBeCloseTo(value, 6);
  });
});
