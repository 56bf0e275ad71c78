/** Rewrites of matrix products: common factors, associativity, products that share an operand. */
import { at } from "../../../contract/checked.ts";
import type { OnnxNode } from "../../../engine/onnx/onnx-model.ts";
import { type GraphEdit, intAttribute, type OperatorGraph, toAttributes } from "../operator-graph.ts";
import type { RewriteMatch, RewriteRule } from "../rewrite-rule.ts";

/** The two operands of a node. */
export function operandsOf({ inputs }: OnnxNode): readonly [string, string] {
  return [at(inputs, 0), at(inputs, 1)];
}

/** The only output of a node. */
export function outputOf({ outputs }: OnnxNode): string {
  return at(outputs, 0);
}

/** The product that computes a value, if nothing else reads it. */
export function onlyProduct(graph: OperatorGraph, name: string): OnnxNode | undefined {
  return graph.hasOneUse(name) && graph.floatShape(name) !== undefined ? graph.producer(name, "MatMul") : undefined;
}

/** A·C + B·C = (A + B)·C, and A·B + A·C = A·(B + C). */
export const factorSum: RewriteRule = {
  name: "factor-sum",
  identity: "A·C + B·C = (A + B)·C",
  *matches(graph) {
    for (const node of graph.nodes) {
      if (graph.producer(node.outputs[0], "Add", "Sub") !== node) continue;
      const [one, other] = operandsOf(node).map((name) => onlyProduct(graph, name));
      if (one === undefined || other === undefined || one === other) continue;
      const [a, c] = operandsOf(one);
      const [b, d] = operandsOf(other);
      const isRight = c === d && haveOneShape(graph, a, b);
      if (!isRight && !(a === b && haveOneShape(graph, c, d))) continue;
      yield {
        site: outputOf(node),
        matched: [node, one, other],
        rewrite(edit) {
          const sum = isRight ? edit.add(node.operator, [a, b]) : edit.add(node.operator, [c, d]);
          edit.replace([outputOf(node)], "MatMul", isRight ? [sum, c] : [a, sum]);
        },
      };
    }
  },
};

/** X·W + (X·A)·B = X·(W + A·B), where W, A and B are weights: an adapter of low rank (LoRA, Hu et al. 2021) is merged. */
export const mergeAdapter: RewriteRule = {
  name: "merge-adapter",
  identity: "X·W + (X·A)·B = X·(W + A·B)",
  *matches(graph) {
    for (const node of graph.nodes) {
      if (graph.producer(node.outputs[0], "Add") !== node) continue;
      const products = operandsOf(node).map((name) => onlyProduct(graph, name));
      for (const [direct, outer] of [products, products.toReversed()]) {
        if (direct === undefined || outer === undefined) continue;
        const [x, w] = operandsOf(direct);
        const [lowRank, b] = operandsOf(outer);
        const inner = onlyProduct(graph, lowRank);
        const [other, a] = inner === undefined ? [] : operandsOf(inner);
        if (inner === undefined || a === undefined || other !== x || ![w, a, b].every((name) => graph.isConstant(name))) continue;
        yield {
          site: outputOf(node),
          matched: [node, direct, outer, inner],
          rewrite(edit) {
            const merged = edit.add("Add", [w, edit.add("MatMul", [a, b])]);
            edit.replace([outputOf(node)], "MatMul", [x, merged]);
          },
        };
        break;
      }
    }
  },
};

/** Products of one operand by several weights become one by the weights side by side, with their biases. */
export const mergeProducts: RewriteRule = {
  name: "merge-products",
  identity: "(X·V | X·W) = X·(V | W)",
  *matches(graph) {
    const groups = new Map<string, ProductWithBias[]>();
    for (const node of graph.nodes) {
      const product = readProduct(graph, node);
      if (product === undefined) continue;
      const shape = graph.floatShape(product.weight)?.slice(0, -1).join();
      const key = JSON.stringify([product.x, shape, product.bias === undefined, graph.types.get(product.weight)?.dataType]);
      groups.set(key, [...(groups.get(key) ?? []), product]);
    }
    for (const group of groups.values()) if (group.length > 1) yield mergedProducts(graph, group);
  },
};

/** X·W + bias, where W and the bias are constants. */
interface ProductWithBias {
  readonly x: string;
  readonly weight: string;
  readonly bias: string | undefined;
  readonly output: string;
  readonly nodes: readonly OnnxNode[];
}

