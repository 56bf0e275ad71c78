/** GroupQueryAttention of com.microsoft: grouped heads with a key-value cache, rotary embeddings, a sliding window and a length for each sequence. */
import { at } from "../../../../contract/checked.ts";
import type { Value } from "../../../ir/graph.ts";
import { joinHeads, splitHeads } from "../../../build/nn/attention.ts";
import { applyRotaryEmbedding } from "../../../build/nn/rotary-embedding.ts";
import { scaledDotProductAttention, maskToBias, iota } from "../attention/scaled-dot-product.ts";
import type { OperatorCall } from "../operator-call.ts";
import { type OperatorFamily, since } from "../operator-rule.ts";
import { widened, widenedIfGiven } from "../precision.ts";
import { selectCacheRows } from "../attention/rotary-embedding.ts";

/**
 * Ainslie et al., https://arxiv.org/abs/2305.13245;
 * https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#commicrosoftgroupqueryattention. Inputs: query, key, value (or all in the
 * first), past key and value [N, heads, P, D], last position of every sequence, maximum length, cosine and sine cache, positions, bias of the scores,
 * attention sinks.
 */
function groupQueryAttention(call: OperatorCall): readonly Value[] {
  refuseVariants(call);
  const [heads, keyHeads] = [call.int("num_heads", 0), call.int("kv_num_heads", 0)];
  const [query, key, value] = getOperands(call, heads, keyHeads);
  const [batch = 0, , length = 0] = query.type.shape;
  const maxLength = call.knownInteger(6);
  const lastPositions = call.reshape(call.cast(call.tensor(5), "int64"), [batch, 1, 1, 1]);
  const isAppending = call.builder.appendsToCaches && call.tensorIfGiven(3) !== undefined;
  // The first call brings whole sequences; later calls append to each sequence.
  const starts = length === maxLength && !isAppending ? undefined : call.binary("sub", lastPositions, length - 1);
  const steps = iota(call, length, 2, 4);
  const positions = starts === undefined ? steps : call.binary("add", starts, steps);
  const [rotatedQuery, rotatedKey] = withRotaryEmbedding(call, query, key, positions);
  const update = (input: number, rows: Value): Value =>
    isAppending ? appendedCache(call, input, rows) : updatedCache(call, input, rows, { positions, starts, maxLength });
  const [keys, values] = [update(3, rotatedKey), update(4, value)];
  const total = at(keys.type.shape, 2);
  const { output } = scaledDotProductAttention(call, {
    query: rotatedQuery,
    key: widened(call, keys),
    value: widened(call, values),
    scale: call.float("scale", 0) || 1 / Math.sqrt(at(query.type.shape, 3)),
    softcap: call.float("softcap", 0),
    bias: biasFor(call, {
      positions,
      lastPositions,
      keyPositions: isAppending ? appendedPositions(call, positions, lastPositions, total) : iota(call, total, 3, 4),
    }),
    sink: getSink(call, heads),
  });
  const { dataType } = call.tensor(0).type;
  return [call.cast(joinHeads(call, output), dataType), keys, values];
}

/** Throws for the outputs and inputs that are not supported. */
function refuseVariants(call: OperatorCall): void {
  if (call.usesOutput(3)) throw new Error("the output of attention scores is not supported");
  call.ignore("qk_output", "k_quant_type", "v_quant_type", "kv_cache_bit_width"); // attributes of that output and of the inputs refused below
  for (let input = 12; input < call.inputCount; input += 1)
    if (call.tensorIfGiven(input) !== undefined)
      throw new Error(`input ${input} is not supported: quantized caches and norms of queries and keys`);
}

/** Queries, keys and values [N, heads, L, D], separate or packed in the first input. */
function getOperands(call: OperatorCall, heads: number, keyHeads: number): readonly [query: Value, key: Value, value: Value] {
  const [q, k, v] = [widened(call, call.tensor(0)), widenedIfGiven(call, 1), widenedIfGiven(call, 2)];
  if (k !== undefined && v !== undefined)
    return [splitHeads(call, q, heads), splitHeads(call, k, keyHeads), splitHeads(call, v, keyHeads)];
  const size = at(q.type.shape, 2) / (heads + 2 * keyHeads);
  return [
    splitHeads(call, call.slice(q, 2, 0, heads * size), heads),
    splitHeads(call, call.slice(q, 2, heads * size, keyHeads * size), keyHeads),
    splitHeads(call, call.slice(q, 2, (heads + keyHeads) * size, keyHeads * size), keyHeads),
  ];
}

