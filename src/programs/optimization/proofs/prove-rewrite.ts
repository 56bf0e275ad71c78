/** Proves a rewrite by computing both forms over finite fields with random elements. */
import { required } from "../../../contract/checked.ts";
import { elementCount } from "../../../contract/tensor.ts";
import { getMessage, InferyardError } from "../../../contract/errors.ts";
import { Builder } from "../../../engine/build/builder.ts";
import { TraceBudget } from "../../../engine/build/trace-budget.ts";
import { isTensor } from "../../../engine/build/traced-value.ts";
import { estimatedWork } from "../../../engine/build/operation-cost.ts";
import { isFloat } from "../../../engine/ir/element-types.ts";
import type { Graph, Value } from "../../../engine/ir/graph.ts";
import { int64Literal, type Literal, toIntegers } from "../../../engine/ir/literal.ts";
import type { TensorType } from "../../../engine/ir/tensor-type.ts";
import type { OnnxNode } from "../../../engine/onnx/onnx-model.ts";
import { traceModel } from "../../../engine/onnx/trace-model.ts";
import type { GraphEdit, OperatorGraph } from "../operator-graph.ts";
import type { RewriteMatch } from "../rewrite-rule.ts";
import { evaluateInFields, Unprovable } from "./evaluate-in-fields.ts";
import { type FieldTensor, randomResidues, UnluckyDraw } from "./finite-fields.ts";

/** Number of random tests. Each misses a difference with a probability below 1e-5 an element. */
const tests = 2;
const maxDraws = 6;
/** Most scalar operations of one test. */
const maxWork = 2 ** 31;
/** Sizes from here on are divided by a divisor of all of them, since the identity does not depend on them. */
const minScaledSize = 128;
const divisors = [64, 16, 4];
/** Constants of fewer floats are numbers, as epsilon is; others are arbitrary. */
const maxNumbers = 8;

/** Both forms of a part of a graph, over the same inputs. */
interface BothForms {
  readonly graphs: readonly Graph[];
  readonly values: readonly ReadonlyMap<string, Value>[];
}

/** Why a rewrite is not proved, as a sentence without a full stop; undefined if it is. */
export function findDisproof(
  graph: OperatorGraph,
  { matched }: Pick<RewriteMatch, "matched">,
  edit: GraphEdit,
): string | undefined {
  const before = slice(matched, edit.replaced);
  const after = slice(
    [...edit.added, ...matched.filter(({ outputs }) => !outputs.some((name) => edit.replaced.includes(name)))],
    edit.replaced,
  );
  const problem = { graph, edit, before, after };
  try {
    const hasNumbers = [...edit.initializers.values()].some(({ dataType }) => isFloat(dataType)); // they may depend on the sizes
    for (const divisor of hasNumbers ? [1] : [...divisors, 1]) {
      const forms = traceBoth(problem, divisor);
      if (forms === undefined) continue;
      return compare(forms, problem);
    }
    return "its shapes do not fit";
  } catch (error) {
    if (error instanceof Unprovable) return error.message;
    throw error;
  }
}

interface Problem {
  readonly graph: OperatorGraph;
  readonly edit: GraphEdit;
  readonly before: readonly OnnxNode[];
  readonly after: readonly OnnxNode[];
}

/** The nodes that the values are computed from, in order. */
function slice(nodes: readonly OnnxNode[], values: readonly string[]): readonly OnnxNode[] {
  const used = new Set(values);
  const kept: OnnxNode[] = [];
  const rest = new Set(nodes);
  for (let isChanged = true; isChanged;) {
    isChanged = false;
    for (const node of rest) {
      if (!node.outputs.some((name) => used.has(name))) continue;
      rest.delete(node);
      for (const name of node.inputs) used.add(name);
      kept.push(node);
      isChanged = true;
    }
  }
  const made = new Map(kept.flatMap((node) => node.outputs.map((name): [string, OnnxNode] => [name, node])));
  const ordered = new Set<OnnxNode>();
  const visit = (node: OnnxNode): void => {
    if (ordered.has(node)) return;
    for (const name of node.inputs) {
      const producer = made.get(name);
      if (producer !== undefined && producer !== node) visit(producer);
    }
    ordered.add(node);
  };
  kept.toReversed().forEach(visit);
  return [...ordered];
}