function readProduct(graph: OperatorGraph, node: OnnxNode): ProductWithBias | undefined {
  if (graph.producer(node.outputs[0], "MatMul") !== node) return undefined;
  const [x, weight] = operandsOf(node);
  const rank = graph.floatShape(weight)?.length ?? 0;
  if (!graph.isConstant(weight) || graph.isConstant(x) || rank < 2) return undefined;
  const product = outputOf(node);
  const [reader] = graph.readers(product);
  if (reader !== undefined && graph.hasOneUse(product) && graph.producer(reader.outputs[0], "Add") === reader) {
    const bias = reader.inputs.find((name) => name !== product);
    const isVector = bias !== undefined && graph.floatShape(bias)?.join() === String(graph.floatShape(weight)?.at(-1));
    if (isVector && graph.isConstant(bias)) return { x, weight, bias, output: outputOf(reader), nodes: [node, reader] };
  }
  return { x, weight, bias: undefined, output: product, nodes: [node] };
}

function mergedProducts(graph: OperatorGraph, group: readonly ProductWithBias[]): RewriteMatch {
  const outputs = group.map(({ output }) => output);
  const rank = graph.floatShape(at(outputs, 0))?.length ?? 0;
  const sizes = group.map(({ weight }) => graph.floatShape(weight)?.at(-1) ?? 0);
  return {
    site: at(outputs, 0),
    matched: group.flatMap(({ nodes }) => nodes),
    rewrite(edit) {
      const axis = (graph.floatShape(at(group, 0).weight)?.length ?? 0) - 1;
      const weights = edit.add(
        "Concat",
        group.map(({ weight }) => weight),
        toAttributes({ axis }),
      );
      const product = edit.add("MatMul", [at(group, 0).x, weights]);
      const biases = group.flatMap(({ bias }) => bias ?? []);
      const sum =
        biases.length === 0 ? product : edit.add("Add", [product, edit.add("Concat", biases, toAttributes({ axis: 0 }))]);
      edit.split(sum, rank - 1, sizes, outputs);
    },
  };
}

/** As `mergeProducts`, for Gemm. */
export const mergeGemms: RewriteRule = {
  name: "merge-gemms",
  identity: "(X·V + b | X·W + c) = X·(V | W) + (b | c)",
  *matches(graph) {
    const groups = new Map<string, OnnxNode[]>();
    for (const node of graph.nodes) {
      if (graph.producer(node.outputs[0], "Gemm") !== node || node.inputs.length !== 3) continue;
      const [x, weight, bias] = node.inputs;
      const isVector = graph.floatShape(bias)?.join() === String(graph.floatShape(outputOf(node))?.at(-1));
      if (!graph.isConstant(weight) || !graph.isConstant(bias) || graph.isConstant(x) || !isVector) continue;
      const key = JSON.stringify([x, [...node.attributes]]);
      groups.set(key, [...(groups.get(key) ?? []), node]);
    }
    for (const group of groups.values()) {
      if (group.length < 2) continue;
      const [first] = group;
      if (first === undefined) continue;
      yield {
        site: outputOf(first),
        matched: group,
        rewrite(edit) {
          const axis = intAttribute(first, "transB", 0) === 1 ? 0 : 1;
          const weights = edit.add(
            "Concat",
            group.map(({ inputs }) => at(inputs, 1)),
            toAttributes({ axis }),
          );
          const biases = edit.add(
            "Concat",
            group.map(({ inputs }) => at(inputs, 2)),
            toAttributes({ axis: 0 }),
          );
          const product = edit.add("Gemm", [at(first.inputs, 0), weights, biases], first.attributes);
          edit.split(
            product,
            1,
            group.map((node) => graph.floatShape(outputOf(node))?.at(-1) ?? 0),
            group.map(outputOf),
          );
        },
      };
    }
  },
};

/** A batch of products by different weights becomes products apart, whose weights a backend may lay out for its kernels. */
export const separateProducts: RewriteRule = {
  name: "separate-products",
  identity: "(X·W)[i] = X[i]·W[i]",
  *matches(graph) {
    for (const node of graph.nodes) {
      if (graph.producer(node.outputs[0], "MatMul") !== node) continue;
      const [x, weight] = operandsOf(node);
      const [shape, weights] = [graph.floatShape(x), graph.floatShape(weight)];
      if (shape?.length !== 3 || weights?.length !== 3 || !graph.isConstant(weight) || graph.isConstant(x)) continue;
      const [count = 0] = weights;
      if (count < 2 || count > maxSeparated || shape[0] !== count) continue;
      yield {
        site: outputOf(node),
        matched: [node],
        rewrite(edit) {
          const ones = Array.from({ length: count }, () => 1);
          const rows = edit.split(x, 0, ones);
          const matrices = edit.split(weight, 0, ones).map((each) => edit.squeeze(each, [0]));
          const products = rows.map((row, index) => edit.add("MatMul", [row, at(matrices, index)]));
          edit.replace([outputOf(node)], "Concat", products, toAttributes({ axis: 0 }));
        },
      };
    }
  },
};

/** Most products that a batch is separated into. */
const maxSeparated = 64;

