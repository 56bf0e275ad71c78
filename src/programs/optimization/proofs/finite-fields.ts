/**
 * Tensors over two prime fields, as probabilistic verification takes them (Wu et al., "Mirage", OSDI 2025, section 5): an element is a pair of residues modulo p and
 * modulo q, where q divides p - 1. The exponential of a pair is omega^(residue modulo q) modulo p, so that exp(a + b) = exp(a) exp(b) holds, and it has no residue
 * modulo q. Any other function is uninterpreted: equal operands have equal results, which are otherwise random.
 */
import type { Literal } from "../../../engine/ir/literal.ts";

/** The modulus of values: 2 q + 1. Products of two residues are below 2^44, so that a double holds the sum of 512 of them exactly. */
export const p = 4_194_287;
/** The modulus of exponents. */
export const q = 2_097_143;
/** Generates the subgroup of order q of the units modulo p. */
const omega = 4;

/** A tensor whose elements are residues. `exponents` are the residues modulo q; undefined after an exponential. */
export interface FieldTensor {
  readonly shape: readonly number[];
  readonly values: Float64Array;
  readonly exponents: Float64Array | undefined;
}

/** Division by zero, or the inverse of it: the random elements are drawn again. */
export class UnluckyDraw extends Error {}

/** a * b modulo m, for residues. */
export function multiply(a: number, b: number, m: number): number {
  return (a * b) % m;
}

/** The power of a residue with a whole exponent from 0. */
export function power(base: number, exponent: number, m: number): number {
  let [result, square, rest] = [1, base % m, exponent];
  while (rest > 0) {
    if (rest % 2 === 1) result = multiply(result, square, m);
    square = multiply(square, square, m);
    rest = Math.floor(rest / 2);
  }
  return result;
}

/** The inverse of a residue. Throws UnluckyDraw for 0. */
export function inverse(value: number, m: number): number {
  if (value === 0) throw new UnluckyDraw("an element is divided by zero");
  return power(value, m - 2, m);
}

/** The residue of a finite float, which is a whole number times a power of two. Undefined for NaN and infinity. */
export function residueOf(value: number, m: number): number | undefined {
  if (!Number.isFinite(value)) return undefined;
  let [whole, exponent] = [value, 0];
  while (!Number.isInteger(whole)) {
    whole *= 2;
    exponent += 1;
  }
  const residue = ((whole % m) + m) % m;
  return exponent === 0 ? residue : multiply(residue, inverse(power(2, exponent, m), m), m);
}

/** omega to the power of a residue modulo q. */
export function fieldExponential(exponent: number): number {
  return power(omega, exponent, p);
}

/** Random residues, the same for the same seed and place. */
export function randomResidues(shape: readonly number[], seed: number): FieldTensor {
  const count = shape.reduce((product, size) => product * size, 1);
  const [values, exponents] = [new Float64Array(count), new Float64Array(count)];
  for (let index = 0; index < count; index += 1) {
    values[index] = mix(seed, index) % p;
    exponents[index] = mix(seed + 0x9e37, index) % q;
  }
  return { shape, values, exponents };
}

/** The residues of the elements of a literal of floats. Undefined if one is not finite. */
export function toResidues(numbers: ArrayLike<number>, shape: readonly number[]): FieldTensor | undefined {
  const [values, exponents] = [new Float64Array(numbers.length), new Float64Array(numbers.length)];
  for (let index = 0; index < numbers.length; index += 1) {
    const [value, exponent] = [residueOf(numbers[index] ?? 0, p), residueOf(numbers[index] ?? 0, q)];
    if (value === undefined || exponent === undefined) return undefined;
    values[index] = value;
    exponents[index] = exponent;
  }
  return { shape, values, exponents };
}

/** Applies a function to each pair of residues; `exponent` is -1 where there is none. */
export function uninterpreted(name: string, operands: readonly FieldTensor[]): FieldTensor {
  const [first] = operands;
  const shape = first?.shape ?? [];
  const count = first?.values.length ?? 0;
  const seed = name.split("").reduce((sum, letter) => mix(sum, letter.codePointAt(0) ?? 0), 7);
  const [values, exponents] = [new Float64Array(count), new Float64Array(count)];
  for (let index = 0; index < count; index += 1) {
    let state = seed;
    for (const { values: own, exponents: others } of operands) state = mix(mix(state, own[index] ?? 0), others?.[index] ?? -1);
    values[index] = mix(state, 1) % p;
    exponents[index] = mix(state, 2) % q;
  }
  return { shape, values, exponents };
}

/** The residues as a literal of float64, for operations that only move elements. */
export function toLiterals({ shape, values, exponents }: FieldTensor): readonly [Literal, Literal | undefined] {
  const literal = (data: Float64Array): Literal => ({ dataType: "float64", shape, data });
  return [literal(values), exponents === undefined ? undefined : literal(exponents)];
}

/** Mixes two whole numbers to 32 bits (the finalizer of MurmurHash3 by Austin Appleby). */
export function mix(one: number, other: number): number {
  let bits = Math.imul(one ^ Math.imul(other | 0, 0xcc9e2d51), 0x1b873593) + 0x6d2b79f5 + Math.floor(one / 2 ** 32);
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
