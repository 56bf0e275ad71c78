/** Rotary position embedding, RoPE (Su et al. 2021, https://arxiv.org/abs/2104.09864). */
import { InferyardError } from "../../../contract/errors.ts";
import type { Value } from "../../ir/graph.ts";
import { toLiteral } from "../../ir/literal.ts";
import { dimensions, type TensorOps } from "../tensor-ops.ts";

/** Rotation angles of every position, as their cosines and sines. */
export interface RotaryAngles {
  /** float32 `[batch or 1, length, pairs]`. */
  readonly cosines: Value;
  /** float32 `[batch or 1, length, pairs]`. */
  readonly sines: Value;
}

/** The angles by which the pairs of a head are rotated from one position to the next. */
export interface RotaryFrequencies {
  /** Rotation frequencies in radians per position, one for each pair of elements. */
  readonly frequencies: readonly number[];
  /** Factor of the cosines and sines. */
  readonly scale: number;
}

/** The frequencies `theta^(-pair / pairs)`. `pairs` is half of the head size; `theta` is config.json's `rope_theta`. */
export function rotaryFrequencies(pairs: number, theta: number): RotaryFrequencies {
  // Rounded to float32 where PyTorch rounds, so that the angles of large positions agree with it.
  const frequencies = Array.from({ length: pairs }, (_, pair) =>
    Math.fround(1 / Math.fround(theta ** Math.fround((2 * pair) / (2 * pairs)))),
  );
  return { frequencies, scale: 1 };
}

/** The angles `position * frequency` of int64 positions `[batch or 1, length]`. */
export function rotaryAngles(ops: TensorOps, positions: Value, { frequencies, scale }: RotaryFrequencies): RotaryAngles {
  const [batch, length] = dimensions(positions, 2);
  const pairs = frequencies.length;
  const frequency = ops.builder.constant(toLiteral("float32", [1, 1, pairs], frequencies));
  const angles = ops.binary("mul", ops.reshape(ops.cast(positions, "float32"), [batch, length, 1]), frequency);
  const scaled = (x: Value): Value => (scale === 1 ? x : ops.binary("mul", x, scale));
  return { cosines: scaled(ops.unary("cos", angles)), sines: scaled(ops.unary("sin", angles)) };
}

/** Half of `headSize`: the number of element pairs that are rotated. Throws MODEL_INVALID if `headSize` is odd. */
export function rotaryPairs(headSize: number): number {
  if (headSize % 2 === 0) return headSize / 2;
  throw new InferyardError(
    "MODEL_INVALID",
    `a head has ${headSize} elements, and rotary position embedding needs an even number`,
  );
}

/** Rotates queries or keys x `[batch, heads, length, size]`, whose pairs are elements i and i + size / 2, as transformers' `apply_rotary_pos_emb` does. */
export function applyRotary(ops: TensorOps, x: Value, { cosines, sines }: RotaryAngles): Value {
  return applyRotaryEmbedding(ops, x, cosines, sines, false);
}

/**
 * Rotates the first `2 * pairs` elements of each head of x `[batch, heads, length, size]`; the others stay. `cosines` and `sines` are
 * `[batch or 1, length, pairs]`. A pair is two neighbouring elements if `interleaved`, else elements i and i + pairs. Throws if a head is smaller.
 */
export function applyRotaryEmbedding(ops: TensorOps, x: Value, cosines: Value, sines: Value, interleaved: boolean): Value {
  const [batch, heads, length, size] = dimensions(x, 4);
  const [, , pairs] = dimensions(cosines, 3);
  const rotatedSize = pairs * 2;
  if (rotatedSize > size) throw new Error(`the rotary dimension ${rotatedSize} exceeds the head size ${size}`);
  const input = rotatedSize === size ? x : ops.slice(x, 3, 0, rotatedSize);
  const axis = interleaved ? 4 : 3;
  const paired = (pairAxis: 1 | 2, [outer, rows]: readonly [number, number]): readonly number[] =>
    interleaved ? [outer, rows, length, pairs, pairAxis] : [outer, rows, length, pairAxis, pairs];
  // x * cos + swapped * (-sin, sin): of each pair the elements change places in one copy. The factors are the same for all heads and layers.
  const perPair = (first: Value, second: Value): Value => {
    const parts = [first, second].map((angles) => ops.reshape(angles, paired(1, [dimensions(angles, 3)[0], 1])));
    return ops.reshape(ops.add({ kind: "concat", axis }, ...parts), [dimensions(first, 3)[0], 1, length, rotatedSize]);
  };
  const pairsOf = paired(2, [batch, heads]);
  const swapped = ops.reshape(
    ops.add(
      {
        kind: "slice",
        starts: pairsOf.map((_, each) => (each === axis ? 1 : 0)),
        steps: pairsOf.map((_, each) => (each === axis ? -1 : 1)),
        sizes: pairsOf,
      },
      ops.reshape(input, pairsOf),
    ),
    input.type.shape,
  );
  const rotated = ops.binary(
    "add",
    ops.binary("mul", input, perPair(cosines, cosines)),
    ops.binary("mul", swapped, perPair(ops.unary("neg", sines), sines)),
  );
  if (rotatedSize === size) return rotated;
  return ops.add({ kind: "concat", axis: 3 }, rotated, ops.slice(x, 3, rotatedSize, size - rotatedSize));
}
