import { describe, expect, it } from "vitest";
import { detectWasmFeatures, onnxSource, readOnnxModel } from "../../index.ts";
import { compileKernels } from "../../codegen/wasm/index.ts";
import { enableRelaxedSimd } from "../../codegen/wasm/v8-flags.ts";
import { evaluateNode } from "../../interpret/evaluate.ts";
import { toLiteral, toNumbers } from "../../ir/literal.ts";
import type { Operation } from "../../ir/operations.ts";
import { EngineModel } from "../engine-model.ts";
import { KernelChecks } from "../kernel-checks/kernel-checks.ts";
import { model, node, value } from "../../../../test/fixtures/models/onnx-bytes.ts";
import { readAnswerTable } from "./read-answers.ts";
import { InterpreterAnswers, interpretedNames } from "./known-answers.ts";

const answerTable = await readAnswerTable();

const features = detectWasmFeatures(enableRelaxedSimd);

/** The interpreter, with results of one operation that are a twentieth too small. */
function wrongIn(wrong: string): typeof evaluateNode {
  return (operation, inputs) => {
    const results = evaluateNode(operation, inputs);
    if (!interpretedNames(operation).includes(wrong)) return results;
    return results.map((each) => (each.dataType === "float32" ? scaled(each) : each));
  };
}

function scaled({ shape, ...literal }: ReturnType<typeof toLiteral>): ReturnType<typeof toLiteral> {
  return toLiteral(
    "float32",
    shape,
    Float64Array.from(toNumbers({ shape, ...literal }), (each) => each * 0.95),
  );
}

function checksWith(interpreter: typeof evaluateNode, compile: typeof compileKernels = compileKernels): KernelChecks {
  return new KernelChecks(features, {
    compile,
    interpreterAnswers: async () => new InterpreterAnswers(answerTable, interpreter),
  });
}

/** Erf of x, which generated code computes, and its determinant, which the interpreter computes. */
function engineWith(kernelChecks: KernelChecks): EngineModel {
  const bytes = model({
    opsets: { "": 22 },
    graph: [
      node({ operator: "Erf", inputs: ["x"], outputs: ["e"] }),
      node({ operator: "Det", inputs: ["e"], outputs: ["y"] }),
      value(11, "x"),
      value(12, "y"),
    ],
  });
  return new EngineModel(onnxSource(readOnnxModel(bytes, "made up").model), { features, kernelChecks });
}

const x = { dataType: "float32", shape: [2, 2], data: Float32Array.of(0.5, -1, 2, 0.25) } as const;

describe("known answers of the interpreter", () => {
  const answers = new InterpreterAnswers(answerTable);

  it("are right, and each operation has some", () => {
    expect(answers.names.flatMap((name) => answers.findProblem(name) ?? [])).toEqual([]);
    const kinds: readonly Operation["kind"][] = [
      "unary",
      "binary",
      "select",
      "cast",
      "bitcast",
      "reduce",
      "arg",
      "cumulative",
      "matmul",
    ];
    for (const kind of [
      ...kinds,
      "convolution",
      "convolution-transpose",
      "max-pool",
      "average-pool",
      "gather",
      "call tree-ensemble",
    ])
      expect(
        answers.names.some((name) => name.startsWith(kind)),
        kind,
      ).toBe(true);
  });

  it.each(["unary erf", "call determinant", "softmax", "convolution", "reduce sum"])("see that %s is wrong", (name) => {
    expect(new InterpreterAnswers(answerTable, wrongIn(name)).findProblem(name)).toMatch(/is right$/);
  });

  it("see that something is accepted that must be refused", () => {
    const text =
      'constant c0: string[1] = ["a"]\nv0: bool[] = call(c0) function=regex-full-match attributes={pattern:"("} types=[]\noutput y0 = v0';
    expect(new InterpreterAnswers({ "call regex-full-match": text }, () => []).findProblem("call regex-full-match")).toBe(
      "it accepts what it must refuse",
    );
    expect(new InterpreterAnswers({ "call regex-full-match": text }).findProblem("call regex-full-match")).toBeUndefined();
  });
});

describe("a model on an interpreter that is wrong", () => {
  it("is refused if the interpreter computes an operation of it", async () => {
    const engine = engineWith(checksWith(wrongIn("call determinant")));
    const refusal = { code: "VERIFICATION_FAILED", message: expect.stringContaining('"call determinant"') };
    await expect(engine.run({ x })).rejects.toThrow(expect.objectContaining(refusal));
    await engine.dispose();
  });

  it("runs if generated code computes the operation", async () => {
    const engine = engineWith(checksWith(wrongIn("unary erf")));
    expect((await engine.run({ x }))["y"]!.data[0]).toBeCloseTo(0.9828, 3);
    await engine.dispose();
  });
});

describe("generated code that differs from the interpreter", () => {
  /** Kernels whose outputs differ from the interpreter's. Where the interpreter is wrong, right kernels are among them. */
  const differing: typeof compileKernels = (kernels, memory, given) => {
    const compiled = compileKernels(kernels, memory, given);
    const functions = new Map(
      [...compiled.functions].map(([key, call]): [string, typeof call] => {
        const { parameters = [], dynamicSizes = [], family = "" } = kernels.find((kernel) => kernel.key === key) ?? {};
        const output = dynamicSizes.length + parameters.length - 1;
        return [
          key,
          (...args: number[]) => {
            const status = call(...args);
            if (family === "elementwise") new Uint8Array(memory.buffer)[args[output]! + 3]! ^= 0x40;
            return status;
          },
        ];
      }),
    );
    return { ...compiled, functions };
  };

  it("is excluded if the interpreter is right", async () => {
    const engine = engineWith(checksWith(evaluateNode, differing));
    expect((await engine.run({ x }))["y"]!.data[0]).toBeCloseTo(0.9828, 3);
    expect(engine.describeCode().join("\n")).toContain("the interpreter computes it instead");
    await engine.dispose();
  });

  it("is no reason to compute with an interpreter that is wrong: the model is refused", async () => {
    const engine = engineWith(checksWith(wrongIn("unary erf"), differing));
    const refusal = { code: "VERIFICATION_FAILED", message: expect.stringContaining('"unary erf"') };
    await expect(engine.run({ x })).rejects.toThrow(expect.objectContaining(refusal));
    await engine.dispose();
  });
});

describe("answers that were right in an earlier process", () => {
  it("are not read again", async () => {
    const names = ["interpreter: call determinant"];
    const passed = { names, isComplete: false, since: "2026-11-26T00:00:00Z", add: () => {} };
    const checks = new KernelChecks(features, { passed, interpreterAnswers: () => Promise.reject(new Error("read")) });
    await checks.checkInterpreter(["call determinant"], []);
    await expect(checks.checkInterpreter(["gather"], [])).rejects.toThrow("read");
  });

  it("are remembered by name", async () => {
    const added: string[] = [];
    const passed = { names: [], isComplete: false, since: undefined, add: (names: readonly string[]) => added.push(...names) };
    await new KernelChecks(features, { passed }).checkInterpreter(["gather", "unary erf"], []);
    expect(added).toEqual(["interpreter: gather", "interpreter: unary erf"]);
  });
});
