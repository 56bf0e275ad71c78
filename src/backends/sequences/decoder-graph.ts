/**
 * The inputs and outputs of a decoder by their role, as exporters of language models name them: Optimum, transformers.js and onnxruntime-genai. A cached
 * tensor is an input with an output that extends it: `past_key_values.0.key` with `present.0.key`, `past_0` with `present_0`. A recurrent state is an input
 * with an output that replaces it: `rnn_states_prev` with `rnn_states`.
 */
import type { TensorModel } from "../../contract/backend.ts";
import { type InferyardError, unsupportedModel } from "../../contract/errors.ts";
import type { TensorInfo } from "../../contract/tensor.ts";

/** An input that holds part of the cache. */
export interface CacheInput {
  readonly info: TensorInfo;
  /** The output that holds the same part after the run. */
  readonly present: string;
  /** Axis of the sequences of a batch. */
  readonly batchAxis: number;
  /** Axis of the tokens; -1 for a state. */
  readonly tokenAxis: number;
  /**
   * "source": keys and values of the encoder's output, which the first run computes and later runs read. "state": the state of a recurrent layer after all
   * tokens.
   */
  readonly of: "tokens" | "source" | "state";
}

/** A decoder's inputs and outputs. */
export interface DecoderGraph {
  /** Ids of the new tokens [batch, new], or [batch] for a decoder of one token at a time. */
  readonly ids: TensorInfo;
  /** Mask over cached and new tokens [batch, cached + new]. */
  readonly mask: TensorInfo | undefined;
  /** Positions of the new tokens [batch, new]. */
  readonly positions: TensorInfo | undefined;
  /** Indices of the new tokens among all [new]. */
  readonly cachePositions: TensorInfo | undefined;
  /** Number of tokens before the new ones [1]. */
  readonly pastLength: TensorInfo | undefined;
  /** Whether cached tokens are read, for models merged from one that reads them and one that does not. */
  readonly branch: TensorInfo | undefined;
  /** Number of last positions whose logits are returned; 0: all. */
  readonly logitsToKeep: TensorInfo | undefined;
  /** The encoder's output [batch, source, hidden]. */
  readonly source: TensorInfo | undefined;
  /** Mask over the tokens of the source [batch, source]. */
  readonly sourceMask: TensorInfo | undefined;
  readonly caches: readonly CacheInput[];
  readonly outputs: ReadonlySet<string>;
  readonly vocabulary: number;
  /** Maximum number of new tokens of one run. */
  readonly maxTokens: number;
  /** Number of rows of each run, if the file fixes it. */
  readonly rows: number | undefined;
  /** Number of tokens of each source, if the file fixes it: shorter ones are padded. */
  readonly sourceTokens: number | undefined;
  /** Whether any part of the cache is a state, which cannot be cut off at an earlier token. */
  readonly hasState: boolean;
}

const integerTypes = new Set(["int64", "int32"]);

/** Assigns a role to each input. Throws MODEL_UNSUPPORTED for a model that is not a decoder, or that takes anything else. */
export function decoderGraph({ inputs, outputs }: Pick<TensorModel, "inputs" | "outputs">): DecoderGraph {
  const named = (...names: readonly string[]): TensorInfo | undefined => inputs.find(({ name }) => names.includes(name));
  const ids = named("input_ids", "decoder_input_ids");
  if (ids === undefined)
    throw unsupported(`it has no input "input_ids": its inputs are ${inputs.map(({ name }) => name).join(", ")}`);
  const source = named("encoder_hidden_states", "encoder_outputs");
  const roles = {
    ids,
    mask: source === undefined ? named("attention_mask") : named("decoder_attention_mask"),
    positions: named("position_ids"),
    cachePositions: named("cache_position"),
    pastLength: named("past_key_values_length"),
    branch: named("use_cache_branch"),
    logitsToKeep: named("num_logits_to_keep", "logits_to_keep"),
    source,
    sourceMask: named("encoder_attention_mask", ...(source === undefined ? [] : ["attention_mask"])),
  };
  const isSingle = ids.shape.length === 1;
  for (const [role, rank] of [
    [roles.ids, isSingle ? 1 : 2],
    [roles.mask, 2],
    [roles.positions, 2],
    [roles.cachePositions, 1],
    [roles.pastLength, 1],
    [roles.sourceMask, 2],
  ] as const) {
    if (role === undefined || (integerTypes.has(role.dataType) && role.shape.length === rank)) continue;
    throw unsupported(
      `its input "${role.name}" is ${role.dataType} with ${role.shape.length} axes, and integers with ${rank} axes were expected`,
    );
  }
  const logits = outputs.find(({ name }) => name === "logits");
  const vocabulary = logits?.shape.at(-1);
  if (logits?.shape.length !== (isSingle ? 2 : 3) || typeof vocabulary !== "number") {
    throw unsupported(
      `it has no output "logits" of [batch, ${isSingle ? "" : "tokens, "}vocabulary]: its outputs are ${outputs.map(({ name }) => name).join(", ")}`,
    );
  }
  const known = new Set(Object.values(roles));
  const caches = inputs.filter((input) => !known.has(input)).map((info) => cacheInput(info, outputs, ids));
  const [rows, width] = ids.shape;
  const sourceTokens = source?.shape[1];
  if (typeof sourceTokens === "number" && roles.sourceMask === undefined)
    throw unsupported(`it takes sources of ${sourceTokens} tokens, and no mask of shorter ones`);
  return {
    ...roles,
    caches,
    outputs: new Set(outputs.map(({ name }) => name)),
    vocabulary,
    maxTokens: isSingle ? 1 : typeof width === "number" ? width : Number.POSITIVE_INFINITY,
    rows: typeof rows === "number" ? rows : undefined,
    sourceTokens: typeof sourceTokens === "number" ? sourceTokens : undefined,
    hasState: caches.some(({ of }) => of === "state"),
  };
}

