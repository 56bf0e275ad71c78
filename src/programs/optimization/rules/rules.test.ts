/** Each rule on a graph that it applies to: it is proved, and the interpreter computes the same. */
import { describe, expect, it } from "vitest";
import type { Tensor, TensorMap } from "../../../contract/tensor.ts";
import { toLiteral } from "../../../engine/ir/literal.ts";
import { interpretGraph } from "../../compilation/interpret-graph.ts";
import { probeTensor } from "../../compilation/probe-tensors.ts";
import { defineProgram, type ProgramBuilder } from "../../definition/define-program.ts";
import { programFromModel } from "../../definition/program-from-model.ts";
import type { Program } from "../../definition/program.ts";
import type { ProgramValue } from "../../definition/program-value.ts";
import { sizedShape, traceProgram } from "../../definition/trace-program.ts";
import { applyRule } from "../apply-rule.ts";
import { type GraphEdit, OperatorGraph } from "../operator-graph.ts";
import { rewriteRules } from "./index.ts";

type Build = (builder: ProgramBuilder) => ProgramValue;

const rows: readonly (readonly [rule: string, build: Build])[] = [
  [
    "merge-adapter",
    ({ input, weight, matmul, add }) => {
      const x = input("x", [3, 8]);
      return add(matmul(matmul(x, weight("a", [8, 2])), weight("b", [2, 5])), matmul(x, weight("w", [8, 5])));
    },
  ],
  [
    "contraction-order",
    ({ input, weight, matmul }) =>
      matmul(matmul(matmul(input("x", [2, 9, 4]), weight("a", [4, 50])), weight("b", [50, 3])), weight("c", [3, 6])),
  ],
  [
    "einsum-order",
    ({ input, weight, einsum }) =>
      einsum(input("x", [9, 20]), weight("a", [20, 3]), weight("b", [3, 7]), { equation: "ij,jk,kl->il" }),
  ],
  [
    "factor-sum",
    ({ input, weight, matmul, sub }) => {
      const w = weight("w", [6, 4]);
      return sub(matmul(input("x", [3, 6]), w), matmul(input("z", [3, 6]), w));
    },
  ],
  [
    "merge-products",
    ({ input, weight, matmul, add, multiply }) => {
      const x = input("x", [2, 3, 6]);
      return multiply(
        add(matmul(x, weight("w", [6, 4])), weight("b", [4])),
        add(matmul(x, weight("v", [6, 4])), weight("c", [4])),
      );
    },
  ],
  [
    "merge-gemms",
    ({ input, weight, gemm, multiply }) => {
      const x = input("x", [3, 6]);
      return multiply(
        gemm(x, weight("w", [4, 6]), weight("b", [4]), { transB: 1 }),
        gemm(x, weight("v", [4, 6]), weight("c", [4]), { transB: 1 }),
      );
    },
  ],
  ["separate-products", ({ input, weight, matmul }) => matmul(input("x", [4, 3, 6]), weight("w", [4, 6, 5]))],
  [
    "fold-scale-into-weight",
    ({ input, weight, mul, matmul }) => matmul(mul(input("x", [3, 6]), weight("g", [6])), weight("w", [6, 4])),
  ],
  [
    "fold-norm-into-weight",
    ({ input, weight, layerNormalization, matmul }) =>
      matmul(
        layerNormalization(input("x", [3, 6]), weight("g", [6]), weight("b", [6]), { epsilon: 0.01 })[0],
        weight("w", [6, 4]),
      ),
  ],
  [
    "share-subexpressions",
    ({ input, weight, matmul, sigmoid, tanh, add }) => {
      const [x, w] = [input("x", [3, 6]), weight("w", [6, 4])];
      return add(sigmoid(matmul(x, w)), tanh(matmul(x, w)));
    },
  ],
  ["scale-before-product", ({ input, matmul, mul }) => mul(matmul(input("x", [3, 6]), input("z", [6, 40])), 0.3)],
  ["scale-after-product", ({ input, matmul, div }) => matmul(div(input("x", [3, 6]), input("s", [3, 1])), input("z", [6, 4]))],
  ["multiply-by-reciprocal", ({ input, div, exp }) => div(input("x", [3, 16]), exp(input("s", [3, 1])))],
  [
    "divide-after-attention",
    ({ input, softmax, matmul }) => matmul(softmax(input("x", [2, 3, 6]), { axis: -1 }), input("v", [2, 6, 4])),
  ],
  ["sum-by-product", ({ input, reduceMean }) => reduceMean(input("x", [2, 7, 5]), [1], { keepdims: 1 })],
  [
    "merge-transposes",
    ({ input, transpose, matmul }) =>
      matmul(transpose(input("x", [6, 3]), { perm: [1, 0] }), transpose(input("z", [4, 6]), { perm: [1, 0] })),
  ],
  [
    "transpose-product",
    ({ input, weight, transpose, matmul }) => transpose(matmul(weight("w", [4, 6]), input("x", [6, 3])), { perm: [1, 0] }),
  ],
  [
    "factor-elementwise",
    ({ input, weight, mul, add }) => {
      const c = weight("c", [4]);
      return add(mul(input("x", [3, 4]), c), mul(c, input("z", [3, 4])));
    },
  ],
];

