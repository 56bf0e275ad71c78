/** Attention operators of com.microsoft: https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md. */
import { at } from "../../../../contract/checked.ts";
import { causalMask, joinHeads, splitHeads } from "../../../build/nn/attention.ts";
import type { Value } from "../../../ir/graph.ts";
import { sumBiases, appendToCache, scaledDotProductAttention, maskToBias, iota } from "../attention/scaled-dot-product.ts";
import type { OperatorCall } from "../operator-call.ts";
import { type OperatorFamily, since } from "../operator-rule.ts";
import { widened, widenedIfGiven } from "../precision.ts";
import { matmulOperator } from "../math/matrix-products.ts";
import { perColumn, integerMatmulOperator } from "../quantization/quantization.ts";

/**
 * An integer mask as an additive one that broadcasts to [N, heads, L, S]. It may be [N, S] for keys, [N, L, S] for pairs, [N, 1, M, M] for all positions up to
 * a maximum, or [N] ends of the valid keys, or [2N] with starts after the ends.
 */
function maskBias(call: OperatorCall, mask: Value, batch: number, length: number, total: number): Value {
  const filter = call.float("mask_filter_value", -10_000);
  const { shape } = mask.type;
  const [first = 0] = shape;
  const whole = call.cast(mask, "int32");
  const shown = (each: Value): Value => maskToBias(call, call.binary("greater", each, 0), "float32", filter);
  if (shape.length === 2 && first === batch && shape[1] === total) return shown(call.reshape(whole, [batch, 1, 1, total]));
  if (shape.length === 3) return shown(call.reshape(whole, [first, 1, length, total]));
  if (shape.length === 4) {
    // A matrix for all positions: the queries are its last rows.
    const rows = call.slice(whole, 2, total - length, length);
    return shown(call.slice(rows, 3, 0, total));
  }
  if (shape.length !== 1 || (first !== batch && first !== 2 * batch))
    throw new Error(`a mask of shape [${shape.join(", ")}] is not supported for ${batch} sequences of ${total} keys`);
  const keys = call.cast(iota(call, total, 3, 4), "int32");
  const ends = call.reshape(call.slice(whole, 0, 0, batch), [batch, 1, 1, 1]);
  const before = call.binary("less", keys, ends);
  if (first === batch) return maskToBias(call, before, "float32", filter);
  const begins = call.reshape(call.slice(whole, 0, batch, batch), [batch, 1, 1, 1]);
  return maskToBias(call, call.binary("and", before, call.binary("greater-or-equal", keys, begins)), "float32", filter);
}

/** The attribute `scale`, by default 1 / sqrt(D). */
function getScale(call: OperatorCall, query: Value): number {
  return call.float("scale", 0) || 1 / Math.sqrt(at(query.type.shape, 3));
}

/** The causal mask, if the attribute `unidirectional` is set. */
function causalBias(call: OperatorCall, length: number, total: number): Value | undefined {
  if (call.int("unidirectional", 0) !== 1) return undefined;
  return maskToBias(call, causalMask(call, length, total, total - length), "float32");
}

/** Attention. Inputs: x, concatenated weights and biases of queries, keys and values, mask, past [2, N, heads, P, D], bias of the scores. */
function attention(call: OperatorCall): readonly Value[] {
  if (call.int("past_present_share_buffer", 0) !== 0) throw new Error("past_present_share_buffer is not supported");
  call.ignore("rotary_embedding_dim");
  const weights = widened(call, call.tensor(1));
  const product = matmulOperator(call, widened(call, call.tensor(0)), weights);
  const bias = widenedIfGiven(call, 2);
  const all = bias === undefined ? product : call.binary("add", product, bias);
  const outputs = attendToProjections(call, all, call.tensorIfGiven(3), widenedIfGiven(call, 4), widenedIfGiven(call, 5));
  return outputs.map((each) => call.cast(each, call.tensor(0).type.dataType));
}

/** QAttention: Attention with 8-bit x and weights. Inputs: x, weights, biases, scales of both, mask, zero points of both, past. */
function quantizedAttention(call: OperatorCall): readonly Value[] {
  if (call.int("past_present_share_buffer", 0) !== 0) throw new Error("past_present_share_buffer is not supported");
  const sums = integerMatmulOperator(call, [0, 6, 1, 7]);
  const scale = call.binary(
    "mul",
    perColumn(call, widened(call, call.tensor(3))),
    perColumn(call, widened(call, call.tensor(4))),
  );
  const product = call.binary("mul", call.cast(sums, scale.type.dataType), scale);
  const all = call.binary("add", product, widened(call, call.tensor(2)));
  const outputs = attendToProjections(call, all, call.tensorIfGiven(5), widenedIfGiven(call, 8), undefined);
  return outputs.map((each) => call.cast(each, call.tensor(3).type.dataType));
}

