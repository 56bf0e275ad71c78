/** Attention operators of ai.onnx, and TensorScatter, which writes into a cache of keys or values. */
import { at } from "../../../../contract/checked.ts";
import { causalMask, joinHeads, splitHeads } from "../../../build/nn/attention.ts";
import type { Value } from "../../../ir/graph.ts";
import type { OnnxGraph } from "../../onnx-model.ts";
import { isTensor } from "../../../build/traced-value.ts";
import { sumBiases, appendToCache, scaledDotProductAttention, maskToBias, iota } from "./scaled-dot-product.ts";
import { normalizeAxis, type OperatorCall } from "../operator-call.ts";
import { type OperatorFamily, since } from "../operator-rule.ts";
import { widened } from "../precision.ts";

/**
 * ONNX Attention, opset 23, https://onnx.ai/onnx/operators/onnx__Attention.html. Inputs: Q, K, V, mask, past key, past value, number of valid keys.
 * Q, K and V of rank 3 are split into heads. Outputs: Y, present key and value, and the scores that `qk_matmul_output_mode` selects.
 */
function attention(call: OperatorCall): readonly Value[] {
  const [q, k, v] = [call.tensor(0), call.tensor(1), call.tensor(2)];
  const isPacked = q.type.shape.length === 3;
  const [queryHeads, keyHeads] = [call.int("q_num_heads", 0), call.int("kv_num_heads", 0)];
  const query = isPacked ? splitHeads(call, q, queryHeads) : q;
  const key = appendToCache(call, call.tensorIfGiven(4), isPacked ? splitHeads(call, k, keyHeads) : k);
  const value = appendToCache(call, call.tensorIfGiven(5), isPacked ? splitHeads(call, v, keyHeads) : v);
  const wide = widened(call, query);
  const softmaxType = call.elementType("softmax_precision");
  const mode = call.int("qk_matmul_output_mode", 0);
  const steps = scaledDotProductAttention(call, {
    query: wide,
    key: widened(call, key),
    value: widened(call, value),
    scale: call.float("scale", 1 / Math.sqrt(at(query.type.shape, 3))),
    softcap: call.float("softcap", 0),
    bias: attentionBias(call, wide, at(key.type.shape, 2)),
    softmaxType,
  });
  const shown = [steps.scores, steps.capped, steps.biased, steps.probabilities][mode];
  if (shown === undefined) throw new Error(`qk_matmul_output_mode ${mode} is unknown`);
  const { dataType } = q.type;
  return [call.cast(isPacked ? joinHeads(call, steps.output) : steps.output, dataType), key, value, call.cast(shown, dataType)];
}

/** The sum of the mask, the causal mask and that of padded keys. */
function attentionBias(call: OperatorCall, query: Value, total: number): Value | undefined {
  const { dataType } = query.type;
  const length = at(query.type.shape, 2);
  const causal = call.int("is_causal", 0) === 1;
  const past = call.tensorIfGiven(4);
  const filled = call.tensorIfGiven(6);
  const mask = call.tensorIfGiven(3);
  const counts = filled === undefined ? undefined : call.cast(filled, "int64");
  const keys = iota(call, total, 3, 4);
  const ends = counts === undefined ? undefined : call.reshape(counts, [at(counts.type.shape, 0), 1, 1, 1]);
  let later: Value | undefined;
  if (causal && past === undefined && ends !== undefined) {
    // The last query is at the position of the last valid key.
    const positions = call.binary("add", iota(call, length, 2, 4), call.binary("sub", ends, length));
    later = maskToBias(call, call.binary("less-or-equal", keys, positions), dataType);
  } else if (causal) {
    later = maskToBias(call, causalMask(call, length, total, past === undefined ? 0 : at(past.type.shape, 2)), dataType);
  }
  const padding = ends === undefined ? undefined : maskToBias(call, call.binary("less", keys, ends), dataType);
  return sumBiases(call, mask === undefined ? undefined : maskBias(call, mask, query, total), later, padding);
}

/** The mask as an additive one. From version 24 on, keys after the end of a shorter mask are masked. */
function maskBias(call: OperatorCall, mask: Value, query: Value, total: number): Value {
  const { dataType } = query.type;
  const bias = mask.type.dataType === "bool" ? maskToBias(call, mask, dataType) : call.cast(mask, dataType);
  const { shape } = bias.type;
  const missing = total - (shape.at(-1) ?? 0);
  if (missing <= 0 || call.version < 24) return bias;
  const none = shape.map(() => 0);
  const out = call.scalar(Number.NEGATIVE_INFINITY, dataType);
  return call.add({ kind: "pad", mode: "constant", before: none, after: none.with(none.length - 1, missing) }, bias, out);
}

/** FlexAttention of ai.onnx.preview: scores and probabilities pass through subgraphs of the model (https://arxiv.org/abs/2412.05496). */
function flexAttention(call: OperatorCall): Value {
  const query = widened(call, call.tensor(0));
  const through =
    (name: string) =>
    (x: Value): Value => {
      const attribute = call.attribute(name);
      if (attribute === undefined) return x;
      return modified(call, call.graph(name), x);
    };
  const { output } = scaledDotProductAttention(call, {
    query,
    key: widened(call, call.tensor(1)),
    value: widened(call, call.tensor(2)),
    scale: call.float("scale", 1 / Math.sqrt(at(query.type.shape, 3))),
    softcap: 0,
    bias: undefined,
    softmaxType: call.elementType("softmax_precision"),
    modifyScores: through("score_mod"),
    modifyProbabilities: through("prob_mod"),
  });
  return call.cast(output, call.tensor(0).type.dataType);
}

/** The output of a subgraph that is given one tensor and returns one of the same type. */
function modified(call: OperatorCall, graph: OnnxGraph, x: Value): Value {
  const [result] = call.subgraphs.trace(graph, [x]);
  if (result === undefined || !isTensor(result) || result.type.dataType !== x.type.dataType)
    throw new Error(`the subgraph "${graph.name}" does not return a tensor of ${x.type.dataType}`);
  return result;
}

/** ONNX TensorScatter, opset 24: writes an update into a cache along an axis, from a start index for each batch entry on; "circular" wraps around. */
function tensorScatter(call: OperatorCall): Value {
  const cache = call.tensor(0);
  const update = call.tensor(1);
  const rank = cache.type.shape.length;
  const axis = normalizeAxis(call.int("axis", -2), rank);
  const mode = call.string("mode", "linear");
  if (mode !== "linear" && mode !== "circular") throw new Error(`mode "${mode}" is unknown`);
  const starts = call.tensorIfGiven(2);
  const [batch = 0] = cache.type.shape;
  const steps = iota(call, at(update.type.shape, axis), axis, rank);
  const positions =
    starts === undefined
      ? steps
      : call.binary(
          "add",
          steps,
          call.reshape(
            call.cast(starts, "int64"),
            Array.from({ length: rank }, (_, index) => (index === 0 ? batch : 1)),
          ),
        );
  const wrapped = mode === "circular" ? call.binary("mod", positions, at(cache.type.shape, axis)) : positions;
  const indices = call.add({ kind: "expand", shape: update.type.shape }, wrapped);
  return call.add({ kind: "scatter-elements", axis, reduction: "none" }, cache, indices, update);
}

/** Translates the ONNX operators Attention, FlexAttention and TensorScatter to graph operations. */
export const attentions: OperatorFamily = {
  Attention: since(23, attention),
  "ai.onnx.preview:FlexAttention": since(1, flexAttention),
  TensorScatter: since(24, tensorScatter),
};
