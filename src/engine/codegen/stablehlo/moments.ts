/**
 * Sums of graphs that compute a variance as mean(x^2) - mean(x)^2, as Flax does. The difference cancels most digits where values hardly vary, so that results
 * depend on how the sums are rounded. Models are held against runtimes which add one row after the other; XLA would split the sums.
 */
import { at } from "../../../contract/checked.ts";
import type { Graph, GraphNode, Value } from "../../ir/graph.ts";
import type { OperationOf } from "../../ir/operations.ts";
import type { HloFunction, HloValue } from "./hlo-function.ts";

/** A sum of rows: over one axis, which is not the last one. */
interface RowSum {
  readonly node: GraphNode;
  readonly operation: OperationOf<"reduce">;
  readonly summed: Value;
  readonly axis: number;
}

/** More rows than this are left to the compiler: a loop over them takes longer than the model gains. */
const maxRows = 4096;

/** The pairs of sums over values and over their squares: nodes, and the functions that emit them. `read`: the value in the program. */
export function momentSums(
  { nodes }: Graph,
  hlo: HloFunction,
  read: (value: Value) => HloValue,
): ReadonlyMap<GraphNode, () => HloValue> {
  const producers = new Map(nodes.flatMap((node) => node.outputs.map((output): [Value, GraphNode] => [output, node])));
  const sums = nodes.flatMap(rowSum);
  const pairs = sums.flatMap((squares) => {
    const base = squaredValue(producers.get(squares.summed));
    const values = sums.find(({ summed, axis }) => summed === base && axis === squares.axis);
    return values === undefined ? [] : [squares, values];
  });
  return new Map(pairs.map((sum) => [sum.node, () => emitRowSum(hlo, sum, read(sum.summed))]));
}

function rowSum(node: GraphNode): readonly RowSum[] {
  const { operation, inputs } = node;
  const [summed] = inputs;
  if (operation.kind !== "reduce" || summed === undefined || summed.type.dataType !== "float32") return [];
  const [axis = 0, ...others] = operation.axes;
  const { shape } = summed.type;
  const isOfRows = others.length === 0 && axis < shape.length - 1 && at(shape, axis) <= maxRows;
  return isOfRows && operation.function === "sum" ? [{ node, operation, summed, axis }] : [];
}

/** The value whose square a node computes; undefined if it computes something else. */
function squaredValue(node: GraphNode | undefined): Value | undefined {
  if (node === undefined) return undefined;
  const { operation, inputs } = node;
  const steps = operation.kind === "elementwise" ? operation.steps : [];
  const [step] = steps;
  const computed = step?.operation ?? operation;
  const [a, b] = step === undefined ? inputs : step.operands.map((operand) => inputs[operand]);
  const isProduct = computed.kind === "binary" && computed.function === "mul" && steps.length < 2;
  return isProduct && a === b ? a : undefined;
}

/** Adds rows one after the other. */
function emitRowSum(hlo: HloFunction, { operation: { keep }, axis }: RowSum, x: HloValue): HloValue {
  const { dataType, shape } = x.type;
  const rows = at(shape, axis);
  const start = [hlo.scalar("int32", 0), hlo.filled(dataType, 0, shape.with(axis, 1)), x] as const;
  const [, sums] = hlo.loop(
    start,
    (inner, [index]) => inner.compare(index, "LT", inner.scalar("int32", rows)),
    (inner, [index, sum, all]) => {
      const zero = inner.scalar("int32", 0);
      const starts = shape.map((_, each) => (each === axis ? index : zero));
      const row = inner.dynamicSlice(all, starts, shape.with(axis, 1));
      return [inner.binary("stablehlo.add", index, inner.scalar("int32", 1)), inner.binary("stablehlo.add", sum, row), all];
    },
  );
  return keep ? sums : hlo.reshape(sums, shape.toSpliced(axis, 1));
}