/** The output and, on request, present keys and values, from concatenated queries, keys and values [N, L, 3 * heads * D]. */
function attendToProjections(
  call: OperatorCall,
  all: Value,
  mask: Value | undefined,
  past: Value | undefined,
  scores: Value | undefined,
): readonly Value[] {
  const heads = call.int("num_heads", 0);
  if (call.int("do_rotary", 0) !== 0) throw new Error("do_rotary is not supported");
  const third = at(all.type.shape, 2) / 3;
  let start = 0;
  const [query, key, value] = (call.ints("qkv_hidden_sizes") ?? [third, third, third]).map((size) => {
    const part = splitHeads(call, call.slice(all, 2, start, size), heads);
    start += size;
    return part;
  });
  if (query === undefined || key === undefined || value === undefined)
    throw new Error("qkv_hidden_sizes must have three entries");
  const [pastKey, pastValue] = [0, 1].map((half) => (past === undefined ? undefined : getHalf(call, past, half)));
  const keys = appendToCache(call, pastKey, key);
  const values = appendToCache(call, pastValue, value);
  const y = attend(call, query, keys, values, mask, scores);
  if (!call.usesOutput(1)) return [y];
  const grown = [keys, values].map((each) => call.reshape(each, [1, ...each.type.shape]));
  return [y, call.add({ kind: "concat", axis: 0 }, ...grown)];
}

/**
 * Attention over query [N, heads, L, D], key and value [N, heads, T, D] with the causal mask of the attribute `unidirectional`, joined to [N, L, heads * D].
 * `scores` is added to the attention scores; see `maskBias` for the shapes of `mask`.
 */
function attend(call: OperatorCall, query: Value, key: Value, value: Value, mask?: Value, scores?: Value): Value {
  const [batch = 0, , length = 0] = query.type.shape;
  const total = at(key.type.shape, 2);
  const { output } = scaledDotProductAttention(call, {
    query,
    key,
    value,
    scale: getScale(call, query),
    softcap: 0,
    bias: sumBiases(
      call,
      mask === undefined ? undefined : maskBias(call, mask, batch, length, total),
      causalBias(call, length, total),
      scores,
    ),
  });
  return joinHeads(call, output);
}

/** Keys (0) or values (1) of a past that holds both. */
function getHalf(call: OperatorCall, past: Value, half: number): Value {
  return call.reshape(call.slice(past, 0, half, 1), past.type.shape.slice(1));
}

/** Queries, keys and values [N, heads, L, D], packed in one input, in two, or separate; keys and values may be split into heads already. */
function getOperands(call: OperatorCall, heads: number): readonly [query: Value, key: Value, value: Value] {
  const [q, k, v] = [widened(call, call.tensor(0)), widenedIfGiven(call, 1), widenedIfGiven(call, 2)];
  const bias = widenedIfGiven(call, 3);
  let start = 0;
  /** Adds the next part of the bias, split into heads. */
  const biased = (x: Value): Value => {
    const width = heads * at(x.type.shape, 3);
    const part = bias === undefined ? undefined : call.reshape(call.slice(bias, 0, start, width), [heads, 1, width / heads]);
    start += width;
    return part === undefined ? x : call.binary("add", x, part);
  };
  const packed = (x: Value, parts: number): readonly Value[] =>
    Array.from({ length: parts }, (_, part) => {
      const [batch = 0, length = 0, , , size = 0] = x.type.shape;
      return call.transpose(call.reshape(call.slice(x, 3, part, 1), [batch, length, heads, size]), [0, 2, 1, 3]);
    });
  const [query, key, value] =
    k === undefined
      ? packed(q, 3)
      : v === undefined
        ? [splitHeads(call, q, heads), ...packed(k, 2)]
        : [q, k, v].map((each) => (each.type.shape.length === 4 ? each : splitHeads(call, each, heads)));
  if (query === undefined || key === undefined || value === undefined) throw new Error("queries, keys or values are missing");
  // Keys that are split into heads come from an encoder, with the bias added already.
  return k?.type.shape.length === 4 ? [biased(query), key, value] : [biased(query), biased(key), biased(value)];
}

/** MultiHeadAttention. Inputs: query, key, value, bias, key padding mask, bias of the scores, past key, past value. */
function multiHeadAttention(call: OperatorCall): readonly Value[] {
  const heads = call.int("num_heads", 0);
  const [query, newKey, newValue] = getOperands(call, heads);
  if (call.tensorIfGiven(8) !== undefined || call.tensorIfGiven(9) !== undefined)
    throw new Error("past_present_share_buffer is not supported");
  if (call.usesOutput(3)) throw new Error("the output of attention scores is not supported");
  const key = appendToCache(call, widenedIfGiven(call, 6), newKey);
  const value = appendToCache(call, widenedIfGiven(call, 7), newValue);
  const y = attend(call, query, key, value, call.tensorIfGiven(4), widenedIfGiven(call, 5));
  const { dataType } = call.tensor(0).type;
  return [y, key, value].map((each) => call.cast(each, dataType));
}

/** Translates Attention, QAttention and MultiHeadAttention of com.microsoft (onnxruntime's contrib operators) to graph operations. */
export const contribAttentions: OperatorFamily = {
  "com.microsoft:Attention": since(1, attention),
  "com.microsoft:QAttention": since(1, quantizedAttention),
  "com.microsoft:MultiHeadAttention": since(1, multiHeadAttention),
};