/** Traces both forms with sizes divided by `divisor`. Undefined if that does not give graphs with outputs of the expected types. */
function traceBoth({ graph, edit, before, after }: Problem, divisor: number): BothForms | undefined {
  const scale = (size: number): number => (size >= minScaledSize && size % divisor === 0 ? size / divisor : size);
  const scaled = ({ dataType, shape }: TensorType): TensorType => ({ dataType, shape: shape.map(scale) });
  const literalOf = (name: string): Literal | undefined => edit.initializers.get(name) ?? graph.literal(name);
  const typeOf = (name: string): TensorType | undefined => edit.initializers.get(name) ?? graph.types.get(name);
  const made = [before, after].map((nodes) => new Set(nodes.flatMap(({ outputs }) => outputs)));
  if (divisor > 1) {
    const names = [...before, ...after].flatMap(({ inputs }) => inputs);
    if (!names.some((name) => typeOf(name)?.shape.some((size) => scale(size) !== size) === true)) return undefined;
  }
  const forms = [before, after].map(
    (nodes, form): { readonly graph: Graph; readonly values: ReadonlyMap<string, Value> } | undefined => {
      const values = new Map<string, Value>();
      const inputs = new Map<string, Value>();
      for (const name of nodes.flatMap((node) => node.inputs)) {
        if (name === "" || made[form]?.has(name) === true || inputs.has(name)) continue;
        const literal = literalOf(name);
        const type = required(typeOf(name), `the type of "${name}"`);
        const isKnown = literal !== undefined && !isFloat(literal.dataType);
        const value: Value = isKnown ? constantValue(scaledIntegers(literal, scale)) : { type: scaled(type) };
        inputs.set(name, value);
        if (!isKnown) values.set(name, value);
      }
      const outputs = edit.replaced.map((name) => ({ name, type: { kind: "other", name: "unstated" } as const }));
      const builder = new Builder(new TraceBudget());
      const model = {
        ...graph.model,
        graph: { name: "", nodes, initializers: new Map(), inputs: [], outputs },
      };
      const traced = trace(() => traceModel(model, inputs, builder));
      if (traced === undefined) return undefined;
      const results = edit.replaced.flatMap((name) => {
        const value = traced.get(name);
        return value !== undefined && isTensor(value) ? [{ name, value }] : [];
      });
      const isRight = edit.replaced.every((name, index) => {
        const expected = graph.types.get(name);
        return results[index]?.value.type.shape.join() === (expected && scaled(expected).shape.join());
      });
      return isRight ? { graph: builder.graph([], results), values } : undefined;
    },
  );
  if (forms.some((form) => form === undefined)) return undefined;
  return { graphs: forms.flatMap((form) => form?.graph ?? []), values: forms.flatMap((form) => form?.values ?? []) };
}

/** The result of a trace; undefined if an operator does not take its inputs. */
function trace<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof InferyardError || error instanceof RangeError) return undefined;
    throw new Unprovable(getMessage(error));
  }
}

function constantValue(literal: Literal): Value {
  return { type: { dataType: literal.dataType, shape: literal.shape }, constant: literal };
}

/** Whole numbers that are sizes, divided as sizes are. */
function scaledIntegers(literal: Literal, scale: (size: number) => number): Literal {
  return literal.dataType === "int64" && elementCount(literal.shape) <= 64
    ? int64Literal(toIntegers(literal).map(scale), literal.shape)
    : literal;
}

function compare({ graphs, values }: BothForms, { graph, edit }: Problem): string | undefined {
  const work = graphs.flatMap(({ nodes }) => nodes).reduce((sum, node) => sum + workOf(node), 0);
  if (work > maxWork) return `a test over finite fields would take ${work.toExponential(1)} operations`;
  const names = [...new Set(values.flatMap((each) => [...each.keys()]))];
  let passed = 0;
  for (let draw = 0; draw < maxDraws && passed < tests; draw += 1) {
    const elements = new Map(
      names.map((name, index): [string, FieldTensor | Literal] => [name, elementsFor(name, draw * 1000 + index)]),
    );
    try {
      const [one = [], other = []] = graphs.map((each, form) => {
        const given = new Map([...(values[form] ?? [])].map(([name, value]) => [value, required(elements.get(name), name)]));
        return evaluateInFields(each, given);
      });
      const index = one.findIndex((tensor, output) => !isSame(tensor, other[output]));
      if (index >= 0) return `over a finite field the two forms differ at "${edit.replaced[index]}"`;
      passed += 1;
    } catch (error) {
      if (!(error instanceof UnluckyDraw)) throw error;
    }
  }
  return passed === tests ? undefined : "every random test divides by zero";

  function elementsFor(name: string, seed: number): FieldTensor | Literal {
    const literal = edit.initializers.get(name) ?? graph.literal(name);
    if (
      literal !== undefined &&
      isFloat(literal.dataType) &&
      (elementCount(literal.shape) < maxNumbers || edit.initializers.has(name))
    )
      return literal;
    const value = required(
      values.map((each) => each.get(name)).find((each) => each !== undefined),
      name,
    );
    return randomResidues(value.type.shape, seed);
  }
}

function workOf({ operation, inputs, outputs }: Graph["nodes"][number]): number {
  return estimatedWork(
    operation,
    inputs.map(({ type }) => type),
    outputs.map(({ type }) => type),
  );
}

function isSame(one: FieldTensor, other: FieldTensor | undefined): boolean {
  if (other === undefined || one.shape.join() !== other.shape.join()) return false;
  if (!isEqual(one.values, other.values)) return false;
  return one.exponents === undefined || other.exponents === undefined || isEqual(one.exponents, other.exponents);
}

function isEqual(one: Float64Array, other: Float64Array): boolean {
  return one.every((value, index) => value === other[index]);
}
