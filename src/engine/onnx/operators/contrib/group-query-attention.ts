/** com.microsoft's GroupQueryAttention: a cache of fixed length, rotary embeddings, a window, and lengths that differ by sequence. */
import type { Value } from "../../../ir/graph.ts";
import { joinHeads, splitHeads } from "../../../build/nn/attention.ts";
import { applyRotaryEmbedding } from "../../../build/nn/rotary-embedding.ts";
import { scaledDotProductAttention, maskToBias, iota } from "../attention/scaled-dot-product.ts";
import type { OperatorCall } from "../operator-call.ts";
import { type OperatorFamily, since } from "../operator-rule.ts";
import { widened, widenedIfGiven } from "../precision.ts";
import { selectCacheRows } from "../attention/rotary-embedding.ts";

/**
 * Ainslie and others, https://arxiv.org/abs/2305.13245. Inputs: queries, keys, values (or all in the first), cached keys and values
 * [N, heads, P, D], of every sequence its last place, the longest length, cosines and sines, places, bias of the scores, sinks.
 */
function groupQueryAttention(call: OperatorCall): readonly Value[] {
  refuseVariants(call);
  const [heads, keyHeads] = [call.int("num_heads", 0), call.int("kv_num_heads", 0)];
  const [query, key, value] = operandsOf(call, heads, keyHeads);
  const [batch = 0, , length = 0] = query.type.shape;
  const longest = call.knownIntegers(6)[0] ?? 0;
  const lasts = call.reshape(call.cast(call.tensor(5), "int64"), [batch, 1, 1, 1]);
  // The first call brings whole sequences; later ones come behind what each has.
  const starts = length === longest ? undefined : call.binary("sub", lasts, length - 1);
  const steps = iota(call, length, 2, 4);
  const places = starts === undefined ? steps : call.binary("add", starts, steps);
  const [turnedQuery, turnedKey] = turned(call, query, key, places);
  const keys = cached(call, 3, turnedKey, { places, starts, longest });
  const values = cached(call, 4, value, { places, starts, longest });
  const total = keys.type.shape[2] ?? 0;
  const { output } = scaledDotProductAttention(call, {
    query: turnedQuery,
    key: widened(call, keys),
    value: widened(call, values),
    scale: call.float("scale", 0) || 1 / Math.sqrt(query.type.shape[3] ?? 1),
    softcap: call.float("softcap", 0),
    bias: biasFor(call, places, lasts, total),
    sink: sinkOf(call, heads),
  });
  const { dataType } = call.tensor(0).type;
  return [call.cast(joinHeads(call, output), dataType), keys, values];
}

function refuseVariants(call: OperatorCall): void {
  if (call.usesOutput(3)) throw new Error("its scores as an output are not built");
  call.ignore("qk_output", "k_quant_type", "v_quant_type", "kv_cache_bit_width"); // of that output, and of the inputs refused below
  for (let input = 12; input < call.inputCount; input += 1)
    if (call.tensorIfGiven(input) !== undefined) throw new Error("quantised caches and norms inside it are not built");
}

function operandsOf(call: OperatorCall, heads: number, keyHeads: number): readonly [query: Value, key: Value, value: Value] {
  const [q, k, v] = [widened(call, call.tensor(0)), widenedIfGiven(call, 1), widenedIfGiven(call, 2)];
  if (k !== undefined && v !== undefined)
    return [splitHeads(call, q, heads), splitHeads(call, k, keyHeads), splitHeads(call, v, keyHeads)];
  const size = (q.type.shape[2] ?? 0) / (heads + 2 * keyHeads);
  return [
    splitHeads(call, call.slice(q, 2, 0, heads * size), heads),
    splitHeads(call, call.slice(q, 2, heads * size, keyHeads * size), keyHeads),
    splitHeads(call, call.slice(q, 2, (heads + keyHeads) * size, keyHeads * size), keyHeads),
  ];
}

/** Queries and keys with their places turned in, where it is asked for. */
function turned(call: OperatorCall, query: Value, key: Value, places: Value): readonly [query: Value, key: Value] {
  const interleaved = call.int("rotary_interleaved", 0) === 1;
  if (call.int("do_rotary", 0) !== 1) return [query, key];
  const [first = 1, , length = 0] = places.type.shape;
  const rows = call.tensorIfGiven(9) ?? call.reshape(places, [first, length]);
  const [cosines, sines] = [7, 8].map((input) => {
    const cache = widened(call, call.tensor(input));
    return selectCacheRows(call, cache, rows, cache.type.shape[1] ?? 0);
  });
  if (cosines === undefined || sines === undefined) throw new Error("it lacks a cache");
  return [
    applyRotaryEmbedding(call, query, cosines, sines, interleaved),
    applyRotaryEmbedding(call, key, cosines, sines, interleaved),
  ];
}

interface Places {
  /** [N or 1, 1, L, 1]: of every new row. */
  readonly places: Value;
  /** [N, 1, 1, 1]: how many rows each sequence has already; undefined where it has none. */
  readonly starts: Value | undefined;
  readonly longest: number;
}

/** What the cache holds of each sequence, its new rows behind that, and zeros; as long as it was, or as the longest sequence is now. */
function cached(call: OperatorCall, input: number, rows: Value, { places, starts, longest }: Places): Value {
  const { dataType } = call.tensor(0).type;
  const now = call.cast(rows, dataType);
  const [batch = 0, heads = 0, , size = 0] = now.type.shape;
  const past = call.tensorIfGiven(input);
  const before = past?.type.shape[2] ?? 0;
  const total = Math.max(before, longest);
  const zeros = (length: number): Value => call.zeros(dataType, [batch, heads, length, size]);
  let room = zeros(total);
  if (past !== undefined && starts !== undefined) {
    const filled = call.select(call.binary("less", iota(call, before, 2, 4), starts), past, 0);
    room = total === before ? filled : call.add({ kind: "concat", axis: 2 }, filled, zeros(total - before));
  }
  const indices = call.add({ kind: "expand", shape: now.type.shape }, places);
  return call.add({ kind: "scatter-elements", axis: 2, reduction: "none" }, room, indices, now);
}

/** A query sees the keys up to its own place and up to its sequence's end, and of those only the last ones where there is a window. */
function biasFor(call: OperatorCall, places: Value, lasts: Value, total: number): Value {
  const keys = iota(call, total, 3, 4);
  const window = call.int("local_window_size", -1);
  const seen = call.binary("less-or-equal", keys, call.binary("min", places, lasts));
  const near = window < 0 ? seen : call.binary("and", seen, call.binary("greater", keys, call.binary("sub", places, window)));
  const bias = maskToBias(call, near, "float32");
  const stated = widenedIfGiven(call, 10);
  return stated === undefined ? bias : call.binary("add", bias, stated);
}

/** A sink per head, or 0 where the softmax is to be smooth. */
function sinkOf(call: OperatorCall, heads: number): Value | undefined {
  const sinks = widenedIfGiven(call, 11);
  const smooth = call.int("smooth_softmax", 0) === 1;
  if (sinks !== undefined) return call.reshape(sinks, [1, heads, 1, 1]);
  return smooth ? call.scalar(0, "float32") : undefined;
}

export const groupQueryAttentions: OperatorFamily = {
  "com.microsoft:GroupQueryAttention": since(1, groupQueryAttention),
};