/** The factors of a product of products, of rank 2 but for the first, in the order that takes the fewest multiplications. */
export const contractionOrder: RewriteRule = {
  name: "contraction-order",
  identity: "(A·B)·C = A·(B·C)",
  *matches(graph) {
    for (const node of graph.nodes) {
      if (graph.producer(node.outputs[0], "MatMul") !== node || graph.floatShape(outputOf(node)) === undefined) continue;
      const [reader] = graph.readers(outputOf(node));
      if (
        reader !== undefined &&
        onlyProduct(graph, outputOf(node)) !== undefined &&
        graph.producer(reader.outputs[0], "MatMul") === reader
      )
        continue; // part of a longer chain
      const inner: OnnxNode[] = [];
      const factors = getFactors(graph, node, inner);
      const shapes = factors.map((name) => graph.floatShape(name) ?? []);
      if (factors.length < 3 || shapes.some((shape, index) => shape.length !== 2 && (index > 0 || shape.length < 2))) continue;
      const rows = shapes[0]?.slice(0, -1).reduce((product, size) => product * size, 1) ?? 1;
      const sizes = [rows, ...shapes.map((shape) => shape.at(-1) ?? 1)];
      const constants = factors.map((name) => graph.isConstant(name));
      const best = cheapestOrder(sizes, constants);
      if (best.cost >= orderCost(graph, node, inner)) continue;
      yield {
        site: outputOf(node),
        matched: [node, ...inner],
        rewrite(edit) {
          const [left, right] = best.split.map((part) => build(edit, part, factors));
          edit.replace([outputOf(node)], "MatMul", [left ?? "", right ?? ""]);
        },
      };
    }
  },
};

/** The order of a chain: a factor, or a product of two parts. */
type Order = number | readonly [Order, Order];

function build(edit: GraphEdit, order: Order, factors: readonly string[]): string {
  if (typeof order === "number") return at(factors, order);
  return edit.add("MatMul", [build(edit, order[0], factors), build(edit, order[1], factors)]);
}

function getFactors(graph: OperatorGraph, node: OnnxNode, inner: OnnxNode[]): readonly string[] {
  return operandsOf(node).flatMap((name) => {
    const product = onlyProduct(graph, name);
    if (product === undefined) return [name];
    inner.push(product);
    return getFactors(graph, product, inner);
  });
}

/** Multiplications of the products as they are now; products of constants cost nothing in a run. */
function orderCost(graph: OperatorGraph, node: OnnxNode, inner: readonly OnnxNode[]): number {
  return [node, ...inner].reduce((sum, each) => {
    const [a, b] = operandsOf(each);
    if (graph.isConstant(a) && graph.isConstant(b)) return sum;
    const size = (graph.floatShape(a) ?? []).reduce((product, length) => product * length, 1);
    return sum + size * (graph.floatShape(b)?.at(-1) ?? 1);
  }, 0);
}

/**
 * The cheapest order of a chain of matrices of `sizes[i]` times `sizes[i + 1]`, by dynamic programming over its parts (Cormen et al., "Introduction to Algorithms", 14.2), as
 * opt_einsum's optimal path is for a chain.
 */
function cheapestOrder(
  sizes: readonly number[],
  constants: readonly boolean[],
): { readonly cost: number; readonly split: readonly [Order, Order] } {
  const known = new Map<string, { readonly cost: number; readonly order: Order; readonly isConstant: boolean }>();
  const solve = (first: number, last: number): { readonly cost: number; readonly order: Order; readonly isConstant: boolean } => {
    if (first === last) return { cost: 0, order: first, isConstant: constants[first] ?? false };
    const key = `${first} ${last}`;
    const found = known.get(key);
    if (found !== undefined) return found;
    let best: { readonly cost: number; readonly order: Order; readonly isConstant: boolean } | undefined;
    for (let middle = first; middle < last; middle += 1) {
      const [left, right] = [solve(first, middle), solve(middle + 1, last)];
      const isConstant = left.isConstant && right.isConstant;
      const own = isConstant ? 0 : at(sizes, first) * at(sizes, middle + 1) * at(sizes, last + 1);
      const cost = left.cost + right.cost + own;
      if (best === undefined || cost < best.cost) best = { cost, order: [left.order, right.order], isConstant };
    }
    if (best === undefined) throw new Error("an empty chain has no order");
    known.set(key, best);
    return best;
  };
  const { cost, order } = solve(0, constants.length - 1);
  if (typeof order === "number") throw new Error("a chain of one matrix has no order");
  return { cost, split: order };
}

function haveOneShape(graph: OperatorGraph, one: string, other: string): boolean {
  const [a, b] = [graph.types.get(one), graph.types.get(other)];
  return a !== undefined && b !== undefined && a.dataType === b.dataType && a.shape.join() === b.shape.join();
}
