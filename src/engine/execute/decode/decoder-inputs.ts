/**
 * What a decoder takes, as exporters of language models name it: `input_ids` [batch, new], `attention_mask` [batch, past + new], perhaps
 * `position_ids` [batch, new], and for every layer keys and values of the past, floats with one axis of free length beside the batch. Models that
 * were merged of two, one without a past, also take `use_cache_branch` [1], which says which of them is meant.
 */
import { InferyardError } from "../../../errors.ts";
import type { TensorInfo } from "../../../tensor.ts";
import type { TensorType } from "../../ir/graph.ts";
import { halfName } from "./split-past.ts";

export interface DecoderInputs {
  readonly ids: TensorInfo;
  readonly mask: TensorInfo;
  /** Absent where the model finds them itself. */
  readonly positions: TensorInfo | undefined;
  /** Whether the past is used, which it always is here. Absent where the model takes no choice. */
  readonly branch: TensorInfo | undefined;
  readonly past: readonly PastInput[];
  /** Keys and values by themselves: the past, of which what is joined was taken apart. */
  readonly states: readonly PastInput[];
}

export interface PastInput {
  readonly info: TensorInfo;
  /** The axis of the tokens. */
  readonly axis: number;
  /** It holds keys and values, one after the other along its first axis. */
  readonly isJoined: boolean;
}

/** MODEL_UNSUPPORTED where it is no decoder, or takes something else beside this. */
export function decoderInputs(inputs: readonly TensorInfo[]): DecoderInputs {
  const named = (name: string): TensorInfo | undefined => inputs.find((input) => input.name === name);
  const [ids, mask, positions] = [named("input_ids"), named("attention_mask"), named("position_ids")];
  if (ids === undefined || mask === undefined)
    throw unsupportedDecoder(`it takes ${inputs.map(({ name }) => name).join(", ")}: no input_ids with an attention_mask`);
  const whole = [ids, mask, ...(positions === undefined ? [] : [positions])];
  const [batch] = ids.shape;
  if (typeof batch === "number" && batch !== 1)
    throw unsupportedDecoder(`it takes ${batch} sequences at once, and one was expected`);
  for (const { name, dataType, shape } of whole) {
    if ((dataType !== "int64" && dataType !== "int32") || shape.length !== 2)
      throw unsupportedDecoder(
        `its input "${name}" is ${dataType} of ${shape.length} axes, and int64 or int32 of 2 was expected`,
      );
  }
  const choice = named("use_cache_branch");
  const branch = choice?.dataType === "bool" && choice.shape.length <= 1 ? choice : undefined;
  const past = inputs.filter((input) => !whole.includes(input) && input !== branch).map((info) => pastInput(info, batch));
  if (past.length === 0)
    throw unsupportedDecoder("it takes no keys and values of the past: export it with them (Optimum: text-generation-with-past)");
  return { ids, mask, positions, branch, past, states: past.flatMap(statesOf) };
}

function pastInput(info: TensorInfo, batch: number | string | undefined): PastInput {
  const free = [...info.shape.keys()].filter((axis) => typeof info.shape[axis] !== "number");
  // Of a batch of free size, the axis that has its name, or else the first.
  const batchAxis = typeof batch === "number" ? undefined : (free.find((axis) => info.shape[axis] === batch) ?? free[0]);
  const rest = free.filter((axis) => axis !== batchAxis);
  const [axis] = rest;
  if (info.dataType !== "float32" || axis === undefined || rest.length > 1)
    throw unsupportedDecoder(
      `its input "${info.name}" is ${info.dataType} [${info.shape.join(", ")}]: no keys or values in float32 with one free length`,
    );
  return { info, axis, isJoined: info.shape.length === 5 && info.shape[0] === 2 };
}

function statesOf(past: PastInput): readonly PastInput[] {
  const { info, axis, isJoined } = past;
  if (!isJoined) return [past];
  return [0, 1].map((half) => {
    const own = { name: halfName(info.name, half), dataType: info.dataType, shape: info.shape.slice(1) };
    return { info: own, axis: axis - 1, isJoined: false };
  });
}

/** The type of a past of so many tokens, of one sequence. */
export function pastType({ info, axis }: PastInput, tokens: number): TensorType {
  const shape = info.shape.map((size, at) => (at === axis ? tokens : typeof size === "number" ? size : 1));
  return { dataType: info.dataType, shape };
}

function unsupportedDecoder(reason: string): InferyardError {
  return new InferyardError("MODEL_UNSUPPORTED", `the model cannot be decoded with a cache: ${reason}`);
}
