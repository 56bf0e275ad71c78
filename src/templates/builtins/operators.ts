/** Arithmetic of values of any types. */
import type { Budget } from "../budget.ts";
import { TemplateFailure } from "../errors.ts";
import type { ComparisonOperator } from "../syntax/nodes.ts";
import { areEqual, compare } from "../values/comparison.ts";
import { formatPercent } from "../values/formatting.ts";
import { contains } from "../values/iteration.ts";
import { type ArithmeticOperator, type Integer, floatArithmetic, toFloat, integerArithmetic } from "../values/numbers.ts";
import { Float, List, Markup, Tuple, Undefined, type TemplateValue, toInteger, getText, typeName } from "../values/values.ts";

/** `left operator right`, by operator. */
export const comparisons: Readonly<
  Record<ComparisonOperator, (left: TemplateValue, right: TemplateValue, budget: Budget) => boolean>
> = {
  "==": areEqual,
  "!=": (left, right, budget) => !areEqual(left, right, budget),
  in: (left, right, budget) => contains(right, left, budget),
  "not in": (left, right, budget) => !contains(right, left, budget),
  "<": (left, right, budget) => compare(left, right, budget, "<") < 0,
  "<=": (left, right, budget) => compare(left, right, budget, "<=") <= 0,
  ">": (left, right, budget) => compare(left, right, budget, ">") > 0,
  ">=": (left, right, budget) => compare(left, right, budget, ">=") >= 0,
};

/** `left operator right`. Throws for types that it is not made for. */
export function arithmetic(
  operator: ArithmeticOperator,
  left: TemplateValue,
  right: TemplateValue,
  budget: Budget,
): TemplateValue {
  if (operator === "+" && typeof left === "string" && typeof right === "string") return joined(left, right, budget);
  const [leftNumber, rightNumber] = [toNumber(left), toNumber(right)];
  if (leftNumber !== undefined && rightNumber !== undefined) {
    if (!(leftNumber instanceof Float) && !(rightNumber instanceof Float))
      return integerArithmetic(operator, leftNumber, rightNumber, budget);
    return floatArithmetic(operator, toFloatNumber(leftNumber), toFloatNumber(rightNumber));
  }
  return sequenceArithmetic(operator, left, right, budget) ?? fail(operator, left, right);
}

function toNumber(value: TemplateValue): Integer | Float | undefined {
  return value instanceof Float ? value : toInteger(value);
}

function toFloatNumber(value: Integer | Float): number {
  return value instanceof Float ? value.value : toFloat(value);
}

/** Concatenates two texts. The result shares them, so only the length of the shorter one is charged, and its length is bounded. */
export function joined(left: string, right: string, budget: Budget): string {
  budget.text(16 + Math.min(left.length, right.length));
  budget.length(left.length + right.length);
  return left + right;
}

function sequenceArithmetic(
  operator: ArithmeticOperator,
  left: TemplateValue,
  right: TemplateValue,
  budget: Budget,
): TemplateValue | undefined {
  if (operator === "%") return percent(left, right, budget);
  if (operator === "*") return toInteger(left) === undefined ? repeated(left, right, budget) : repeated(right, left, budget);
  if (operator !== "+") return undefined;
  const [leftText, rightText] = [getText(left), getText(right)];
  if (leftText !== undefined && rightText !== undefined) {
    return new Markup(joined(markupText(left, budget), markupText(right, budget), budget));
  }
  if (left instanceof List && right instanceof List) return new List(together(left.items, right.items, budget));
  if (left instanceof Tuple && right instanceof Tuple) return new Tuple(together(left.items, right.items, budget));
  return undefined;
}

function percent(left: TemplateValue, right: TemplateValue, budget: Budget): TemplateValue | undefined {
  const text = getText(left);
  if (text === undefined) return undefined;
  const formatted = formatPercent(text, right, budget);
  return left instanceof Markup ? new Markup(formatted) : formatted;
}

function together(left: readonly TemplateValue[], right: readonly TemplateValue[], budget: Budget): readonly TemplateValue[] {
  budget.items(left.length + right.length);
  budget.step((left.length + right.length) / 16);
  return [...left, ...right];
}

function repeated(sequence: TemplateValue, count: TemplateValue, budget: Budget): TemplateValue | undefined {
  const times = toInteger(count);
  if (times === undefined) return undefined;
  const number = Math.max(0, Number(times));
  const text = getText(sequence);
  if (text !== undefined) {
    budget.text(text.length * number);
    const made = text.repeat(number);
    return sequence instanceof Markup ? new Markup(made) : made;
  }
  if (!(sequence instanceof List) && !(sequence instanceof Tuple)) return undefined;
  const { items } = sequence;
  budget.items(items.length * number);
  budget.step((items.length * number) / 16);
  const made = Array.from({ length: items.length * number }, (_, index) => items[index % items.length] ?? null);
  return sequence instanceof List ? new List(made) : new Tuple(made);
}

function fail(operator: ArithmeticOperator, left: TemplateValue, right: TemplateValue): never {
  for (const value of [left, right]) if (value instanceof Undefined) throw new TemplateFailure(value.message);
  if (operator === "+" && getText(left) !== undefined)
    throw new TemplateFailure(`can only concatenate str (not "${typeName(right)}") to str`);
  if (operator === "+" && left instanceof List)
    throw new TemplateFailure(`can only concatenate list (not "${typeName(right)}") to list`);
  const shown = operator === "**" ? "** or pow()" : operator;
  throw new TemplateFailure(`unsupported operand type(s) for ${shown}: '${typeName(left)}' and '${typeName(right)}'`);
}

/** `-value` or `+value` */
export function signed(value: TemplateValue, isNegative: boolean): TemplateValue {
  if (value instanceof Undefined) throw new TemplateFailure(value.message);
  if (value instanceof Float) return isNegative ? new Float(-value.value) : value;
  const integer = toInteger(value);
  if (integer === undefined)
    throw new TemplateFailure(`bad operand type for unary ${isNegative ? "-" : "+"}: '${typeName(value)}'`);
  if (!isNegative) return integer;
  return typeof integer === "bigint" ? -integer : 0 - integer;
}

/** A text of a value that is joined with Markup: escaped unless it is safe. */
export function markupText(value: TemplateValue, budget: Budget): string {
  return value instanceof Markup ? value.text : escapeHtml(getText(value) ?? "", budget);
}

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", "'": "&#39;", '"': "&#34;" };

/** markupsafe.escape() */
export function escapeHtml(text: string, budget: Budget): string {
  budget.text(6 * text.length);
  return text.replaceAll(/[&<>'"]/g, (character) => entities[character] ?? character);
}
