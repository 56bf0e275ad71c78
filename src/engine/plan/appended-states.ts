/** Finds the inputs of a graph that are states: tensors such as a decoder's keys and values, to which each run appends rows. */
import { InferyardError } from "../../contract/errors.ts";
import type { Graph, NodeOf, Value } from "../ir/graph.ts";

/**
 * An input whose only use is as the first operand of a concatenation. The concatenation's result is stored where the state is, so that appending
 * copies the new rows only.
 */
export interface AppendedState {
  /** Name of the input. */
  readonly name: string;
  /** The input's value: the rows of earlier runs. */
  readonly past: Value;
  /** The concatenation that appends to it. */
  readonly append: NodeOf<"concat">;
  /** Result of the concatenation: past and new rows. */
  readonly appended: Value;
}

/** Returns the states for these input names, in the same order. Throws MODEL_UNSUPPORTED if an input is missing or used otherwise than in one concatenation. */
export function appendedStates(graph: Graph, names: readonly string[]): readonly AppendedState[] {
  return names.map((name): AppendedState => {
    const past = graph.inputs.find((input) => input.name === name)?.value;
    const users = graph.nodes.filter(({ inputs }) => past !== undefined && inputs.includes(past));
    const [append, ...others] = users;
    const [appended] = append?.outputs ?? [];
    const isGiven = graph.outputs.some(({ value }) => value === past);
    if (past === undefined || append === undefined || appended === undefined || others.length > 0 || isGiven)
      throw unsupportedState(name);
    const { operation, inputs } = append;
    if (operation.kind !== "concat" || inputs[0] !== past || inputs.lastIndexOf(past) > 0) throw unsupportedState(name);
    return { name, past, append: { ...append, operation }, appended };
  });
}

function unsupportedState(name: string): InferyardError {
  return new InferyardError("MODEL_UNSUPPORTED", `the model does more with its input "${name}" than append to it`, {
    data: { input: name },
  });
}
