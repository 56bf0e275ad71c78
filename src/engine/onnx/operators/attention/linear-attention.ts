/** Recurrent forms of attention with a state of fixed size: linear attention, and the short causal convolution that precedes it in such models. */
import { at } from "../../../../contract/checked.ts";
import type { Value } from "../../../ir/graph.ts";
import type { OperatorCall } from "../operator-call.ts";
import { type OperatorFamily, since } from "../operator-rule.ts";
import { widened, widenedIfGiven } from "../precision.ts";

const updateRules: ReadonlySet<string> = new Set(["linear", "gated", "delta", "gated_delta"]);

/**
 * ONNX LinearAttention, opset 27, unrolled over the sequence. The state S [N, heads, dk, dv] is decayed by exp(g) (gated rules), then k v' is added, or
 * for the delta rules k (beta (v - S' k))'; the output is scale * S' q. Katharopoulos et al., https://arxiv.org/abs/2006.16236; Yang et al.,
 * https://arxiv.org/abs/2412.06464.
 */
function linearAttention(call: OperatorCall): readonly Value[] {
  const rule = call.string("update_rule", "gated_delta");
  if (!updateRules.has(rule)) throw new Error(`update_rule "${rule}" is unknown`);
  const [queryHeads, heads] = [call.int("q_num_heads", 0), call.int("kv_num_heads", 0)];
  if (heads < 1 || queryHeads % heads !== 0)
    throw new Error(`q_num_heads ${queryHeads} is not a multiple of kv_num_heads ${heads}`);
  call.ignore("chunk_size"); // a matter of speed only
  const [query, key, value] = [0, 1, 2].map((input) => widened(call, call.tensor(input)));
  if (query === undefined || key === undefined || value === undefined) throw new Error("an input is missing");
  const [batch = 0, length = 0, width = 0] = query.type.shape;
  const keyWidth = width / queryHeads;
  const valueWidth = at(value.type.shape, 2) / heads;
  const shared = queryHeads / heads;
  const gated = rule === "gated" || rule === "gated_delta";
  const delta = rule === "delta" || rule === "gated_delta";
  const decay = gated ? call.unary("exp", widened(call, call.tensor(4))) : undefined;
  const beta = delta ? widened(call, call.tensor(5)) : undefined;
  const scale = call.float("scale", 0) || 1 / Math.sqrt(keyWidth);
  // One step as a matrix per head: keys and decay are columns, values rows, and the queries that share a head several rows.
  const getStep = (x: Value, step: number, rows: number, columns: number): Value =>
    call.reshape(call.slice(x, 1, step, 1), [batch, at(x.type.shape, 2) / rows / columns, rows, columns]);
  const zeros = call.zeros(query.type.dataType, [batch, heads, keyWidth, valueWidth]);
  let state = widenedIfGiven(call, 3) ?? zeros;
  const outputs: Value[] = [];
  for (let step = 0; step < length; step += 1) {
    if (decay !== undefined) {
      const perHead = decay.type.shape[2] === heads && keyWidth !== 1;
      state = call.binary("mul", state, getStep(decay, step, perHead ? 1 : keyWidth, 1));
    }
    const column = getStep(key, step, keyWidth, 1);
    const row = getStep(value, step, 1, valueWidth);
    const written =
      beta === undefined
        ? row
        : call.binary("mul", getStep(beta, step, 1, 1), call.binary("sub", row, read(call, column, state)));
    state = call.binary("add", state, call.binary("mul", column, written));
    const rows = call.reshape(call.slice(query, 1, step, 1), [batch, heads, shared, keyWidth]);
    const output = call.binary("mul", call.add({ kind: "matmul" }, rows, state), scale);
    outputs.push(call.reshape(output, [batch, 1, queryHeads * valueWidth]));
  }
  const { dataType } = call.tensor(0).type;
  const joined =
    outputs.length === 0
      ? call.zeros(dataType, [batch, 0, queryHeads * valueWidth])
      : call.add({ kind: "concat", axis: 1 }, ...outputs);
  return [call.cast(joined, dataType), call.cast(state, dataType)];
}

/** What the state returns for a key: k' S. */
function read(call: OperatorCall, column: Value, state: Value): Value {
  return call.add({ kind: "matmul" }, call.transpose(column, [0, 1, 3, 2]), state);
}

/** ONNX CausalConvWithState, opset 27: a depthwise causal convolution. The second output, the last inputs, is the state of the next call. */
function causalConvolution(call: OperatorCall): readonly Value[] {
  const x = call.tensor(0);
  const weights = widened(call, call.tensor(1));
  const bias = widenedIfGiven(call, 2);
  const [batch = 0, channels = 0] = x.type.shape;
  const before = at(weights.type.shape, 2) - 1;
  const activation = call.string("activation", "none");
  if (activation !== "none" && activation !== "silu" && activation !== "swish")
    throw new Error(`activation "${activation}" is unknown`);
  if (call.int("ndim", 1) !== 1) throw new Error("only ndim 1 is supported");
  const past = call.tensorIfGiven(3) ?? call.zeros(x.type.dataType, [batch, channels, before]);
  const padded = before === 0 ? x : call.add({ kind: "concat", axis: 2 }, past, x);
  const window = { strides: [1], dilations: [1], pads: [0, 0] };
  const sums = call.add({ kind: "convolution", groups: channels, ...window }, widened(call, padded), weights);
  const biased = bias === undefined ? sums : call.binary("add", sums, call.reshape(bias, [channels, 1]));
  const result = activation === "none" ? biased : call.binary("mul", biased, call.unary("sigmoid", biased));
  const state = call.slice(padded, 2, at(padded.type.shape, 2) - before, before);
  return [call.cast(result, x.type.dataType), state];
}

/** Translates the ONNX operators LinearAttention and CausalConvWithState, of ai.onnx and com.microsoft, to graph operations. */
export const linearAttentions: OperatorFamily = {
  LinearAttention: since(27, linearAttention),
  CausalConvWithState: since(27, causalConvolution),
  // the same operators before they became part of ONNX
  "com.microsoft:LinearAttention": since(1, linearAttention),
  "com.microsoft:CausalConvWithState": since(1, causalConvolution),
};
