/** Language models that are asked for one token after another: what they take and give beside ids and logits. */
import { InferyardError } from "../../errors.ts";
import type { TensorInfo } from "../../tensor.ts";
import type { Value } from "../ir/graph.ts";
import type { TensorOps } from "../build/tensor-ops.ts";
import { float32Info, type GetInput, int64Info, type Transformer } from "./transformer.ts";

/** Keys and values of a layer, [N, heads, S, D]. */
export interface KeyValueCache {
  readonly key: Value;
  readonly value: Value;
}

/** Puts what a layer makes of the new tokens behind what it made of those before, and gives both. */
export type UpdateCache = (layer: number, now: KeyValueCache) => KeyValueCache;

export interface CausalInputs {
  /** int64 [N, L]. */
  readonly ids: Value;
  /** int64 [N, past + L]. */
  readonly mask: Value;
  /** int64 [N, L]. */
  readonly positions: Value;
}

export interface CausalModel {
  readonly layers: number;
  /** Heads of keys and values, and the elements of each. */
  readonly keyValueHeads: number;
  readonly headSize: number;
  /** What comes out, [N, L, size]: logits, or hidden states. */
  readonly output: "logits" | "last_hidden_state";
  readonly outputSize: number;
  build(ops: TensorOps, inputs: CausalInputs, remember: UpdateCache): Value;
}

const cacheParts = ["key", "value"] as const;

/** Logits come with caches; hidden states, which nobody asks for token by token, without. */
export function causalTransformer(model: CausalModel): Transformer {
  const { layers, keyValueHeads, headSize, output, outputSize, build } = model;
  const cached = output === "logits";
  const caches = (name: string, length: string): readonly TensorInfo[] =>
    Array.from({ length: cached ? layers : 0 }, (_, layer) =>
      cacheParts.map((part) => float32Info(`${name}.${layer}.${part}`, "batch_size", keyValueHeads, length, headSize)),
    ).flat();
  const total = cached ? "past_sequence_length + sequence_length" : "sequence_length";
  return {
    inputs: [
      int64Info("input_ids"),
      int64Info("attention_mask", total),
      int64Info("position_ids"),
      ...caches("past_key_values", "past_sequence_length"),
    ],
    outputs: [float32Info(output, "batch_size", "sequence_length", outputSize), ...caches("present", total)],
    forward: (ops, given) => {
      const inputs = { ids: given("input_ids"), mask: given("attention_mask"), positions: given("position_ids") };
      checkTotal(inputs, cached ? pastLength(given) : 0);
      const present: Record<string, Value> = {};
      const result = build(ops, inputs, (layer, now) => {
        if (!cached) return now;
        const [key, value] = cacheParts.map((part) => {
          const past = given(`past_key_values.${layer}.${part}`);
          return (present[`present.${layer}.${part}`] = ops.add({ kind: "concat", axis: 2 }, past, now[part]));
        });
        if (key === undefined || value === undefined) throw new Error("a layer has no cache");
        return { key, value };
      });
      return { [output]: result, ...present };
    },
  };
}

function pastLength(given: GetInput): number {
  return given("past_key_values.0.key").type.shape[2] ?? 0;
}

function checkTotal({ ids: tokens, mask }: CausalInputs, past: number): void {
  const [, length = 0] = tokens.type.shape;
  const [, total = 0] = mask.type.shape;
  if (total === past + length) return;
  throw new InferyardError(
    "INPUT_INVALID",
    `"attention_mask" is of ${total} places, and there are ${past} in the caches and ${length} in "input_ids"`,
  );
}
