/** Language models that are asked for one token after another: what they take and give beside ids and logits. */
import { InferyardError } from "../../errors.ts";
import type { TensorInfo } from "../../tensor.ts";
import type { Value } from "../ir/graph.ts";
import type { Calculation } from "../build/tensor-ops.ts";
import { floats, type Given, ids, type Transformer } from "./transformer.ts";

/** Keys and values of a layer, [N, heads, S, D]. */
export interface Cache {
  readonly key: Value;
  readonly value: Value;
}

/** Puts what a layer makes of the new tokens behind what it made of those before, and gives both. */
export type Remember = (layer: number, now: Cache) => Cache;

export interface CausalInputs {
  /** int64 [N, L]. */
  readonly ids: Value;
  /** int64 [N, past + L]. */
  readonly mask: Value;
  /** int64 [N, L]. */
  readonly places: Value;
}

export interface CausalModel {
  readonly layers: number;
  /** Heads of keys and values, and the elements of each. */
  readonly heads: number;
  readonly headSize: number;
  /** What comes out, [N, L, size]: logits, or hidden states. */
  readonly output: "logits" | "last_hidden_state";
  readonly size: number;
  build(net: Calculation, inputs: CausalInputs, remember: Remember): Value;
}

const cacheParts = ["key", "value"] as const;

/** Logits come with caches; hidden states, which nobody asks for token by token, without. */
export function causal(model: CausalModel): Transformer {
  const { layers, heads, headSize, output, size, build } = model;
  const cached = output === "logits";
  const caches = (name: string, length: string): readonly TensorInfo[] =>
    Array.from({ length: cached ? layers : 0 }, (_, layer) =>
      cacheParts.map((part) => floats(`${name}.${layer}.${part}`, "batch_size", heads, length, headSize)),
    ).flat();
  const total = cached ? "past_sequence_length + sequence_length" : "sequence_length";
  return {
    inputs: [
      ids("input_ids"),
      ids("attention_mask", total),
      ids("position_ids"),
      ...caches("past_key_values", "past_sequence_length"),
    ],
    outputs: [floats(output, "batch_size", "sequence_length", size), ...caches("present", total)],
    forward: (net, given) => {
      const inputs = { ids: given("input_ids"), mask: given("attention_mask"), places: given("position_ids") };
      checkTotal(inputs, cached ? pastLength(given) : 0);
      const present: Record<string, Value> = {};
      const result = build(net, inputs, (layer, now) => {
        if (!cached) return now;
        const [key, value] = cacheParts.map((part) => {
          const past = given(`past_key_values.${layer}.${part}`);
          return (present[`present.${layer}.${part}`] = net.add({ kind: "concat", axis: 2 }, past, now[part]));
        });
        if (key === undefined || value === undefined) throw new Error("a layer has no cache");
        return { key, value };
      });
      return { [output]: result, ...present };
    },
  };
}

function pastLength(given: Given): number {
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
