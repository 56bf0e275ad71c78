/**
 * Which members of an object remain to be written: sets of numbers that share their parts, so that a set without one number costs memory that is logarithmic in its size.
 * Equal sets of one family are one object.
 */
import { getOrInsert } from "../../../../contract/checked.ts";
import { chargeStates, chargeSteps } from "../constraint-budget.ts";

/** Numbers of one leaf. */
const leafSize = 32;

/** A set, or a part of one. */
export interface MemberSet {
  readonly id: number;
  /** Number of its members, and of required ones. */
  readonly count: number;
  readonly required: number;
  /** Of a leaf: a bit for each number. */
  readonly bits: number;
  readonly left: MemberSet | undefined;
  readonly right: MemberSet | undefined;
}

/** The sets of numbers below a size. */
export class MemberSets {
  readonly all: MemberSet;
  /** Numbers that a whole set spans: a power of two. */
  readonly #span: number;
  readonly #required: Uint32Array;
  readonly #known = new Map<number | string, MemberSet>();
  #count = 0;

  /** `isRequired`, `isPossible`: by number. Numbers that are not possible are in no set. */
  constructor(size: number, isRequired: (number: number) => boolean, isPossible: (number: number) => boolean) {
    let span = leafSize;
    while (span < size) span *= 2;
    this.#span = span;
    this.#required = new Uint32Array(span / leafSize);
    const possible = new Uint32Array(span / leafSize);
    chargeSteps(size);
    for (let number = 0; number < size; number += 1) {
      const leaf = Math.floor(number / leafSize);
      const bit = 1 << (number % leafSize);
      if (isRequired(number)) this.#required[leaf] = (this.#required[leaf] ?? 0) | bit;
      if (isPossible(number)) possible[leaf] = (possible[leaf] ?? 0) | bit;
    }
    this.all = this.#build(possible, 0, span);
  }

  /** Whether a set has one of the numbers from `first` to the one before `end`; with `required`, a required one. */
  hasAny(set: MemberSet, first: number, end: number, required: boolean): boolean {
    return this.#any(set, 0, this.#span, first, end, required);
  }

  /** The set without a number that it has. */
  without(set: MemberSet, number: number): MemberSet {
    return this.#remove(set, 0, this.#span, number);
  }

  /** Discards results that can be computed again. Sets made later are no longer the same object as equal ones from before. */
  forget(): void {
    this.#known.clear();
  }

  #build(possible: Uint32Array, from: number, span: number): MemberSet {
    if (span === leafSize) return this.#leaf(from / leafSize, possible[from / leafSize] ?? 0);
    return this.#pair(this.#build(possible, from, span / 2), this.#build(possible, from + span / 2, span / 2));
  }

  #any(set: MemberSet, from: number, span: number, first: number, end: number, required: boolean): boolean {
    if (end <= from || first >= from + span || (required ? set.required : set.count) === 0) return false;
    if (first <= from && end >= from + span) return true;
    if (set.left === undefined || set.right === undefined) {
      const bits = required ? set.bits & (this.#required[from / leafSize] ?? 0) : set.bits;
      return (bits & bitsBetween(first - from, end - from)) !== 0;
    }
    const half = span / 2;
    return this.#any(set.left, from, half, first, end, required) || this.#any(set.right, from + half, half, first, end, required);
  }

  #remove(set: MemberSet, from: number, span: number, number: number): MemberSet {
    if (set.left === undefined || set.right === undefined) return this.#leaf(from / leafSize, set.bits & ~(1 << (number - from)));
    const half = span / 2;
    return number < from + half
      ? this.#pair(this.#remove(set.left, from, half, number), set.right)
      : this.#pair(set.left, this.#remove(set.right, from + half, half, number));
  }

  #leaf(leaf: number, bits: number): MemberSet {
    const required = bits & (this.#required[leaf] ?? 0);
    return this.#shared(`${leaf} ${bits}`, { count: bitCount(bits), required: bitCount(required), bits });
  }

  #pair(left: MemberSet, right: MemberSet): MemberSet {
    const parts = { count: left.count + right.count, required: left.required + right.required, bits: 0, left, right };
    return this.#shared(left.id * 2 ** 26 + right.id, parts);
  }

  #shared(key: number | string, part: Omit<MemberSet, "id" | "left" | "right"> & Partial<MemberSet>): MemberSet {
    return getOrInsert(this.#known, key, () => {
      chargeStates(0, 180);
      return { left: undefined, right: undefined, ...part, id: this.#count++ };
    });
  }
}

/** The bits from `first` to the one before `end`, as far as they are of a leaf. */
function bitsBetween(first: number, end: number): number {
  const [from, to] = [Math.max(first, 0), Math.min(end, leafSize)];
  if (from >= to) return 0;
  const below = to === leafSize ? -1 : (1 << to) - 1;
  return below & ~((1 << from) - 1);
}

function bitCount(bits: number): number {
  let rest = bits - ((bits >>> 1) & 0x55555555);
  rest = (rest & 0x33333333) + ((rest >>> 2) & 0x33333333);
  return Math.imul((rest + (rest >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