/** Queries and keys with rotary embeddings, if `do_rotary` is set. */
function withRotaryEmbedding(
  call: OperatorCall,
  query: Value,
  key: Value,
  positions: Value,
): readonly [query: Value, key: Value] {
  const interleaved = call.int("rotary_interleaved", 0) === 1;
  if (call.int("do_rotary", 0) !== 1) return [query, key];
  const [first = 1, , length = 0] = positions.type.shape;
  const rows = call.tensorIfGiven(9) ?? call.reshape(positions, [first, length]);
  const [cosines, sines] = [7, 8].map((input) => {
    const cache = widened(call, call.tensor(input));
    return selectCacheRows(call, cache, rows, at(cache.type.shape, 1));
  });
  if (cosines === undefined || sines === undefined) throw new Error("the cosine or sine cache is missing");
  return [
    applyRotaryEmbedding(call, query, cosines, sines, interleaved),
    applyRotaryEmbedding(call, key, cosines, sines, interleaved),
  ];
}

/** Where the new keys and values of this call are in the cache. */
interface CachePositions {
  /** [N or 1, 1, L, 1]: the position of each new key. */
  readonly positions: Value;
  /** [N, 1, 1, 1]: the number of keys that each sequence has already; undefined in the first call. */
  readonly starts: Value | undefined;
  readonly maxLength: number;
}

/** The cache after this call: what it holds of each sequence, the new rows, and zeros up to the larger of its old length and the maximum length. */
function updatedCache(call: OperatorCall, input: number, rows: Value, { positions, starts, maxLength }: CachePositions): Value {
  const { dataType } = call.tensor(0).type;
  const current = call.cast(rows, dataType);
  const [batch = 0, heads = 0, , size = 0] = current.type.shape;
  const past = call.tensorIfGiven(input);
  const before = past === undefined ? 0 : at(past.type.shape, 2);
  const total = Math.max(before, maxLength);
  const zeros = (length: number): Value => call.zeros(dataType, [batch, heads, length, size]);
  let cache = zeros(total);
  if (past !== undefined && starts !== undefined) {
    const filled = call.select(call.binary("less", iota(call, before, 2, 4), starts), past, 0);
    cache = total === before ? filled : call.add({ kind: "concat", axis: 2 }, filled, zeros(total - before));
  }
  const indices = call.add({ kind: "expand", shape: current.type.shape }, positions);
  return call.add({ kind: "scatter-elements", axis: 2, reduction: "none" }, cache, indices, current);
}

/** The cache with the new rows after all of its places, of which the last before them may be unused. */
function appendedCache(call: OperatorCall, input: number, rows: Value): Value {
  const past = call.tensor(input);
  return call.add({ kind: "concat", axis: 2 }, past, call.cast(rows, past.type.dataType));
}

/** The position of each key of `appendedCache` [N, 1, 1, S]; unused places get one after the last. */
function appendedPositions(call: OperatorCall, positions: Value, lastPositions: Value, total: number): Value {
  const [batch = 0, , length = 0] = positions.type.shape;
  const cached = iota(call, total - length, 3, 4);
  const first = call.slice(positions, 2, 0, 1);
  const used = call.binary("less", cached, first);
  const behind = call.binary("add", lastPositions, 1);
  return call.add({ kind: "concat", axis: 3 }, call.select(used, cached, behind), call.reshape(positions, [batch, 1, 1, length]));
}

/** Where the queries, the keys and the ends of the sequences are. */
interface AttentionPositions {
  /** Of the queries, [N or 1, 1, L, 1]. */
  readonly positions: Value;
  /** Of the last token of each sequence, [N, 1, 1, 1]. */
  readonly lastPositions: Value;
  /** Of the keys, [N or 1, 1, 1, S]. */
  readonly keyPositions: Value;
}

/** The additive mask: a query sees keys up to its own position and up to the end of its sequence, and with a window only the last of those. */
function biasFor(call: OperatorCall, { positions, lastPositions, keyPositions: keys }: AttentionPositions): Value {
  const window = call.int("local_window_size", -1);
  const seen = call.binary("less-or-equal", keys, call.binary("min", positions, lastPositions));
  const visible =
    window < 0 ? seen : call.binary("and", seen, call.binary("greater", keys, call.binary("sub", positions, window)));
  const bias = maskToBias(call, visible, "float32");
  const stated = widenedIfGiven(call, 10);
  return stated === undefined ? bias : call.binary("add", bias, stated);
}

/** The attention sink of each head; 0 if `smooth_softmax` is set; else undefined. */
function getSink(call: OperatorCall, heads: number): Value | undefined {
  const sinks = widenedIfGiven(call, 11);
  const smooth = call.int("smooth_softmax", 0) === 1;
  if (sinks !== undefined) return call.reshape(sinks, [1, heads, 1, 1]);
  return smooth ? call.scalar(0, "float32") : undefined;
}

/** Translates GroupQueryAttention of com.microsoft to graph operations. */
export const groupQueryAttentions: OperatorFamily = {
  "com.microsoft:GroupQueryAttention": since(1, groupQueryAttention),
};