/** The model of a program with pseudo-random weights, as a graph. */
function toGraph(program: Program): OperatorGraph {
  const weights = new Map(
    program.weights.map(({ name, dataType, shape }, index) => [name, probeTensor({ dataType, shape }, "positive", 100 + index)]),
  );
  const types = program.inputs.map(
    ({ name, dataType, shape }) => [name, { dataType, shape: sizedShape(shape, program.exampleSizes) }] as const,
  );
  return new OperatorGraph(program.toOnnx(weights), new Map(types));
}

async function interpret(program: Program, { model }: OperatorGraph): Promise<TensorMap> {
  const own = programFromModel(model, program);
  const { graph } = traceProgram(own, own.open(), { sizes: program.exampleSizes, weights: new Map() });
  return await interpretGraph(
    graph,
    Object.fromEntries(
      graph.inputs.map(({ name, value }, index): [string, Tensor] => [name, probeTensor(value.type, "signed", index + 1)]),
    ),
  );
}

describe("rewrite rules", () => {
  it.each(rows)("%s", async (name, build) => {
    const program = defineProgram((builder) => ({ y: build(builder) }));
    const rule = rewriteRules.find((each) => each.name === name);
    const before = toGraph(program);
    const result = rule && applyRule(before, rule, undefined, new Map());
    if (result === undefined || "reason" in result) throw new Error(result?.reason ?? "there is no such rule");
    const [expected, computed] = [await interpret(program, before), await interpret(program, result.graph)];
    const [right, found] = [expected["y"]?.data as Float32Array, computed["y"]?.data as Float32Array];
    expect(found).toHaveLength(right.length);
    for (const [index, value] of right.entries()) expect(found[index]).toBeCloseTo(value, 4);
  });

  it("has a case for each rule", () => {
    expect(rows.map(([name]) => name).toSorted()).toEqual(rewriteRules.map(({ name }) => name).toSorted());
  });

  it("disproves a rewrite that is wrong where random elements differ", () => {
    const program = defineProgram(({ input, weight, matmul, softmax }) => ({
      y: matmul(softmax(input("x", [3, 6])), weight("w", [6, 4])),
    }));
    const graph = toGraph(program);
    const wrong = {
      name: "wrong",
      identity: "softmax(X)·W = X·W",
      *matches(from: OperatorGraph) {
        const [softmax, product] = from.nodes;
        if (softmax === undefined || product?.operator !== "MatMul") return;
        yield {
          site: product.outputs[0] ?? "",
          matched: [softmax, product],
          rewrite: (edit: GraphEdit) => edit.replace(product.outputs, "MatMul", ["x", product.inputs[1] ?? ""]),
        };
      },
    };
    expect(applyRule(graph, wrong, "matmul_1_0", new Map())).toEqual({
      reason: 'over a finite field the two forms differ at "matmul_1_0"',
    });
  });

  it("does not prove what differs by a constant factor, and proves what a constant of the graph makes equal", () => {
    const program = defineProgram(({ input, mul, constant }) => ({
      y: mul(input("x", [4]), constant(toLiteral("float32", [], [2]) as Tensor)),
    }));
    const graph = toGraph(program);
    const double = (operator: string, inputs: readonly string[]) => ({
      name: "double",
      identity: "2 x = x + x",
      *matches(from: OperatorGraph) {
        const [product] = from.nodes;
        if (product?.operator === "Mul")
          yield {
            site: product.outputs[0] ?? "",
            matched: [product],
            rewrite: (edit: GraphEdit) => edit.replace(product.outputs, operator, inputs),
          };
      },
    });
    expect(applyRule(graph, double("Add", ["x", "x"]), undefined, new Map())).toMatchObject({ places: 1 });
    expect(applyRule(graph, double("Mul", ["x", "x"]), "mul_0_0", new Map())).toHaveProperty("reason");
  });
});
