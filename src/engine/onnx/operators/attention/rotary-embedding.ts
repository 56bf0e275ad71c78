/** Rotary position embeddings (RoPE): Su et al., https://arxiv.org/abs/2104.09864. */
import type { Value } from "../../../ir/graph.ts";
import { iota, joinHeads, splitHeads } from "./scaled-dot-product.ts";
import type { OperatorCall } from "../operator-call.ts";
import { type OperatorFamily, since } from "../operator-rule.ts";
import { widened } from "../precision.ts";
import type { TensorOps } from "../../../build/tensor-ops.ts";

/**
 * x [N, heads, L, D] with the pairs of its first elements turned by angles whose cosines and sines are [N or 1, L, pairs]. Interleaved pairs are
 * neighbours; others are half of the elements apart.
 */
export function applyRotaryEmbedding(call: TensorOps, x: Value, cosines: Value, sines: Value, interleaved: boolean): Value {
  const { shape } = x.type;
  const [batch = 0, heads = 0, length = 0, width = 0] = shape;
  const pairs = cosines.type.shape[2] ?? 0;
  const dimension = pairs * 2;
  if (dimension > width) throw new Error(`rotary dimension ${dimension} exceeds the head size ${width}`);
  const [cos, sin] = [cosines, sines].map((each) => call.reshape(each, [each.type.shape[0] ?? 1, 1, length, pairs]));
  if (cos === undefined || sin === undefined) throw new Error("the cosine or sine cache is missing");
  const turning = dimension === width ? x : call.slice(x, 3, 0, dimension);
  const apart = call.reshape(turning, interleaved ? [batch, heads, length, pairs, 2] : [batch, heads, length, 2, pairs]);
  const axis = interleaved ? 4 : 3;
  const [one, other] = [0, 1].map((half) => call.reshape(call.slice(apart, axis, half, 1), [batch, heads, length, pairs]));
  if (one === undefined || other === undefined) throw new Error("it lacks a half");
  const real = call.binary("sub", call.binary("mul", one, cos), call.binary("mul", other, sin));
  const imaginary = call.binary("add", call.binary("mul", one, sin), call.binary("mul", other, cos));
  const grown = [real, imaginary].map((half) =>
    call.reshape(half, interleaved ? [batch, heads, length, pairs, 1] : [batch, heads, length, 1, pairs]),
  );
  const turned = call.reshape(call.add({ kind: "concat", axis }, ...grown), turning.type.shape);
  if (dimension === width) return turned;
  return call.add({ kind: "concat", axis: 3 }, turned, call.slice(x, 3, dimension, width - dimension));
}

/** Cosines or sines [N, L, pairs]: the rows of a cache [positions, pairs] at positions [N, L], or the cache itself if it has them already; only the first pairs. */
export function selectCacheRows(call: OperatorCall, cache: Value, positions: Value | undefined, pairs: number): Value {
  const rows = positions === undefined ? cache : call.add({ kind: "gather", axis: 0 }, cache, positions);
  return rows.type.shape[2] === pairs ? rows : call.slice(rows, 2, 0, pairs);
}

/** ONNX RotaryEmbedding, opset 23. Inputs: x, cosine cache, sine cache, optional positions. */
function rotaryEmbedding(call: OperatorCall): Value {
  const x = call.tensor(0);
  const heads = call.int("num_heads", 0);
  return embedded(call, x, x.type.shape.length === 3 ? heads : undefined, call.tensor(1), call.tensor(2), call.tensorIfGiven(3));
}

/** RotaryEmbedding of com.microsoft. Inputs: x, positions [N, L] or the first position, cosine cache, sine cache. */
function contribRotaryEmbedding(call: OperatorCall): Value {
  const x = call.tensor(0);
  const positions = call.tensor(1);
  const [batch = 0, length = 0] = x.type.shape.length === 3 ? x.type.shape : [x.type.shape[0] ?? 0, x.type.shape[2] ?? 0];
  if (call.int("is_packed_batching", 0) !== 0) throw new Error("is_packed_batching is not supported");
  const scale = call.float("scale", 1);
  if (scale !== 1) throw new Error(`scale ${scale} is not supported, only 1`);
  const dimension = call.int("rotary_embedding_dim", 0);
  const cosines = call.tensor(2);
  // Without num_heads the head size is twice the width of the caches.
  const width = dimension > 0 ? 0 : (cosines.type.shape[1] ?? 0) * 2;
  const stated = call.int("num_heads", 0);
  const heads = stated > 0 || width === 0 ? stated : (x.type.shape[2] ?? 0) / width;
  return embedded(
    call,
    x,
    x.type.shape.length === 3 ? heads : undefined,
    cosines,
    call.tensor(3),
    positionsFrom(call, positions, batch, length),
  );
}

/** Positions [N, L]: as given, or counted from the given first one. */
function positionsFrom(call: OperatorCall, positions: Value, batch: number, length: number): Value {
  if (positions.type.shape.length === 2) return positions;
  const steps = iota(call, length, 1, 2);
  const first = call.reshape(call.cast(positions, "int64"), []);
  return call.add({ kind: "expand", shape: [batch, length] }, call.binary("add", steps, first));
}

/** x [N, heads, L, D], or [N, L, heads * D] if the number of heads is given, with rotary embeddings applied in its compute type. */
function embedded(
  call: OperatorCall,
  x: Value,
  heads: number | undefined,
  cosines: Value,
  sines: Value,
  positions: Value | undefined,
): Value {
  const byHead = heads === undefined ? widened(call, x) : splitHeads(call, widened(call, x), heads);
  const dimension = call.int("rotary_embedding_dim", 0) || (byHead.type.shape[3] ?? 0);
  if (dimension % 2 !== 0) throw new Error(`rotary dimension ${dimension} is odd`);
  const [cos, sin] = [cosines, sines].map((cache) => selectCacheRows(call, widened(call, cache), positions, dimension / 2));
  if (cos === undefined || sin === undefined) throw new Error("the cosine or sine cache is missing");
  const turned = applyRotaryEmbedding(call, byHead, cos, sin, call.int("interleaved", 0) === 1);
  return call.cast(heads === undefined ? turned : joinHeads(call, turned), x.type.dataType);
}

/** Rules of RotaryEmbedding. */
export const rotary: OperatorFamily = {
  RotaryEmbedding: since(23, rotaryEmbedding),
  "com.microsoft:RotaryEmbedding": since(1, contribRotaryEmbedding),
};
