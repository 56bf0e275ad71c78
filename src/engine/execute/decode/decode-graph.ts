/** The graph that decodes new tokens with key-value caches of fixed capacity and returns logits. */
import { InferyardError } from "../../../contract/errors.ts";
import type { TensorInfo } from "../../../contract/tensor.ts";
import { type Graph, type NamedValue, getType, type Value } from "../../ir/graph.ts";
import { inferTypes } from "../../ir/shape-inference/index.ts";
import { toLiteral } from "../../ir/literal.ts";
import type { Operation } from "../../ir/operations.ts";
import { appendedStates } from "../../plan/appended-states.ts";
import { type DecoderInputs, pastType, sourceType } from "./decoder-inputs.ts";
import { splitPast } from "./split-past.ts";

/** Name of the output with the logits, float32 [batch, tokens, classes], as exporters of language models name it. */
export const logitsName = "logits";

/** The sizes that an executable of a decoder is compiled for. */
export interface DecodeSizes {
  /** Token positions of each cache. */
  readonly capacity: number;
  /** New tokens of each sequence, which occupy the last positions of its cache. */
  readonly size: number;
  /** Number of sequences. */
  readonly batch: number;
  /** Number of last positions of each sequence whose logits are returned. */
  readonly logits: number;
  /** Number of tokens of each source, padding included; 0 for decoders without a source. */
  readonly source: number;
}

/** Returns the symbolic inputs with which the model is traced. */
export function decodeInputs(
  { ids, mask, positions, branch, past, sources }: DecoderInputs,
  { capacity, size, batch, source }: DecodeSizes,
): ReadonlyMap<string, Value> {
  const integers = ({ name, dataType }: TensorInfo, length: number): [string, Value] => [
    name,
    { type: { dataType, shape: [batch, length] } },
  ];
  return new Map([
    integers(ids, size),
    integers(mask, capacity),
    ...(positions === undefined ? [] : [integers(positions, size)]),
    ...(branch === undefined ? [] : [usePastBranch(branch)]),
    ...sources.map((each): [string, Value] => [each.name, { type: sourceType(each, source, batch) }]),
    ...past.map((each): [string, Value] => [each.info.name, { type: pastType(each, capacity - size, batch) }]),
  ]);
}

/** The input that selects the branch with a past, as a constant true, so that it is not an input of the graph. */
function usePastBranch({ name, shape }: TensorInfo): [string, Value] {
  const literal = toLiteral(
    "bool",
    Array.from(shape, () => 1),
    [1],
  );
  return [name, { type: getType(literal), constant: literal }];
}

/**
 * Rewrites a traced graph for decoding: its outputs become the logits of the last new tokens [batch, logits, classes] and the extended states. Throws
 * MODEL_UNSUPPORTED unless every past is only appended to and returned.
 */
export function withLastLogits(traced: Graph, { past, states: wanted }: DecoderInputs, sizes: DecodeSizes): Graph {
  const joined = past.flatMap(({ info, isJoined }) => (isJoined ? [info.name] : []));
  const graph = splitPast(traced, joined);
  const states = appendedStates(
    graph,
    wanted.map(({ info }) => info.name),
  );
  const present = states.map(({ name, appended }): NamedValue => {
    const output = graph.outputs.find(({ value }) => value === appended);
    if (output === undefined) throw unsupportedDecoder(`it does not return the extended "${name}"`);
    return output;
  });
  const others = graph.outputs.filter((output) => !present.includes(output));
  const logits = others.find(({ name }) => name === logitsName) ?? (others.length === 1 ? others[0] : undefined);
  const { dataType, shape } = logits?.value.type ?? { dataType: "float32", shape: [] };
  const [batch = 0, fresh = 0, classes = 0] = shape;
  const isWhole = batch === sizes.batch && fresh >= sizes.logits && classes > 0;
  if (logits === undefined || dataType !== "float32" || shape.length !== 3 || !isWhole)
    throw unsupportedDecoder(
      `it gives ${graph.outputs.map(({ name }) => name).join(", ")}: no logits in float32 of [batch, tokens, classes]`,
    );
  const rows: Operation = {
    kind: "slice",
    starts: [0, fresh - sizes.logits, 0],
    steps: [1, 1, 1],
    sizes: [batch, sizes.logits, classes],
  };
  const outputs = inferTypes(rows, [logits.value.type]).map((type): Value => ({ type }));
  const nodes = [...graph.nodes, { operation: rows, inputs: [logits.value], outputs }];
  const last = outputs.map((value): NamedValue => ({ name: logitsName, value }));
  return { inputs: graph.inputs, nodes, outputs: [...last, ...present] };
}

function unsupportedDecoder(reason: string): InferyardError {
  return new InferyardError("MODEL_UNSUPPORTED", `the model cannot be decoded with a cache: ${reason}`);
}
