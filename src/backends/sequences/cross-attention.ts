/** Weights of cross-attention as a language model returns them. */
import type { AttentionHead } from "../../contract/backend.ts";
import { InferyardError } from "../../contract/errors.ts";
import type { Tensor } from "../../contract/tensor.ts";
import { toFloat32 } from "../../contract/to-float32.ts";

/**
 * Throws INPUT_INVALID for a head that a model with this many layers and heads does not have. `heads`: undefined or a name if the model's files do not state
 * the number.
 */
export function checkHead([layer, head]: AttentionHead, layers: number, heads: number | string | undefined): void {
  const isIndex = (value: number, count: number): boolean => Number.isSafeInteger(value) && value >= 0 && value < count;
  if (isIndex(layer, layers) && isIndex(head, typeof heads === "number" ? heads : Number.MAX_SAFE_INTEGER)) return;
  throw new InferyardError(
    "INPUT_INVALID",
    `there is no head ${head} in layer ${layer} of the cross-attention: the model has ${layers} layers with ${heads} heads`,
  );
}

/** Selects heads of tensors [1, heads, tokens, positions] of layers, and their first `count` tokens: [selected heads, count, positions]. */
export function selectHeads(heads: readonly AttentionHead[], getLayer: (layer: number) => Tensor, count: number): Float32Array {
  const positions = heads[0] === undefined ? 0 : (getLayer(heads[0][0]).shape[3] ?? 0);
  const selected = new Float32Array(heads.length * count * positions);
  for (const [index, [layer, head]] of heads.entries()) {
    const tensor = getLayer(layer);
    const [, own = 0, tokens = 0] = tensor.shape;
    if (head >= own) checkHead([layer, head], layer + 1, own);
    const start = head * tokens * positions;
    selected.set(toFloat32(tensor).subarray(start, start + count * positions), index * count * positions);
  }
  return selected;
}