function cacheInput(info: TensorInfo, outputs: readonly TensorInfo[], ids: TensorInfo): CacheInput {
  const { name, shape } = info;
  if (name.startsWith("rnn_states_prev")) return stateInput(info, outputs);
  if (!name.startsWith("past")) throw unsupported(`it takes an input "${name}", whose meaning is not known`);
  const names = new Set([
    name.replace("past_key_values", "present"),
    name.replace(/^past_key_values/, "present_key_values"),
    name.replace(/^past/, "present"),
  ]);
  const present = outputs.find((output) => names.has(output.name))?.name;
  const of = name.includes(".encoder.") ? "source" : "tokens";
  if (present === undefined && of === "tokens") throw unsupported(`it has no output that extends "${name}"`);
  const [batch] = ids.shape;
  const free = [...shape.keys()].filter((axis) => typeof shape[axis] !== "number");
  // The batch axis has the name of the batch of the ids; where names are missing it is the first free axis.
  const batchAxis =
    typeof batch === "number"
      ? shape.indexOf(batch)
      : (free.find((axis) => shape[axis] === batch && batch !== "") ?? free[0] ?? -1);
  const rest = free.filter((axis) => axis !== batchAxis);
  const [tokenAxis] = rest;
  if (tokenAxis === undefined || rest.length > 1 || batchAxis < 0 || batchAxis > tokenAxis) {
    throw unsupported(
      `its input "${name}" has the shape [${shape.join(", ")}]: a batch axis before one free axis of tokens was expected`,
    );
  }
  return { info, present: present ?? name.replace("past_key_values", "present"), batchAxis, tokenAxis, of };
}

/** A recurrent state [layers, batch, hidden], as onnxruntime-genai names it. */
function stateInput(info: TensorInfo, outputs: readonly TensorInfo[]): CacheInput {
  const { name, shape } = info;
  const present = name.replace("_prev", "");
  if (!outputs.some((output) => output.name === present)) throw unsupported(`it has no output that replaces "${name}"`);
  if (shape.length !== 3 || typeof shape[0] !== "number" || typeof shape[2] !== "number")
    throw unsupported(`its input "${name}" has the shape [${shape.join(", ")}]: [layers, batch, hidden] was expected`);
  return { info, present, batchAxis: 1, tokenAxis: -1, of: "state" };
}

/** Bytes of a token id, which is kept beside a state. */
const tokenBytes = 8;

/** Bytes of the cache of one token. */
export function cacheBytesPerToken({ caches, hasState }: DecoderGraph): number {
  return caches
    .filter(({ of }) => of === "tokens")
    .reduce((sum, { info }) => sum + elementsPerToken(info) * (info.dataType === "float32" ? 4 : 2), hasState ? tokenBytes : 0);
}

function elementsPerToken({ shape }: TensorInfo): number {
  return shape.reduce<number>((product, size) => product * (typeof size === "number" ? size : 1), 1);
}

function unsupported(reason: string): InferyardError {
  return unsupportedModel(
    `the model cannot decode tokens: ${reason}`,
    "export it for text generation with a cache (Optimum: --task text-generation-with-past, text2text-generation-with-past)",
  );
}
