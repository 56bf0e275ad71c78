/** Rewrites of transposes, reductions, repeated and distributed operators. */
import { at } from "../../../contract/checked.ts";
import { toLiteral } from "../../../engine/ir/literal.ts";
import { intAttribute, intsAttribute, isPure, type OperatorGraph, toAttributes } from "../operator-graph.ts";
import type { RewriteRule } from "../rewrite-rule.ts";
import type { OnnxNode } from "../../../engine/onnx/onnx-model.ts";
import { onlyProduct, operandsOf, outputOf } from "./products.ts";

/** Equal operators with equal inputs are computed once. */
export const shareSubexpressions: RewriteRule = {
  name: "share-subexpressions",
  identity: "f(x), f(x) = y, y where y = f(x)",
  *matches(graph) {
    const seen = new Map<string, OnnxNode>();
    for (const node of graph.nodes) {
      if (!isPure(node) || node.outputs.length !== 1 || [...node.attributes.values()].some(({ kind }) => kind === "tensor"))
        continue;
      const key = JSON.stringify([
        node.operator,
        node.inputs,
        [...node.attributes].toSorted(([one], [other]) => one.localeCompare(other)),
      ]);
      const first = seen.get(key);
      if (first === undefined) {
        seen.set(key, node);
        continue;
      }
      yield {
        site: outputOf(node),
        matched: [first, node],
        rewrite: (edit) => edit.replace([outputOf(node)], "Identity", [outputOf(first)]),
      };
    }
  },
};

/** a c + b c = (a + b) c, element by element. */
export const factorElementwise: RewriteRule = {
  name: "factor-elementwise",
  identity: "a c + b c = (a + b) c",
  *matches(graph) {
    for (const node of graph.nodes) {
      if (graph.producer(node.outputs[0], "Add", "Sub") !== node) continue;
      const [one, other] = operandsOf(node).map((name) =>
        graph.hasOneUse(name) && graph.floatShape(name) !== undefined ? graph.producer(name, "Mul") : undefined,
      );
      if (one === undefined || other === undefined || one === other) continue;
      const common = one.inputs.find((name) => other.inputs.includes(name));
      if (common === undefined) continue;
      const [a, b] = [one, other].map(({ inputs }) => at(inputs, inputs[0] === common ? 1 : 0));
      if (a === undefined || b === undefined) continue;
      yield {
        site: outputOf(node),
        matched: [node, one, other],
        rewrite: (edit) => edit.replace([outputOf(node)], "Mul", [edit.add(node.operator, [a, b]), common]),
      };
    }
  },
};

/** Whether a node swaps the last two axes and keeps the others. */
function isMatrixTranspose(graph: OperatorGraph, node: OnnxNode | undefined): node is OnnxNode {
  if (node === undefined) return false;
  const rank = graph.floatShape(node.inputs[0])?.length ?? 0;
  const permutation = intsAttribute(node, "perm") ?? Array.from({ length: rank }, (_, axis) => rank - 1 - axis);
  return rank >= 2 && permutation.every((axis, index) => axis === swapped(index, rank));
}

function swapped(axis: number, rank: number): number {
  return axis === rank - 1 ? rank - 2 : axis === rank - 2 ? rank - 1 : axis;
}

function swapAttribute(rank: number): OnnxNode["attributes"] {
  return toAttributes({ perm: Array.from({ length: rank }, (_, axis) => swapped(axis, rank)) });
}

/** Aᵀ·Bᵀ = (B·A)ᵀ */
export const mergeTransposes: RewriteRule = {
  name: "merge-transposes",
  identity: "Aᵀ·Bᵀ = (B·A)ᵀ",
  *matches(graph) {
    for (const node of graph.nodes) {
      if (graph.producer(node.outputs[0], "MatMul") !== node) continue;
      const [one, other] = operandsOf(node).map((name) => graph.producer(name, "Transpose"));
      if (!isMatrixTranspose(graph, one) || !isMatrixTranspose(graph, other)) continue;
      const rank = graph.floatShape(outputOf(node))?.length ?? 0;
      yield {
        site: outputOf(node),
        matched: [node, one, other],
        rewrite(edit) {
          const product = edit.add("MatMul", [at(other.inputs, 0), at(one.inputs, 0)]);
          edit.replace([outputOf(node)], "Transpose", [product], swapAttribute(rank));
        },
      };
    }
  },
};

/** (W·X)ᵀ = Xᵀ·Wᵀ: a transposed product becomes a product in the other order, whose weight is transposed once. */
export const transposeProduct: RewriteRule = {
  name: "transpose-product",
  identity: "(A·B)ᵀ = Bᵀ·Aᵀ",
  *matches(graph) {
    for (const node of graph.nodes) {
      if (graph.producer(node.outputs[0], "Transpose") !== node || !isMatrixTranspose(graph, node)) continue;
      const product = onlyProduct(graph, at(node.inputs, 0));
      if (product === undefined) continue;
      const [a, b] = operandsOf(product);
      const ranks = [a, b].map((name) => graph.floatShape(name)?.length ?? 0);
      const rank = graph.floatShape(outputOf(node))?.length ?? 0;
      if (ranks.some((each) => each !== rank)) continue;
      yield {
        site: outputOf(node),
        matched: [node, product],
        rewrite(edit) {
          const transposed = [b, a].map((name) => {
            const source = graph.producer(name, "Transpose");
            if (isMatrixTranspose(graph, source)) return at(source.inputs, 0);
            return edit.add("Transpose", [name], swapAttribute(rank));
          });
          edit.replace([outputOf(node)], "MatMul", transposed);
        },
      };
    }
  },
};

