/**
 * Computes in float32 what a model states in float16: its tensors become float32 where they enter and float16 again where they leave. Numbers
 * between are not rounded to float16, so results are at least as exact, and there are kernels for them.
 */
import type { Graph, GraphNode, NamedValue, TensorType, Value } from "../ir/graph.ts";
import { inferTypes } from "../ir/shape-inference/index.ts";
import type { Literal } from "../ir/literal.ts";
import type { Operation } from "../ir/operations.ts";
import { evaluate, type ConstantFolder } from "../interpret/evaluate.ts";

export function widenHalf(graph: Graph, fold: ConstantFolder = evaluate): Graph {
  const takesPart = ({ inputs, outputs }: GraphNode): boolean => inputs.some(isHalf) || outputs.some(isHalf);
  if (!graph.nodes.some(takesPart) || graph.nodes.some(needsBits)) return graph;
  return new Widening(fold).graph(graph);
}

function isHalf({ type }: { readonly type: TensorType }): boolean {
  return type.dataType === "float16";
}

/** Operations that look at the bits of float16, or state their own types. */
function needsBits({ operation, inputs, outputs }: GraphNode): boolean {
  return (operation.kind === "bitcast" || operation.kind === "call") && [...inputs, ...outputs].some(isHalf);
}

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
      const made = types.map((type): Value => ({ type }));
      this.#nodes.push({ operation: widened, inputs: wide, outputs: made });
      for (const [index, result] of results.entries()) this.#wide.set(result, made[index] ?? result);
    }
    const named = outputs.map(({ name, value }): NamedValue => ({ name, value: this.#narrowed(value) }));
    return { inputs, nodes: this.#nodes, outputs: named };
  }

  #widened(value: Value): Value {
    const known = this.#wide.get(value);
    if (known !== undefined || !isHalf(value)) return known ?? value;
    const { constant, type } = value;
    const wide = constant === undefined ? this.#cast(value, "float32") : this.#known({ ...type, dataType: "float32" }, constant);
    this.#wide.set(value, wide);
    return wide;
  }

  #known(type: TensorType, constant: Literal): Value {
    const [wide] = this.#fold({ kind: "cast", to: type.dataType, saturate: false }, [constant]);
    if (wide === undefined) throw new Error("a cast gives nothing");
    return { type, constant: wide };
  }

  /** What an output was: a value that was widened is rounded at last. */
  #narrowed(value: Value): Value {
    const wide = this.#wide.get(value);
    if (wide === undefined) return value;
    return isHalf(value) ? this.#cast(wide, "float16") : wide;
  }

  #cast(value: Value, to: "float16" | "float32"): Value {
    const made: Value = { type: { ...value.type, dataType: to } };
    this.#nodes.push({ operation: { kind: "cast", to, saturate: false }, inputs: [value], outputs: [made] });
    return made;
  }
}
