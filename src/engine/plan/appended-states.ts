/** Which inputs of a graph are states, and where rows are appended to them. */
import { InferyardError } from "../../errors.ts";
import type { Graph, NodeOf, Value } from "../ir/graph.ts";

/** An input that is nothing but the first operand of a concatenation. What comes of it lies in the state's own place, so that the input is never copied. */
export interface AppendedState {
  readonly name: string;
  readonly past: Value;
  readonly append: NodeOf<"concat">;
  /** Past and appended rows. */
  readonly appended: Value;
}

/** In the order of the names. MODEL_UNSUPPORTED where something else reads a state: it lies with gaps between its rows. */
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
