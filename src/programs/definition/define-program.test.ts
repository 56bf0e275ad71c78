import { describe, expect, it } from "vitest";
import { operatorRule } from "../../engine/onnx/operators/table.ts";
import { operatorSamples } from "../../testing/operator-samples.ts";
import { defineProgram, type ProgramBuilder, type ProgramValue } from "../index.ts";
import { manyOutputOperators, operatorAliases, singleOutputOperators, toBuilderName } from "./operator-names.ts";

const define =
  (build: (builder: ProgramBuilder) => unknown): (() => unknown) =>
  () =>
    defineProgram(build as (builder: ProgramBuilder) => Record<string, ProgramValue>);

describe("the builder", () => {
  it("has operators that the engine has, each once, and the samples know no others", () => {
    const names = [...singleOutputOperators, ...Object.keys(manyOutputOperators)];
    expect(new Set(names).size).toBe(names.length);
    for (const name of [...names, ...Object.values(operatorAliases)]) expect(operatorRule("", name, 28), name).toBeDefined();
    const known = new Set(names.map(toBuilderName));
    expect(Object.keys(operatorSamples).filter((name) => !known.has(name))).toEqual([]);
    expect(["MatMul", "LSTM", "RMSNormalization", "IsNaN"].map(toBuilderName)).toEqual([
      "matMul",
      "lstm",
      "rmsNormalization",
      "isNaN",
    ]);
  });

  it("describes what a program takes and gives", () => {
    const program = defineProgram(({ input, weight, state, update, add, topK }) => {
      const sum = add(input("x", ["rows", 3]), weight("w", [3], "float32"));
      const count = state("count", [1], { initial: Float32Array.of(2) });
      update(count, add(count, 1));
      const [values, indices] = topK(sum, [2]);
      return { values, indices: indices as ProgramValue };
    });
    expect(program).toMatchObject({
      inputs: [{ name: "x", dataType: "float32", shape: ["rows", 3] }],
      weights: [{ name: "w", dataType: "float32", shape: [3] }],
      states: [{ name: "count", shape: [1], initial: { data: Float32Array.of(2) } }],
      outputs: ["values", "indices"],
      exampleSizes: new Map([["rows", 2]]),
    });
  });

  it("takes sizes for dimensions that belong together", () => {
    const build = ({ input, add, concat }: ProgramBuilder): Record<string, ProgramValue> => {
      const x = input("x", ["n"]);
      return { y: add(concat(x, x, { axis: 0 }), input("y", ["twice"])) };
    };
    expect(define(build)).toThrow(
      expect.objectContaining({
        code: "MODEL_UNSUPPORTED",
        remedy: expect.stringMatching(/sizes: \{ n, twice \}/) as string,
      }) as Error,
    );
    expect(defineProgram(build, { sizes: { n: 4, twice: 8 } }).exampleSizes).toEqual(
      new Map([
        ["n", 4],
        ["twice", 8],
      ]),
    );
    expect(() => defineProgram(build, { sizes: { m: 4 } })).toThrow(/names no free dimension/);
  });

  it.each([
    ["no outputs", () => ({}), /no outputs/],
    ["an output that is none", () => ({ y: 3 }), /"y" is not a value/],
    [
      "a name that is taken",
      ({ input }: ProgramBuilder) => ({ y: [input("x", [1]), input("x", [1])][0] }),
      /"x" is given to two/,
    ],
    ["dimensions that are none", ({ input }: ProgramBuilder) => ({ y: input("x", [-1]) }), /dimensions of the input "x"/],
    [
      "a free dimension of a weight",
      ({ weight }: ProgramBuilder) => ({ y: weight("w", ["n"] as never) }),
      /whole numbers from 0/,
    ],
    ["texts", ({ input }: ProgramBuilder) => ({ y: input("x", [1], "string") }), /type of the input "x" is "string"/],
    [
      "shapes that do not fit",
      ({ input, matmul }: ProgramBuilder) => ({ y: matmul(input("x", [2, 3]), input("z", [2, 3])) }),
      /MatMul 0, given float32\[2,3\], float32\[2,3\]/,
    ],
    [
      "an unknown attribute",
      ({ input, softmax }: ProgramBuilder) => ({ y: softmax(input("x", [2]), { axes: 1 }) }),
      /attribute "axes" is unknown/,
    ],
    [
      "an operand that is none",
      ({ input, add }: ProgramBuilder) => ({ y: add(input("x", [2]), "2" as never) }),
      /input 1 of Add is neither/,
    ],
    [
      "a shape that depends on values",
      ({ input, reshape }: ProgramBuilder) => ({ y: reshape(input("x", [4]), input("s", [2], "int64")) }),
      /needs a constant there/,
    ],
    [
      "a state that is updated twice",
      ({ state, update, add }: ProgramBuilder) => {
        const s = state("s", [1]);
        update(s, add(s, 1));
        update(s, add(s, 2));
        return { y: s };
      },
      /"s" is updated twice/,
    ],
    [
      "a state of another type",
      ({ state, update, input }: ProgramBuilder) => {
        const s = state("s", [1]);
        update(s, input("x", [2]));
        return { y: s };
      },
      /the new value of the state "s" is float32\[2\]/,
    ],
    [
      "split without a number",
      ({ input, split }: ProgramBuilder) => ({ y: split(input("x", [4]))[0] }),
      /split needs the number of its parts/,
    ],
  ] as const)("refuses %s", (_name, build, words) => {
    expect(define(build as (builder: ProgramBuilder) => unknown)).toThrow(words);
  });

  it("refuses values of another program", () => {
    let other: ProgramValue | undefined;
    defineProgram(({ input }) => ({ y: (other = input("other", [2])) }));
    expect(define(({ input, add }) => ({ y: add(input("x", [2]), other) }))).toThrow(
      /the input "other" is used that this program does not have/,
    );
  });
});
