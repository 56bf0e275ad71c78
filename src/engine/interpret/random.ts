/** Random number generators. With a seed they return the same bits on every machine; without one they use Math.random. */
import { at } from "../../contract/checked.ts";
import { elementCount } from "../../contract/tensor.ts";
import type { ElementType } from "../ir/element-types.ts";
import { type Literal, toLiteral, toNumbers } from "../ir/literal.ts";
import type { TensorType } from "../ir/tensor-type.ts";
import type { CallAttributes } from "../ir/operations.ts";

/** Returns numbers from 0 to below 1, in steps of 2^-53. */
export type Generator = () => number;

/**
 * Creates a random number generator: SplitMix32, two steps per number (Steele et al., https://doi.org/10.1145/2660193.2660195), or Math.random if
 * `seed` is undefined.
 */
export function randomGenerator(seed: number | undefined): Generator {
  if (seed === undefined) return Math.random;
  const words = new Uint32Array(new Float64Array([seed]).buffer);
  let state = Math.imul(words[0] ?? 0, 0x9e3779b9) ^ (words[1] ?? 0);
  /** The next 32 bits, as a signed number. */
  const next = (): number => {
    state = (state + 0x9e3779b9) | 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return mixed ^ (mixed >>> 15);
  };
  return () => ((next() >>> 5) * 2 ** 26 + (next() >>> 6)) / 2 ** 53;
}

/** Two independent standard normal numbers (Box and Muller, https://doi.org/10.1214/aoms/1177706645). */
function normalPair(random: Generator): readonly [number, number] {
  const radius = Math.sqrt(-2 * Math.log(1 - random()));
  const angle = 2 * Math.PI * random();
  return [radius * Math.cos(angle), radius * Math.sin(angle)];
}

function toSeed({ seed }: CallAttributes): number | undefined {
  return typeof seed === "number" ? seed : undefined;
}

/** Significant bits of types smaller than float64. */
const digits: Readonly<Partial<Record<ElementType, number>>> = { float32: 24, float16: 11, bfloat16: 8 };

/** Draws uniformly distributed numbers of the output type. Attributes: `low` (included), `high` (excluded), optional `seed`. */
export function randomUniform(
  _: readonly Literal[],
  attributes: CallAttributes,
  [type]: readonly [TensorType],
): readonly Literal[] {
  const random = randomGenerator(toSeed(attributes));
  const [low, high] = [Number(attributes["low"]), Number(attributes["high"])];
  // In steps that the type represents, so that no number is rounded up to `high`.
  const steps = 2 ** (digits[type.dataType] ?? 53);
  const values = Float64Array.from(
    { length: elementCount(type.shape) },
    () => low + ((high - low) * Math.floor(random() * steps)) / steps,
  );
  return [toLiteral(type.dataType, type.shape, values)];
}

/** Draws normally distributed numbers of the output type. Attributes: `mean`, `scale` (standard deviation), optional `seed`. */
export function randomNormal(
  _: readonly Literal[],
  attributes: CallAttributes,
  [type]: readonly [TensorType],
): readonly Literal[] {
  const random = randomGenerator(toSeed(attributes));
  const [mean, scale] = [Number(attributes["mean"]), Number(attributes["scale"])];
  const values = new Float64Array(elementCount(type.shape));
  for (let at = 0; at < values.length; at += 2) {
    const [one, other] = normalPair(random);
    values[at] = mean + scale * one;
    if (at + 1 < values.length) values[at + 1] = mean + scale * other;
  }
  return [toLiteral(type.dataType, type.shape, values)];
}

/** Draws class indices by unnormalized log-probabilities [batch, classes]; the result is [batch, samples]. Attributes: optional `seed`. */
export function multinomial(
  [logits]: readonly [Literal],
  attributes: CallAttributes,
  [type]: readonly [TensorType],
): readonly Literal[] {
  const random = randomGenerator(toSeed(attributes));
  const [batch = 0, classes = 0] = logits.shape;
  const values = toNumbers(logits);
  const samples = at(type.shape, 1);
  const drawn = new Float64Array(batch * samples);
  for (let row = 0; row < batch; row += 1) {
    const own = Array.from({ length: classes }, (_, index) => values[row * classes + index] ?? 0);
    const largest = own.reduce((max, value) => Math.max(max, value), Number.NEGATIVE_INFINITY);
    let sum = 0;
    const upTo = own.map((value) => (sum += Math.exp(value - largest)));
    for (let sample = 0; sample < samples; sample += 1) {
      const at = random() * sum;
      const found = upTo.findIndex((end) => at < end);
      drawn[row * samples + sample] = found < 0 ? classes - 1 : found;
    }
  }
  return [toLiteral(type.dataType, type.shape, drawn)];
}
