/**
 * Programs that decode tokens: they take the caches of sequences, and return them with the rows of the new tokens. Each cache is donated to its result, so
 * that a run writes the new rows in place (`tf.aliasing_output`).
 */
import { at, required } from "../../../contract/checked.ts";
import type { Graph } from "../../ir/graph.ts";
import type { ElementType } from "../../ir/element-types.ts";
import type { TensorType } from "../../ir/tensor-type.ts";
import { ProgramText, type StableHloProgram } from "./emit-graph.ts";
import type { HloFunction, HloValue } from "./hlo-function.ts";

/** The caches of a decoder's graph. */
export interface CachedStates {
  /** Names of the inputs of the graph that are the past of each state, [sequences, ..., positions - new tokens, ...]. */
  readonly names: readonly string[];
  /** Element type of the caches. */
  readonly dataType: ElementType;
}

/** The layout of the caches of one state. */
interface State {
  /** Type of the cache of one sequence, with all its positions. */
  readonly type: TensorType;
  /** Axis of the positions. */
  readonly axis: number;
  /** Positions of the past, which come before those of the new tokens. */
  readonly past: number;
}

/**
 * Translates the graph of a decoder, whose outputs are the logits and then each state with the new rows appended, in the order of `names`. Results: the
 * logits, then the caches of each sequence, state by state. Throws MODEL_UNSUPPORTED as `emitGraph` does.
 */
export function emitDecoder(graph: Graph, { names, dataType }: CachedStates): StableHloProgram {
  const program = new ProgramText(graph);
  const { hlo } = program;
  const [logits, ...present] = graph.outputs;
  const sequences = at(required(logits, "the logits").value.type.shape, 0);
  const states = names.map((name, index): State => {
    const past = required(
      graph.inputs.find((input) => input.name === name),
      name,
    ).value.type.shape;
    const whole = at(present, index).value.type.shape;
    const axis = whole.findIndex((size, each) => size !== past[each]);
    return { type: { dataType, shape: sequences === 1 ? whole : whole.with(0, 1) }, axis, past: at(past, axis) };
  });
  const integer: TensorType = { dataType: "int32", shape: [] };
  const lengths = Array.from({ length: sequences }, (_, sequence) =>
    program.addArgument({ kind: "length", sequence, type: integer }),
  );
  const caches = lengths.map((_, sequence) =>
    states.map(({ type }, state) => {
      const result = `${1 + sequence * states.length + state} : i32`;
      return program.addArgument({ kind: "cache", state, sequence, type }, { "tf.aliasing_output": result });
    }),
  );
  for (const { name, value } of graph.inputs) {
    const state = names.indexOf(name);
    if (state < 0) {
      program.addInput(name, value);
      continue;
    }
    const { axis, past } = at(states, state);
    const parts = caches.map((own) => positions(hlo, at(own, state), axis, 0, past));
    program.set(value, hlo.convert(hlo.concatenate(parts, 0), value.type.dataType));
  }
  program.emitNodes();
  const grown = caches.flatMap((own, sequence) =>
    states.map(({ axis, past, type }, state): { readonly name: string; readonly value: HloValue } => {
      const whole = program.read(at(present, state).value);
      const fresh = positions(hlo, whole, axis, past, at(type.shape, axis));
      const rows = sequences === 1 ? fresh : positions(hlo, fresh, 0, sequence, sequence + 1);
      const zero = hlo.scalar("int32", 0);
      const starts = type.shape.map((_, each) => (each === axis ? at(lengths, sequence) : zero));
      const cache = at(own, state);
      const operands = [cache, hlo.convert(rows, dataType), ...starts];
      const value = hlo.operation("stablehlo.dynamic_update_slice", operands, cache.type);
      return { name: `${at(names, state)} of sequence ${sequence}`, value };
    }),
  );
  const first = required(logits, "the logits");
  return program.end([{ name: first.name, value: program.read(first.value) }, ...grown]);
}

/** A program that copies tensors: the first `shared` positions of the axis of each, and zeros up to the size of the axis in `to`. */
export function emitCacheCopy(from: readonly TensorType[], to: readonly TensorType[]): StableHloProgram {
  const program = new ProgramText({ inputs: [], nodes: [], outputs: [] });
  const { hlo } = program;
  const results = from.map((type, state) => {
    const given = program.addArgument({ kind: "cache", state, sequence: 0, type });
    const { shape } = at(to, state);
    const shared = shape.map((size, axis) => Math.min(size, at(type.shape, axis)));
    const none = shape.map(() => 0);
    const kept = hlo.slice(
      given,
      none,
      shared,
      none.map(() => 1),
    );
    const missing = shape.map((size, axis) => size - at(shared, axis));
    return { name: String(state), value: hlo.pad(kept, hlo.scalar(type.dataType, 0), none, missing) };
  });
  return program.end(results);
}

/** The positions from `start` to `end` (exclusive) of an axis. */
function positions(hlo: HloFunction, value: HloValue, axis: number, start: number, end: number): HloValue {
  const { shape } = value.type;
  const none = shape.map(() => 0);
  return hlo.slice(
    value,
    none.with(axis, start),
    shape.with(axis, end),
    none.map(() => 1),
  );
}
