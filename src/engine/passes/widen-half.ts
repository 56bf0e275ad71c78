/**
 * Computes float16 graphs in float32, for which there are kernels. Float16 values are converted where they enter the graph and rounded back where they
 * leave it; intermediate values are not rounded, so results are at least as exact.
 */
import { at } from "../../contract/checked.ts";
import type { Graph, GraphNode, NamedValue, Value } from "../ir/graph.ts";
import type { TensorType } from "../ir/tensor-type.ts";
import { inferTypes } from "../ir/shape-inference/index.ts";
import type { Literal } from "../ir/literal.ts";
import type { Operation } from "../ir/operations.ts";
import { evaluateNode, type ConstantFolder } from "../interpret/evaluate.ts";

/** Widens all float16 values to float32. Returns the graph unchanged if an operation depends on the bits of float16. */
export function widenHalf(graph: Graph, fold: ConstantFolder = evaluateNode): Graph {
  const hasFloat16 = ({ inputs, outputs }: GraphNode): boolean => inputs.some(isHalf) || outputs.some(isHalf);
  if (!graph.nodes.some(hasFloat16) || graph.nodes.some(needsBits)) return graph;
  return new Widening(fold).graph(graph);
}

function isHalf({ type }: { readonly type: TensorType }): boolean {
  return type.dataType === "float16";
}

/** Whether an operation depends on the float16 representation: a bitcast, or an interpreted function with declared types. */
function needsBits({ operation, inputs, outputs }: GraphNode): boolean {
  return (operation.kind === "bitcast" || operation.kind === "call") && [...inputs, ...outputs].some(isHalf);
}

/** One rewrite of a graph from float16 to float32. */
class Widening {
  readonly #nodes: GraphNode[] = [];
  readonly #wide = new Map<Value, Value>();
  readonly #fold: ConstantFolder;

  constructor(fold: ConstantFolder) {
    this.#fold = fold;
  }

  graph({ inputs, nodes, outputs }: Graph): Graph {
    for (const { operation, inputs: operands, outputs: results } of nodes) {
      const wide = operands.map((operand) => this.#widened(operand));
      const widened: Operation =
        operation.kind === "cast" && operation.to === "float16" ? { ...operation, to: "float32" } : operation;
      const types = inferTypes(
        widened,
        wide.map(({ type }) => type),
      );
      const wideOutputs = types.map((type): Value => ({ type }));
      this.#nodes.push({ operation: widened, inputs: wide, outputs: wideOutputs });
      for (const [index, result] of results.entries()) this.#wide.set(result, at(wideOutputs, index));
    }
    const named = outputs.map(({ name, value }): NamedValue => ({ name, value: this.#narrowed(value) }));
    return { inputs, nodes: this.#nodes, outputs: named };
  }

  #widened(value: Value): Value {
    const known = this.#wide.get(value);
    if (known !== undefined || !isHalf(value)) return known ?? value;
    const { constant, type } = value;
    const wide =
      constant === undefined ? this.#cast(value, "float32") : this.#widenConstant({ ...type, dataType: "float32" }, constant);
    this.#wide.set(value, wide);
    return wide;
  }

  #widenConstant(type: TensorType, constant: Literal): Value {
    const [wide] = this.#fold({ kind: "cast", to: type.dataType, saturate: false }, [constant]);
    if (wide === undefined) throw new Error("a cast has no output");
    return { type, constant: wide };
  }

  /** The value in its original type: a widened value is rounded to float16. */
  #narrowed(value: Value): Value {
    const wide = this.#wide.get(value);
    if (wide === undefined) return value;
    return isHalf(value) ? this.#cast(wide, "float16") : wide;
  }

  #cast(value: Value, to: "float16" | "float32"): Value {
    const converted: Value = { type: { ...value.type, dataType: to } };
    this.#nodes.push({ operation: { kind: "cast", to, saturate: false }, inputs: [value], outputs: [converted] });
    return converted;
  }
}
