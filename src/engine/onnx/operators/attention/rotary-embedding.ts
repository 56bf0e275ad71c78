/** Rotary position embeddings: Su and others, https://arxiv.org/abs/2104.09864. */
import type { Value } from "../../../ir/graph.ts";
import { joinHeads, splitHeads } from "../../../build/nn/attention.ts";
import { applyRotaryEmbedding } from "../../../build/nn/rotary-embedding.ts";
import type { OperatorCall } from "../operator-call.ts";
import { type OperatorFamily, since } from "../operator-rule.ts";
import { widened } from "../precision.ts";

/** Rows of a cache [positions, pairs] at places [N, L], or the cache [N, L, pairs] itself; of its pairs the first ones. */
export function selectCacheRows(call: OperatorCall, cache: Value, places: Value | undefined, pairs: number): Value {
  const rows = places === undefined ? cache : call.add({ kind: "gather", axis: 0 }, cache, places);
  return rows.type.shape[2] === pairs ? rows : call.slice(rows, 2, 0, pairs);
}

/** ONNX's own: x, cosines, sines, positions. */
function rotaryEmbedding(call: OperatorCall): Value {
  const x = call.tensor(0);
  const heads = call.int("num_heads", 0);
  return embedded(call, x, x.type.shape.length === 3 ? heads : undefined, call.tensor(1), call.tensor(2), call.tensorIfGiven(3));
}

/** That of com.microsoft: x, positions (or the first one alone), cosines, sines. */
function microsoftRotaryEmbedding(call: OperatorCall): Value {
  const x = call.tensor(0);
  const positions = call.tensor(1);
  const [batch = 0, length = 0] = x.type.shape.length === 3 ? x.type.shape : [x.type.shape[0] ?? 0, x.type.shape[2] ?? 0];
  if (call.int("is_packed_batching", 0) !== 0) throw new Error("packed batches are not built");
  const scale = call.float("scale", 1);
  if (scale !== 1) throw new Error(`its scale of ${scale} is not built`);
  const dimension = call.int("rotary_embedding_dim", 0);
  const cosines = call.tensor(2);
  // Without a number of heads their size is what the caches say: twice their width.
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

/** [N, L] of int64: as given, or counted from the one that is. */
export function positionsFrom(call: OperatorCall, positions: Value, batch: number, length: number): Value {
  if (positions.type.shape.length === 2) return positions;
  call.builder.reserve({ dataType: "int64", shape: [length] });
  const steps = call.builder.constant({
    dataType: "int64",
    shape: [1, length],
    data: BigInt64Array.from({ length }, (_, at) => BigInt(at)),
  });
  const first = call.reshape(call.cast(positions, "int64"), []);
  return call.add({ kind: "expand", shape: [batch, length] }, call.binary("add", steps, first));
}

function embedded(
  call: OperatorCall,
  x: Value,
  heads: number | undefined,
  cosines: Value,
  sines: Value,
  positions: Value | undefined,
): Value {
  const apart = heads === undefined ? widened(call, x) : splitHeads(call, widened(call, x), heads);
  const dimension = call.int("rotary_embedding_dim", 0) || (apart.type.shape[3] ?? 0);
  if (dimension % 2 !== 0) throw new Error(`it turns ${dimension} elements, which are no pairs`);
  const [cos, sin] = [cosines, sines].map((cache) => selectCacheRows(call, widened(call, cache), positions, dimension / 2));
  if (cos === undefined || sin === undefined) throw new Error("it lacks a cache");
  const turned = applyRotaryEmbedding(call, apart, cos, sin, call.int("interleaved", 0) === 1);
  return call.cast(heads === undefined ? turned : joinHeads(call, turned), x.type.dataType);
}

export const rotary: OperatorFamily = {
  RotaryEmbedding: since(23, rotaryEmbedding),
  "com.microsoft:RotaryEmbedding": since(1, microsoftRotaryEmbedding),
};
