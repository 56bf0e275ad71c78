/** Makes the engine's graph of a program for given sizes. */
import { required } from "../../contract/checked.ts";
import { InferyardError } from "../../contract/errors.ts";
import { elementCount } from "../../contract/tensor.ts";
import { Builder } from "../../engine/build/builder.ts";
import { DataDependencyError } from "../../engine/build/data-dependency-error.ts";
import { TraceBudget } from "../../engine/build/trace-budget.ts";
import type { ConstantFolder } from "../../engine/interpret/evaluate.ts";
import type { Graph, NamedValue, Value } from "../../engine/ir/graph.ts";
import type { Literal } from "../../engine/ir/literal.ts";
import { describeType } from "../../engine/ir/tensor-type.ts";
import type { OpenProgram, Program } from "./program.ts";

/** Sizes of the free dimensions of a program, by name. */
export type Sizes = ReadonlyMap<string, number>;

/** Prefix of the graph's outputs that hold the states after the run. */
export const statePrefix = "state:";

/** What a trace is made with. */
export interface TraceSettings {
  readonly sizes: Sizes;
  /** The weights by name. Undefined: their elements are unknown, as when a program is checked. */
  readonly weights: ReadonlyMap<string, Literal> | undefined;
  /** See `TraceOperands.backend`. */
  readonly backend?: string | undefined;
  /** Evaluates operations on constants. Default: the interpreter. */
  readonly fold?: ConstantFolder | undefined;
}

/** A graph, and the budget of its trace. */
export interface ProgramGraph {
  /** Inputs: the inputs of the program, then its states. Outputs: the outputs, then the states that a run changes, under `statePrefix` and their name. */
  readonly graph: Graph;
  readonly budget: TraceBudget;
}

/** The dimensions with these sizes. */
export function sizedShape(shape: readonly (number | string)[], sizes: Sizes): readonly number[] {
  return shape.map((size) => (typeof size === "number" ? size : required(sizes.get(size), `the size of "${size}"`)));
}

/** Makes the graph of a program. Throws the errors of `OpenProgram.trace`, and MODEL_UNSUPPORTED for shapes that depend on values and for updates of another type. */
export function traceProgram(
  program: Pick<Program, "inputs" | "weights" | "states">,
  open: OpenProgram,
  { sizes, weights, backend, fold }: TraceSettings,
): ProgramGraph {
  const weightElements = [...program.weights.map(({ shape }) => shape), ...open.ownWeights.map(({ shape }) => shape)]
    .map(elementCount)
    .reduce((sum, count) => sum + count, 0);
  const budget = new TraceBudget({ weightElements });
  const builder = new Builder(budget, "graph", fold);
  const named = (name: string, value: Value): [string, Value] => [name, value];
  const inputs = new Map(
    program.inputs.map(({ name, dataType, shape }) => named(name, { type: { dataType, shape: sizedShape(shape, sizes) } })),
  );
  const states = new Map(program.states.map(({ name, dataType, shape }) => named(name, { type: { dataType, shape } })));
  const given = new Map(
    program.weights.map(({ name, dataType, shape }) => {
      const literal = weights === undefined ? undefined : required(weights.get(name), `the weight "${name}"`);
      return named(name, literal === undefined ? { type: { dataType, shape } } : builder.constant(literal));
    }),
  );
  const traced = withoutDependencies(() => open.trace({ inputs, weights: given, states, backend }, builder));
  const unknown = weights === undefined ? [...given].map(([name, value]): NamedValue => ({ name, value })) : [];
  const changed = [...traced.states].filter(([name, value]) => {
    const before = required(states.get(name), `the state "${name}"`);
    if (describeType(value.type) === describeType(before.type)) return value !== before;
    const types = `${describeType(value.type)}, and the state is ${describeType(before.type)}`;
    throw new InferyardError("MODEL_UNSUPPORTED", `the new value of the state "${name}" is ${types}`);
  });
  const results = [...traced.outputs, ...changed.map(([name, value]) => named(`${statePrefix}${name}`, value))];
  const graph = builder.graph(
    [...inputs, ...states].map(([name, value]) => ({ name, value })).concat(unknown),
    results.map(([name, value]) => ({ name, value })),
  );
  return { graph, budget };
}

function withoutDependencies<Result>(trace: () => Result): Result {
  try {
    return trace();
  } catch (error) {
    if (!(error instanceof DataDependencyError)) throw error;
    throw new InferyardError("MODEL_UNSUPPORTED", `the program has no single graph: ${error.message}`, {
      remedy: "a program has shapes that follow from the shapes of its inputs; run such a model with a runtime instead",
      cause: error,
    });
  }
}
