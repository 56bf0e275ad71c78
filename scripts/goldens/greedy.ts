/** Greedy decoding over plain tensors, with the past that the model gives back: for graphs in Optimum's layout, decoders alone and merged ones. */
import type { ModelHandle, Tensor, TensorMap } from "inferyard";

/** Rows of one length; those that are shorter are filled on the left, and masked there. */
export interface Prompt {
  readonly ids: readonly (readonly number[])[];
  /** 1 where there is a token. Default: everywhere. */
  readonly masks?: readonly (readonly number[])[] | undefined;
  /** Given to every step as they are: an encoder's hidden states and their mask. */
  readonly beside?: TensorMap;
}

export interface Generated {
  /** New token ids of each row. */
  readonly ids: readonly (readonly number[])[];
  /** What the first call said of every token of the prompt: [rows, tokens, vocabulary]. */
  readonly prompt: Tensor;
  /** Of each row after the last step that chose a token: [rows, 1, vocabulary], or the prompt's where there was one step. */
  readonly last: Tensor;
}

/** The highest logit, `steps` times. */
export async function generate(model: ModelHandle, { ids, masks, beside = {} }: Prompt, steps: number): Promise<Generated> {
  const seen = masks?.map((mask) => [...mask]) ?? ids.map((row) => row.map(() => 1));
  const chosen: number[][] = ids.map(() => []);
  let past: TensorMap = firstPast(model, ids.length);
  let tokens: readonly (readonly number[])[] = ids;
  let prompt: Tensor | undefined;
  for (let step = 0; ; step += 1) {
    const outputs = await model.run({ ...given(model, tokens, seen, step), ...beside, ...past });
    const { logits } = outputs;
    if (logits === undefined) throw new Error('the model gives no "logits"');
    prompt ??= logits;
    const next = highest(logits);
    for (const [row, id] of next.entries()) chosen[row]?.push(id);
    if (step + 1 === steps) return { ids: chosen, prompt, last: logits };
    past = nextPast(outputs, past);
    for (const mask of seen) mask.push(1);
    tokens = next.map((id) => [id]);
  }
}

function given(
  model: ModelHandle,
  tokens: readonly (readonly number[])[],
  seen: readonly (readonly number[])[],
  step: number,
): TensorMap {
  const count = tokens[0]?.length ?? 0;
  const known: Readonly<Record<string, () => Tensor>> = {
    input_ids: () => whole(tokens),
    attention_mask: () => whole(seen),
    position_ids: () => whole(seen.map((mask) => positions(mask).slice(-count))),
    cache_position: () => places(seen[0]?.length ?? 0, count),
    use_cache_branch: () => ({ dataType: "bool", shape: [1], data: Uint8Array.of(step === 0 ? 0 : 1) }),
  };
  return Object.fromEntries(
    model.inputs.flatMap(({ name }): [string, Tensor][] => {
      const make = known[name];
      return make === undefined ? [] : [[name, make()]];
    }),
  );
}

/** As transformers counts: tokens that are masked stand at 1. */
function positions(mask: readonly number[]): number[] {
  let place = -1;
  return mask.map((one) => {
    place += one;
    return one === 1 ? place : 1;
  });
}

/** Those of the newest `count` of `length` tokens. */
function places(length: number, count: number): Tensor {
  const data = BigInt64Array.from({ length: count }, (_place, index) => BigInt(length - count + index));
  return { dataType: "int64", shape: [count], data };
}

/** Nothing: length 0 wherever a size is free that is not the number of rows. */
function firstPast(model: ModelHandle, rows: number): TensorMap {
  const entries = model.inputs.filter(({ name }) => name.startsWith("past_key_values."));
  return Object.fromEntries(
    entries.map(({ name, shape }): [string, Tensor] => {
      const sizes = shape.map((size, axis) => (axis === 0 ? rows : typeof size === "number" ? size : 0));
      return [name, { dataType: "float32", shape: sizes, data: new Float32Array(sizes.reduce((one, other) => one * other, 1)) }];
    }),
  );
}

/** What an encoder's keys and values are is said once; a merged decoder gives them empty afterwards. */
function nextPast(outputs: TensorMap, before: TensorMap): TensorMap {
  return Object.fromEntries(
    Object.entries(before).map(([name, old]): [string, Tensor] => {
      const now = outputs[name.replace("past_key_values", "present")];
      if (now === undefined) throw new Error(`the model gives no "${name.replace("past_key_values", "present")}"`);
      return [name, now.data.length === 0 ? old : now];
    }),
  );
}

/** Of the last token of each row. */
function highest(logits: Tensor): readonly number[] {
  return Array.from({ length: logits.shape[0] ?? 0 }, (_row, row) => {
    const values = lastOf(logits, row);
    return values.indexOf(values.reduce((one, other) => Math.max(one, other), Number.NEGATIVE_INFINITY));
  });
}

/** The logits of the last token of a row. */
export function lastOf({ data, shape }: Tensor, row: number): Float32Array {
  if (!(data instanceof Float32Array)) throw new Error("the model gives no 32-bit floats");
  const [, tokens = 1, size = 1] = shape;
  const end = (row + 1) * tokens * size;
  return data.slice(end - size, end);
}

/** Whole numbers as the models take them: int64, [rows, columns]. */
export function whole(rows: readonly (readonly number[])[]): Tensor {
  return { dataType: "int64", shape: [rows.length, rows[0]?.length ?? 0], data: BigInt64Array.from(rows.flat(), BigInt) };
}
