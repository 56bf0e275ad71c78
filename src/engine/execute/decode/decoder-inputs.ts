/**
 * The inputs of a decoder as exporters of language models name them: `input_ids` [batch, new], `attention_mask` [batch, past + new], optionally
 * `position_ids` [batch, new], and keys and values of the past for each layer, float32 with one free axis besides the batch. Models merged from a
 * variant with and one without a past also take `use_cache_branch` [1], which selects the variant. A decoder that reads a source takes
 * `encoder_attention_mask` [batch, source], and for each layer `encoder.N.key` and `encoder.N.value`, which stay the same for all tokens of a sequence.
 */
import { InferyardError } from "../../../contract/errors.ts";
import type { TensorInfo } from "../../../contract/tensor.ts";
import type { TensorType } from "../../ir/tensor-type.ts";
import { halfName } from "./split-past.ts";

/** The inputs of a decoder by their role. */
export interface DecoderInputs {
  /** Ids of the new tokens. */
  readonly ids: TensorInfo;
  /** Attention mask over past and new tokens. */
  readonly mask: TensorInfo;
  /** Position ids of the new tokens; undefined if the model computes positions itself. */
  readonly positions: TensorInfo | undefined;
  /** Selects whether the past is used; the decoder always passes true. undefined if the model has only one variant. */
  readonly branch: TensorInfo | undefined;
  /** Keys and values as the model takes them. */
  readonly past: readonly PastInput[];
  /** The past as it is kept: keys and values separate (inputs that hold both are split), in the type of the caches. */
  readonly states: readonly PastInput[];
  /** Inputs from the source of a sequence: a mask, keys and values. Empty for decoders without a source. */
  readonly sources: readonly TensorInfo[];
}

/** An input that holds cached keys, cached values, or both, of one layer. */
export interface PastInput {
  /** Declared name, data type and shape of the input. */
  readonly info: TensorInfo;
  /** Index of the axis that counts tokens. */
  readonly axis: number;
  /** Index of the axis of the batch; undefined if the batch size is fixed. */
  readonly batchAxis: number | undefined;
  /** Whether keys and values are stacked along the first axis. */
  readonly isJoined: boolean;
}

/** Element type of caches. In float16 they take half the memory, and keys and values are rounded to 11 bits. */
export type CacheType = "float32" | "float16";

/** Mask over the tokens of a source. */
export const sourceMaskName = "encoder_attention_mask";
const sourceName = /^encoder_attention_mask$|^encoder\.\d+\.(key|value)$/;

/** Assigns a role to each declared input. Throws MODEL_UNSUPPORTED when the model is not a decoder, or takes other inputs as well. */
export function decoderInputs(inputs: readonly TensorInfo[], cacheType: CacheType = "float32"): DecoderInputs {
  const named = (name: string): TensorInfo | undefined => inputs.find((input) => input.name === name);
  const [ids, mask, positions] = [named("input_ids"), named("attention_mask"), named("position_ids")];
  if (ids === undefined || mask === undefined)
    throw unsupportedDecoder(`it takes ${inputs.map(({ name }) => name).join(", ")}: it needs input_ids and attention_mask`);
  const whole = [ids, mask, ...(positions === undefined ? [] : [positions])];
  const [batch] = ids.shape;
  if (typeof batch === "number" && batch !== 1) throw unsupportedDecoder(`its batch size is ${batch}, and 1 was expected`);
  for (const { name, dataType, shape } of whole) {
    if ((dataType !== "int64" && dataType !== "int32") || shape.length !== 2)
      throw unsupportedDecoder(
        `its input "${name}" is ${dataType} of ${shape.length} axes, and int64 or int32 of 2 was expected`,
      );
  }
  const choice = named("use_cache_branch");
  const branch = choice?.dataType === "bool" && choice.shape.length <= 1 ? choice : undefined;
  const sources = named(sourceMaskName) === undefined ? [] : inputs.filter(({ name }) => sourceName.test(name));
  const others = inputs.filter((input) => !whole.includes(input) && !sources.includes(input) && input !== branch);
  const past = others.map((info) => pastInput(info, batch));
  if (past.length === 0)
    throw unsupportedDecoder("it takes no keys and values of the past: export it with them (Optimum: text-generation-with-past)");
  const states = past.flatMap(getStates).map((each) => ({ ...each, info: { ...each.info, dataType: cacheType } }));
  return { ids, mask, positions, branch, past, states, sources };
}

function pastInput(info: TensorInfo, batch: number | string | undefined): PastInput {
  const free = [...info.shape.keys()].filter((axis) => typeof info.shape[axis] !== "number");
  // With a free batch size the batch axis is the one with the name of the batch of `input_ids`, or else the first free axis.
  const batchAxis = typeof batch === "number" ? undefined : (free.find((axis) => info.shape[axis] === batch) ?? free[0]);
  const rest = free.filter((axis) => axis !== batchAxis);
  const [axis] = rest;
  if (info.dataType !== "float32" || axis === undefined || rest.length > 1)
    throw unsupportedDecoder(
      `its input "${info.name}" is ${info.dataType} [${info.shape.join(", ")}]: no keys or values in float32 with one free length`,
    );
  return { info, axis, batchAxis, isJoined: info.shape.length === 5 && info.shape[0] === 2 };
}

function getStates(past: PastInput): readonly PastInput[] {
  const { info, axis, batchAxis, isJoined } = past;
  if (!isJoined) return [past];
  return [0, 1].map((half) => {
    const own = { name: halfName(info.name, half), dataType: info.dataType, shape: info.shape.slice(1) };
    return { info: own, axis: axis - 1, batchAxis: batchAxis === undefined ? undefined : batchAxis - 1, isJoined: false };
  });
}

/** The type of a past input that holds `tokens` tokens of each of `batch` sequences. */
export function pastType({ info, axis }: PastInput, tokens: number, batch: number = 1): TensorType {
  const shape = info.shape.map((size, at) => (at === axis ? tokens : typeof size === "number" ? size : batch));
  return { dataType: info.dataType, shape };
}

/** The type of an input of the source, which has `tokens` tokens, for `batch` sequences. The axis of the tokens is the free one after the batch. */
export function sourceType({ dataType, shape }: TensorInfo, tokens: number, batch: number): TensorType {
  return { dataType, shape: shape.map((size, axis) => (typeof size === "number" ? size : axis === 0 ? batch : tokens)) };
}

/** Whether several sequences can be decoded in one run: the batch size is free, and the batch is axis 0 of all states. */
export function hasFreeBatch({ ids, states }: DecoderInputs): boolean {
  return typeof ids.shape[0] !== "number" && states.every(({ batchAxis }) => batchAxis === 0);
}

function unsupportedDecoder(reason: string): InferyardError {
  return new InferyardError("MODEL_UNSUPPORTED", `the model cannot be decoded with a cache: ${reason}`);
}