/** Sums along an axis are products with a vector of ones: a backend may have the faster kernel for them. */
export const sumByProduct: RewriteRule = {
  name: "sum-by-product",
  identity: "Σ x = 1ᵀ·x",
  *matches(graph) {
    for (const node of graph.nodes) {
      if (graph.producer(node.outputs[0], "ReduceSum", "ReduceMean") !== node || intAttribute(node, "keepdims", 1) !== 1)
        continue;
      const x = at(node.inputs, 0);
      const [shape, type] = [graph.floatShape(x), graph.types.get(x)];
      const axes = node.inputs[1] === undefined ? intsAttribute(node, "axes") : graph.integers(node.inputs[1]);
      if (shape === undefined || shape.length < 2 || type?.dataType !== "float32" || axes?.length !== 1) continue;
      const rank = shape.length;
      const axis = (at(axes, 0) + rank) % rank;
      const size = at(shape, axis);
      if (axis < rank - 2 || size < 2) continue;
      const isColumn = axis === rank - 1;
      yield {
        site: outputOf(node),
        matched: [node],
        rewrite(edit) {
          const ones = edit.literal(toLiteral("float32", isColumn ? [size, 1] : [1, size], new Float32Array(size).fill(1)));
          const inputs = isColumn ? [x, ones] : [ones, x];
          if (node.operator === "ReduceSum") return edit.replace([outputOf(node)], "MatMul", inputs);
          edit.replace([outputOf(node)], "Div", [edit.add("MatMul", inputs), edit.literal(toLiteral("float32", [], [size]))]);
        },
      };
    }
  },
};

/** An Einsum of three and more operands becomes products of two, in the order that takes the fewest multiplications (as opt_einsum's optimal path, Smith and Gray 2018). */
export const einsumOrder: RewriteRule = {
  name: "einsum-order",
  identity: "Σ a b c = Σ a (Σ b c)",
  *matches(graph) {
    for (const node of graph.nodes) {
      if (graph.producer(node.outputs[0], "Einsum") !== node || node.inputs.length < 3 || node.inputs.length > maxOperands)
        continue;
      const equation = node.attributes.get("equation");
      if (equation?.kind !== "string") continue;
      const [left = "", result] = equation.value.replaceAll(" ", "").split("->");
      const terms = left.split(",");
      if (result === undefined || !/^[a-zA-Z,]*$/.test(left) || terms.length !== node.inputs.length) continue;
      const sizes = new Map(
        terms.flatMap((term, index) =>
          term.split("").map((letter, axis): [string, number] => [letter, graph.floatShape(node.inputs[index])?.[axis] ?? 1]),
        ),
      );
      const steps = cheapestContraction(terms, result, sizes);
      yield {
        site: outputOf(node),
        matched: [node],
        rewrite(edit) {
          const operands = node.inputs.map((name, index) => ({ name, term: terms[index] ?? "" }));
          for (const [index, { pair, term }] of steps.entries()) {
            const [a, b] = pair.map((place) => at(operands, place));
            if (a === undefined || b === undefined) throw new Error("an operand is missing");
            const attributes = toAttributes({ equation: `${a.term},${b.term}->${term}` });
            if (index === steps.length - 1) edit.replace([outputOf(node)], "Einsum", [a.name, b.name], attributes);
            else operands.push({ name: edit.add("Einsum", [a.name, b.name], attributes), term });
          }
        },
      };
    }
  },
};

/** Most operands whose orders are all tried: 6 have 945 orders. */
const maxOperands = 6;

/** One contraction of two operands. Operands are numbered: first the given ones, then the results. */
interface Contraction {
  readonly pair: readonly [number, number];
  /** The indices of the result. */
  readonly term: string;
}

function cheapestContraction(
  terms: readonly string[],
  result: string,
  sizes: ReadonlyMap<string, number>,
): readonly Contraction[] {
  const costOf = (letters: Iterable<string>): number =>
    [...new Set(letters)].reduce((product, letter) => product * (sizes.get(letter) ?? 1), 1);
  const search = (
    open: readonly (readonly [number, string])[],
    next: number,
  ): { readonly cost: number; readonly steps: readonly Contraction[] } => {
    if (open.length === 1) return { cost: 0, steps: [] };
    let best: { readonly cost: number; readonly steps: readonly Contraction[] } | undefined;
    for (let i = 0; i < open.length; i += 1)
      for (let j = i + 1; j < open.length; j += 1) {
        const [[one, a], [other, b]] = [at(open, i), at(open, j)];
        const rest = open.filter((_, index) => index !== i && index !== j);
        const needed = new Set((result + rest.map(([, term]) => term).join("")).split(""));
        const term = rest.length === 0 ? result : [...new Set(a + b)].filter((letter) => needed.has(letter)).join("");
        const after = search([...rest, [next, term]], next + 1);
        const cost = costOf(a + b) + after.cost;
        if (best === undefined || cost < best.cost) best = { cost, steps: [{ pair: [one, other], term }, ...after.steps] };
      }
    return best ?? { cost: 0, steps: [] };
  };
  return search(
    terms.map((term, index) => [index, term] as const),
    terms.length,
  ).steps;
}
