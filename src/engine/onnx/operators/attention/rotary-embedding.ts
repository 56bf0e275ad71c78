/** Rotary position embeddings (RoPE): Su et al., https://arxiv.org/abs/2104.09864. */
import { at } from "../../../../contract/checked.ts";
import type { Value } from "../../../ir/graph.ts";
import { joinHeads, splitHeads } from "../../../build/nn/attention.ts";
import { applyRotaryEmbedding } from "../../../build/nn/rotary-embedding.ts";
import { iota } from "./scaled-dot-product.ts";
import type { OperatorCall } from "../operator-call.ts";
import { type OperatorFamily, since } from "../operator-rule.ts";
import { widened } from "../precision.ts";

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
  const [batch = 0, length = 0] = x.type.shape.length === 3 ? x.type.shape : [at(x.type.shape, 0), at(x.type.shape, 2)];
  if (call.int("is_packed_batching", 0) !== 0) throw new Error("is_packed_batching is not supported");
  const scale = call.float("scale", 1);
  if (scale !== 1) throw new Error(`scale ${scale} is not supported, only 1`);
  const dimension = call.int("rotary_embedding_dim", 0);
  const cosines = call.tensor(2);
  // Without num_heads the head size is twice the width of the caches.
  const width = dimension > 0 ? 0 : at(cosines.type.shape, 1) * 2;
  const stated = call.int("num_heads", 0);
  const heads = stated > 0 || width === 0 ? stated : at(x.type.shape, 2) / width;
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
  const dimension = call.int("rotary_embedding_dim", 0) || at(byHead.type.shape, 3);
  if (dimension % 2 !== 0) throw new Error(`rotary dimension ${dimension} is odd`);
  const [cos, sin] = [cosines, sines].map((cache) => selectCacheRows(call, widened(call, cache), positions, dimension / 2));
  if (cos === undefined || sin === undefined) throw new Error("the cosine or sine cache is missing");
  const turned = applyRotaryEmbedding(call, byHead, cos, sin, call.int("interleaved", 0) === 1);
  return call.cast(heads === undefined ? turned : joinHeads(call, turned), x.type.dataType);
}

/** Translates the ONNX operator RotaryEmbedding, of ai.onnx and com.microsoft, to graph operations. */
export const rotary: OperatorFamily = {
  RotaryEmbedding: since(23, rotaryEmbedding),
  "com.microsoft:RotaryEmbedding": since(1, contribRotaryEmbedding),
};
