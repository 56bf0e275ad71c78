/**
 * Programs that decode tokens: they take the caches of sequences, and return them with the rows of the new tokens. Each cache is donated to its result, so
 * that a run writes the new rows in place (`tf.aliasing_output`).
 */
import { at, required } from "../../../contract/checked.ts";
import { InferyardError } from "../../../contract/errors.ts";
import type { Graph, GraphNode, Value } from "../../ir/graph.ts";
import type { ElementType } from "../../ir/element-types.ts";
import type { TensorType } from "../../ir/tensor-type.ts";
import { ProgramText, type StableHloProgram } from "./emit-graph.ts";
import type { HloFunction, HloValue } from "./hlo-function.ts";

/** The caches of a decoder's graph. */
export interface CachedStates {
  /** Names of the inputs of the graph that are the past of each state, [sequences, ..., positions - new tokens, ...]. */
  readonly names: readonly string[];
  /** Names of the inputs that are read of the source of each sequence, [sequences, ...]. */
  readonly sources: readonly string[];
  /** Element type of the caches. */
  readonly dataType: ElementType;
}

/** The layout of the caches of one state. */
interface State {
  /** Type of the cache of one sequence, with all its positions. */
  readonly type: TensorType;
  /** Axis of the positions. */
  readonly axis: number;
  /** Positions of the past, which precede the positions of the new tokens. */
  readonly past: number;
}

/**
 * Translates the graph of a decoder, whose outputs are the logits and then each state with the new rows appended, in the order of `names`. Results: the
 * logits, then the caches of each sequence, state by state. Throws MODEL_UNSUPPORTED as `emitGraph` does.
 */
export function emitDecoder(graph: Graph, { names, sources, dataType }: CachedStates): StableHloProgram {
  const program = new ProgramText(graph, { swapsWeights: true });
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
  const grown = lengths.map((): HloValue[] => []);
  const appends = new Map<GraphNode, () => HloValue>();
  for (const { name, value } of graph.inputs) {
    const state = names.indexOf(name);
    if (sources.includes(name)) {
      const type: TensorType = { ...value.type, shape: value.type.shape.with(0, 1) };
      const parts = lengths.map((_, sequence) => program.addArgument({ kind: "source", name, sequence, type }));
      program.set(value, hlo.concatenate(parts, 0));
    } else if (state < 0) {
      program.addInput(name, value);
    } else {
      const { axis, past } = at(states, state);
      const append = appendTo(graph, name, value);
      // The cache is read after the rows were written to it: XLA copies a donated tensor that is read before or beside.
      appends.set(append, () => {
        const rows = hlo.concatenate(
          append.inputs.slice(1).map((each) => program.read(each)),
          axis,
        );
        const parts = caches.map((own, sequence) => {
          const length = at(lengths, sequence);
          const fresh = rounded(hlo, sequences === 1 ? rows : positions(hlo, rows, 0, sequence, sequence + 1), dataType);
          const cache = withRows(hlo, at(own, state), hlo.convert(fresh, dataType), axis, length);
          at(grown, sequence)[state] = cache;
          const before = written(hlo, positions(hlo, cache, axis, 0, past), axis, length);
          return hlo.concatenate([hlo.convert(before, value.type.dataType), fresh], axis);
        });
        return hlo.concatenate(parts, 0);
      });
    }
  }
  program.emitNodes(appends);
  const results = grown.flatMap((own, sequence) =>
    names.map((name, state) => ({ name: `${name} of sequence ${sequence}`, value: required(own[state], name) })),
  );
  const first = required(logits, "the logits");
  return program.end([{ name: first.name, value: program.read(first.value) }, ...results]);
}

/** The node that appends rows to a state. Throws MODEL_UNSUPPORTED if the graph does not use it so. */
function appendTo({ nodes }: Graph, name: string, past: Value): GraphNode {
  const node = nodes.find(({ operation, inputs }) => operation.kind === "concat" && inputs[0] === past);
  if (node !== undefined) return node;
  throw new InferyardError("MODEL_UNSUPPORTED", `the model does more with its input "${name}" than append to it`);
}

/** Values rounded to another float type: attention reads the same of a token in the run that appends it as in later ones. */
function rounded(hlo: HloFunction, values: HloValue, dataType: ElementType): HloValue {
  if (dataType !== "float16" || values.type.dataType === dataType) return values;
  return hlo.operation("stablehlo.reduce_precision", [values], values.type, {
    exponent_bits: "5 : i32",
    mantissa_bits: "10 : i32",
  });
}

/** A cache with rows at the positions from `length` on. */
function withRows(hlo: HloFunction, cache: HloValue, rows: HloValue, axis: number, length: HloValue): HloValue {
  const zero = hlo.scalar("int32", 0);
  const starts = cache.type.shape.map((_, each) => (each === axis ? length : zero));
  return hlo.operation("stablehlo.dynamic_update_slice", [cache, rows, ...starts], cache.type);
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

/**
 * A cache with zeros at the positions from `length` on. Attention masks these, but multiplies what they hold by 0, and rows that were cut off may hold
 * infinite numbers or NaN.
 */
function written(hlo: HloFunction, cache: HloValue, axis: number, length: HloValue): HloValue {
  const index = hlo.iota("int32", cache.type.shape, axis);
  return hlo.select(hlo.compare(index, "LT", length), cache, hlo.scalar(cache.type.dataType, 0));
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
