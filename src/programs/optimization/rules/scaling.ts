/** Rewrites that move factors through matrix products, and divisions to smaller tensors. */
import { at } from "../../../contract/checked.ts";
import { elementCount } from "../../../contract/tensor.ts";
import type { OnnxNode } from "../../../engine/onnx/onnx-model.ts";
import { type OperatorGraph } from "../operator-graph.ts";
import type { RewriteMatch, RewriteRule } from "../rewrite-rule.ts";
import { onlyProduct, operandsOf, outputOf } from "./products.ts";

/** A tensor times or divided by a smaller one that broadcasts. */
interface Scaled {
  readonly node: OnnxNode;
  readonly x: string;
  readonly factor: string;
}

/** Reads x * factor and x / factor, where x has the shape of the result. */
function readScaled(graph: OperatorGraph, name: string): readonly Scaled[] {
  const node = graph.producer(name, "Mul", "Div");
  const shape = graph.floatShape(name);
  if (node === undefined || shape === undefined) return [];
  const [a, b] = operandsOf(node);
  const orders = node.operator === "Div" ? [[a, b] as const] : [[a, b] as const, [b, a] as const];
  return orders.flatMap(([x, factor]) =>
    graph.floatShape(x)?.join() === shape.join() && x !== factor ? [{ node, x, factor }] : [],
  );
}

/** The shape of a value as a tensor of this rank. */
function ranked(graph: OperatorGraph, name: string, rank: number): readonly number[] {
  const shape = graph.floatShape(name) ?? [];
  return [...Array.from({ length: Math.max(0, rank - shape.length) }, () => 1), ...shape];
}

/** (s X)·Y = s (X·Y) for one factor a row of X, and X·(Y s) = (X·Y) s for one a column of Y. */
export const scaleAfterProduct: RewriteRule = {
  name: "scale-after-product",
  identity: "(s X)·Y = s (X·Y)",
  *matches(graph) {
    for (const node of graph.nodes) {
      if (graph.producer(node.outputs[0], "MatMul") !== node) continue;
      const rank = graph.floatShape(outputOf(node))?.length ?? 0;
      for (const [index, operand] of operandsOf(node).entries())
        for (const { node: scale, x, factor } of readScaled(graph, operand)) {
          const shape = ranked(graph, factor, rank);
          const operandRank = graph.floatShape(operand)?.length ?? 0;
          const isFree = index === 0 ? shape.at(-1) === 1 : shape.at(-2) === 1;
          if (!isFree || shape.length > rank || operandRank !== rank || graph.isConstant(operand)) continue;
          yield {
            site: outputOf(node),
            matched: [node, scale],
            rewrite(edit) {
              const inputs = operandsOf(node).map((name, each) => (each === index ? x : name));
              edit.replace([outputOf(node)], scale.operator, [edit.add("MatMul", inputs), factor]);
            },
          };
        }
    }
  },
};

/** s (X·Y) = (s X)·Y, where X is smaller than the product. */
export const scaleBeforeProduct: RewriteRule = {
  name: "scale-before-product",
  identity: "s (X·Y) = (s X)·Y",
  *matches(graph) {
    for (const node of graph.nodes)
      for (const { x, factor } of readScaled(graph, node.outputs[0] ?? "")) {
        const product = onlyProduct(graph, x);
        if (product === undefined || graph.producer(node.outputs[0], "Mul", "Div") !== node) continue;
        const operands = operandsOf(product);
        const shapes = operands.map((name) => graph.floatShape(name) ?? []);
        const rank = graph.floatShape(x)?.length ?? 0;
        const shape = ranked(graph, factor, rank);
        const index = shape.at(-1) === 1 ? 0 : shape.at(-2) === 1 ? 1 : -1;
        const operand = shapes[index];
        if (operand?.length !== rank || elementCount(operand) >= elementCount(graph.floatShape(x) ?? [])) continue;
        yield {
          site: outputOf(node),
          matched: [node, product],
          rewrite(edit) {
            const scaled = edit.add(node.operator, [at(operands, index), factor]);
            edit.replace(
              [outputOf(node)],
              "MatMul",
              operands.map((name, each) => (each === index ? scaled : name)),
            );
          },
        };
      }
  },
};

/** (X diag(g))·W = X·(diag(g) W), and (X·W) diag(g) = X·(W diag(g)): the weight of a norm becomes part of the next product. */
export const foldScaleIntoWeight: RewriteRule = {
  name: "fold-scale-into-weight",
  identity: "(X diag(g))·W = X·(diag(g) W)",
  *matches(graph) {
    for (const node of graph.nodes) {
      if (graph.producer(node.outputs[0], "MatMul") === node) {
        const [operand, weight] = operandsOf(node);
        const size = graph.floatShape(weight)?.at(-2);
        if (!graph.isConstant(weight)) continue;
        for (const { node: scale, x, factor } of readScaled(graph, operand)) {
          if (scale.operator !== "Mul" || !graph.isConstant(factor) || graph.floatShape(factor)?.join() !== String(size))
            continue;
          yield {
            site: outputOf(node),
            matched: [node, scale],
            rewrite(edit) {
              edit.replace([outputOf(node)], "MatMul", [x, edit.add("Mul", [weight, edit.unsqueeze(factor, [1])])]);
            },
          };
        }
        continue;
      }
      for (const { x, factor } of readScaled(graph, node.outputs[0] ?? "")) {
        const product = onlyProduct(graph, x);
        const [a, weight] = product === undefined ? [] : operandsOf(product);
        if (product === undefined || a === undefined || !graph.isConstant(weight) || weight === undefined) continue;
        const shape = graph.floatShape(factor)?.join() ?? "none";
        if (!graph.isConstant(factor) || (shape !== "" && shape !== String(graph.floatShape(weight)?.at(-1)))) continue;
        yield {
          site: outputOf(node),
          matched: [node, product],
          rewrite(edit) {
            edit.replace([outputOf(node)], "MatMul", [a, edit.add(node.operator, [weight, factor])]);
          },
        };
      }
    }
  },
};

