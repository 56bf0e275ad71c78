/** Places turned into queries and keys: Su and others, https://arxiv.org/abs/2104.09864. Pairs are half of a head apart. */
import { InferyardError } from "../../../errors.ts";
import type { Value } from "../../ir/graph.ts";
import { literalOf } from "../../ir/literal.ts";
import { applyRotaryEmbedding } from "../../onnx/operators/attention/rotary-embedding.ts";
import type { TensorOps } from "../tensor-ops.ts";

export interface RotaryAngles {
  /** [N or 1, L, pairs]. */
  readonly cosines: Value;
  readonly sines: Value;
}

/** Of places [N or 1, L] in int64; each of `pairs` turns slower than the one before, the first by 1 a place. */
export function rotaryAngles(net: TensorOps, places: Value, pairs: number, theta: number): RotaryAngles {
  const [batch = 1, length = 0] = places.type.shape;
  // Rounded where PyTorch rounds, so that far places agree as well.
  const frequencies = Array.from({ length: pairs }, (_, pair) =>
    Math.fround(1 / Math.fround(theta ** Math.fround((2 * pair) / (2 * pairs)))),
  );
  const steps = net.builder.constant(literalOf("float32", [1, 1, pairs], frequencies));
  const angles = net.binary("mul", net.reshape(net.cast(places, "float32"), [batch, length, 1]), steps);
  return { cosines: net.unary("cos", angles), sines: net.unary("sin", angles) };
}

/** Half of the elements of a head, which are turned in pairs. */
export function rotaryPairs(headSize: number): number {
  if (headSize % 2 === 0) return headSize / 2;
  throw new InferyardError("MODEL_INVALID", `a head has ${headSize} elements, which are no pairs to turn`);
}

/** x [N, heads, L, D], turned. */
export function applyRotary(net: TensorOps, x: Value, { cosines, sines }: RotaryAngles): Value {
  return applyRotaryEmbedding(net, x, cosines, sines, false);
}
