/** Truth, equality, order and hashes of values. */
import type { Budget } from "../budget.ts";
import { TemplateFailure } from "../errors.ts";
import { type Integer, toFloat } from "./numbers.ts";
import {
  Dict,
  Float,
  type HashKey,
  List,
  Range,
  Tuple,
  Undefined,
  type TemplateValue,
  View,
  toInteger,
  getText,
  typeName,
} from "./values.ts";

/** bool(): whether a value counts as true. */
export function isTrue(value: TemplateValue): boolean {
  if (typeof value === "boolean") return value;
  if (typeof value === "string") return value !== "";
  if (value === null || value instanceof Undefined) return false;
  if (typeof value === "number") return value !== 0;
  if (typeof value === "bigint") return value !== 0n;
  if (value instanceof Float) return value.value !== 0;
  if (value instanceof List || value instanceof Tuple || value instanceof View) return value.items.length > 0;
  if (value instanceof Dict) return value.size > 0;
  if (value instanceof Range) return value.length > 0;
  return getText(value) !== "";
}

/** An int, bool or float as a number that compares with others; undefined of other values. */
function numeric(value: TemplateValue): Integer | undefined {
  return value instanceof Float ? value.value : toInteger(value);
}

/** `==` */
export function areEqual(left: TemplateValue, right: TemplateValue, budget: Budget): boolean {
  if (typeof left === "string" && typeof right === "string") return areSameTexts(left, right, budget);
  if (left === right) return true;
  const [leftNumber, rightNumber] = [numeric(left), numeric(right)];
  // oxlint-disable-next-line eqeqeq -- a number and a bigint are compared by value
  if (leftNumber !== undefined && rightNumber !== undefined) return leftNumber == rightNumber;
  const [leftText, rightText] = [getText(left), getText(right)];
  if (leftText !== undefined && rightText !== undefined) return areSameTexts(leftText, rightText, budget);
  if (left instanceof Undefined && right instanceof Undefined) return true;
  if (left instanceof Dict && right instanceof Dict) return areEqualDicts(left, right, budget);
  if (left instanceof Range && right instanceof Range)
    return (
      left.length === right.length &&
      (left.length === 0 || (left.start === right.start && (left.length === 1 || left.step === right.step)))
    );
  const isSequence = (left instanceof List && right instanceof List) || (left instanceof Tuple && right instanceof Tuple);
  return isSequence && areEqualItems(left.items, right.items, budget);
}

function areSameTexts(left: string, right: string, budget: Budget): boolean {
  if (left.length !== right.length) return false;
  budget.text(left.length);
  return left === right;
}

function areEqualItems(left: readonly TemplateValue[], right: readonly TemplateValue[], budget: Budget): boolean {
  if (left.length !== right.length) return false;
  budget.enterValue();
  budget.step(left.length);
  const areSame = left.every((item, index) => areEqual(item, right[index] ?? null, budget));
  budget.leaveValue();
  return areSame;
}

function areEqualDicts(left: Dict, right: Dict, budget: Budget): boolean {
  if (left.size !== right.size) return false;
  budget.enterValue();
  budget.step(left.size);
  const areSame = left.entries().every(([key, value]) => {
    const other = right.get(computeHash(key, budget));
    return other !== undefined && areEqual(value, other, budget);
  });
  budget.leaveValue();
  return areSame;
}

/** Negative, zero or positive, as `left` comes before, with or after `right`; NaN where one of them is no number. Throws for values without an order. */
export function compare(left: TemplateValue, right: TemplateValue, budget: Budget, operator = "<"): number {
  const [leftText, rightText] = [getText(left), getText(right)];
  if (leftText !== undefined && rightText !== undefined) return compareTexts(leftText, rightText, budget);
  const [leftNumber, rightNumber] = [numeric(left), numeric(right)];
  if (leftNumber !== undefined && rightNumber !== undefined) {
    if (leftNumber < rightNumber) return -1;
    if (leftNumber > rightNumber) return 1;
    // oxlint-disable-next-line eqeqeq -- a number and a bigint are compared by value
    return leftNumber == rightNumber ? 0 : Number.NaN;
  }
  if ((left instanceof List && right instanceof List) || (left instanceof Tuple && right instanceof Tuple))
    return compareItems(left.items, right.items, budget, operator);
  for (const value of [left, right]) if (value instanceof Undefined) throw new TemplateFailure(value.message);
  throw new TemplateFailure(`'${operator}' not supported between instances of '${typeName(left)}' and '${typeName(right)}'`);
}

function compareItems(left: readonly TemplateValue[], right: readonly TemplateValue[], budget: Budget, operator: string): number {
  budget.enterValue();
  const shorter = Math.min(left.length, right.length);
  let order = left.length - right.length;
  for (let at = 0; at < shorter; at += 1) {
    budget.step();
    const [one, other] = [left[at] ?? null, right[at] ?? null];
    if (areEqual(one, other, budget)) continue;
    order = compare(one, other, budget, operator);
    break;
  }
  budget.leaveValue();
  return order;
}

/** By code points, which differs from UTF-16 units where one of two is a surrogate. */
function compareTexts(left: string, right: string, budget: Budget): number {
  const length = Math.min(left.length, right.length);
  budget.text(length);
  if (left === right) return 0;
  let at = 0;
  while (at < length && left.charCodeAt(at) === right.charCodeAt(at)) at += 1;
  if (at === length) return left.length - right.length;
  const [one, other] = [left.charCodeAt(at), right.charCodeAt(at)];
  const isSurrogate = (unit: number): boolean => unit >= 0xd8_00 && unit <= 0xdf_ff;
  return isSurrogate(one) === isSurrogate(other) ? one - other : isSurrogate(one) ? 1 : -1;
}

/** hash(): what a value is found by in a dictionary. Throws for lists and dictionaries. */
export function computeHash(value: TemplateValue, budget: Budget): HashKey {
  if (typeof value === "string") {
    budget.text(value.length);
    return value;
  }
  if (value instanceof Float) return value.value;
  if (typeof value === "boolean") return Number(value);
  if (value instanceof List || value instanceof Dict) throw new TemplateFailure(`unhashable type: '${typeName(value)}'`);
  const text = getText(value);
  if (text !== undefined) return text;
  if (!(value instanceof Tuple)) return value;
  budget.enterValue();
  const parts = value.items.map((item) => {
    const hash = computeHash(item, budget);
    const written = typeof hash === "object" && hash !== null ? typeName(hash) : String(hash);
    return `${typeof hash} ${written.length} ${written}`;
  });
  budget.leaveValue();
  const hash = `\u0000(${parts.join("")})`;
  budget.text(hash.length);
  return hash;
}

/** An int or float as a number of JavaScript. */
export function toNumber(value: TemplateValue): number | undefined {
  if (value instanceof Float) return value.value;
  const integer = toInteger(value);
  return integer === undefined ? undefined : toFloat(integer);
}