/** Whether something reads one of these values. */
function isRead(graph: OperatorGraph, names: readonly string[]): boolean {
  return names.some((name) => graph.readers(name).length > 0 || graph.isOutput(name));
}

/** The scale and the shift of a layer norm become part of the product that follows. */
export const foldNormIntoWeight: RewriteRule = {
  name: "fold-norm-into-weight",
  identity: "(n(X) g + b)·W = n(X)·(diag(g) W) + b·W",
  *matches(graph) {
    for (const norm of graph.nodes) {
      if (graph.producer(norm.outputs[0], "LayerNormalization") !== norm || isRead(graph, norm.outputs.slice(1))) continue;
      const [x, scale, shift] = norm.inputs;
      const normalized = outputOf(norm);
      const [node] = graph.readers(normalized);
      if (
        x === undefined ||
        scale === undefined ||
        node === undefined ||
        !graph.hasOneUse(normalized) ||
        graph.producer(node.outputs[0], "MatMul") !== node
      )
        continue;
      const weight = at(node.inputs, 1);
      const type = graph.types.get(scale);
      if (node.inputs[0] !== normalized || type?.dataType !== "float32" || type.shape.length !== 1) continue;
      if (
        ![weight, scale, ...(shift === undefined ? [] : [shift])].every((name) => graph.isConstant(name)) ||
        graph.floatShape(weight)?.length !== 2
      )
        continue;
      const known = graph.literal(scale);
      if (shift === undefined && known !== undefined && (known.data as Float32Array).every((value) => value === 1)) continue; // it was folded before
      yield {
        site: outputOf(node),
        matched: [norm, node],
        rewrite(edit) {
          const ones = edit.literal({
            dataType: "float32",
            shape: type.shape,
            data: new Float32Array(elementCount(type.shape)).fill(1),
          });
          const plain = edit.add("LayerNormalization", [x, ones], norm.attributes);
          const scaled = edit.add("Mul", [weight, edit.unsqueeze(scale, [1])]);
          if (shift === undefined) return edit.replace([outputOf(node)], "MatMul", [plain, scaled]);
          const added = edit.squeeze(edit.add("MatMul", [edit.unsqueeze(shift, [0]), weight]), [0]);
          edit.replace([outputOf(node)], "Add", [edit.add("MatMul", [plain, scaled]), added]);
        },
      };
    }
  },
};

/** Elements of the divided tensor for each of the divisor, from where on its reciprocal pays. */
const minDividedPerDivisor = 8;

/** x / d = x (1 / d), where d has fewer elements. */
export const multiplyByReciprocal: RewriteRule = {
  name: "multiply-by-reciprocal",
  identity: "x / d = x (1 / d)",
  *matches(graph) {
    for (const node of graph.nodes) {
      if (graph.producer(node.outputs[0], "Div") !== node) continue;
      const [x, divisor] = operandsOf(node);
      const [shape, small] = [graph.floatShape(x), graph.floatShape(divisor)];
      if (
        shape === undefined ||
        small === undefined ||
        graph.isConstant(divisor) ||
        elementCount(shape) < minDividedPerDivisor * elementCount(small)
      )
        continue;
      yield {
        site: outputOf(node),
        matched: [node],
        rewrite(edit) {
          edit.replace([outputOf(node)], "Mul", [x, edit.add("Reciprocal", [divisor])]);
        },
      };
    }
  },
};

/** softmax(S)·V = (exp(S - max(S))·V) / sum(exp(S - max(S))): fewer elements are divided (Mirage, section 3). */
export const divideAfterAttention: RewriteRule = {
  name: "divide-after-attention",
  identity: "softmax(S)·V = (exp(S - m)·V) / Σ exp(S - m)",
  *matches(graph) {
    for (const node of graph.nodes) {
      if (graph.producer(node.outputs[0], "MatMul") !== node) continue;
      const [weights, values] = operandsOf(node);
      const softmax = graph.hasOneUse(weights) ? graph.producer(weights, "Softmax") : undefined;
      const shape = graph.floatShape(weights);
      if (softmax === undefined || shape === undefined) continue;
      const attribute = softmax.attributes.get("axis");
      const axis = attribute?.kind === "int" ? attribute.value : graph.version >= 13 ? -1 : 1;
      if ((axis < 0 ? axis + shape.length : axis) !== shape.length - 1) continue;
      yield deferredDivision(node, softmax, values, shape.length - 1);
    }
  },
};

function deferredDivision(node: OnnxNode, softmax: OnnxNode, values: string, axis: number): RewriteMatch {
  return {
    site: outputOf(node),
    matched: [node, softmax],
    rewrite(edit) {
      const scores = at(softmax.inputs, 0);
      const exponentials = edit.add("Exp", [edit.add("Sub", [scores, edit.reduce("ReduceMax", scores, [axis])])]);
      const sums = edit.reduce("ReduceSum", exponentials, [axis]);
      edit.replace([outputOf(node)], "Div", [edit.add("MatMul", [exponentials, values]), sums]);
    },
  };
}
