/** str() and repr() of values. */
import type { Budget } from "../budget.ts";
import { floatText, integerText } from "./numbers.ts";
import {
  Callable,
  Dict,
  Float,
  List,
  Markup,
  Range,
  Stream,
  Tuple,
  Undefined,
  type TemplateValue,
  View,
  Namespace,
  typeName,
} from "./values.ts";

/** The text that `{{ value }}` prints. */
export function toText(value: TemplateValue, budget: Budget): string {
  if (typeof value === "string") return value;
  if (value instanceof Markup) return value.text;
  if (value instanceof Undefined) return "";
  return represent(value, budget);
}

/** repr() */
export function represent(value: TemplateValue, budget: Budget): string {
  const parts: string[] = [];
  write(value, budget, parts);
  return parts.length === 1 ? (parts[0] ?? "") : parts.join("");
}

function write(value: TemplateValue, budget: Budget, into: string[]): void {
  if (value instanceof List) writeItems("[", value.items, "]", budget, into);
  else if (value instanceof Tuple) writeItems("(", value.items, value.items.length === 1 ? ",)" : ")", budget, into);
  else if (value instanceof View) writeItems(`${value.type}([`, value.items, "])", budget, into);
  else if (value instanceof Dict) writeDict(value.entries(), budget, into);
  else if (value instanceof Namespace) {
    into.push("<Namespace ");
    writeDict([...value.attributes], budget, into);
    into.push(">");
  } else {
    const text = atomText(value, budget);
    budget.text(text.length);
    into.push(text);
  }
}

function writeItems(open: string, items: readonly TemplateValue[], close: string, budget: Budget, into: string[]): void {
  budget.enterValue();
  budget.text(open.length + close.length + 2 * items.length);
  into.push(open);
  for (const [index, item] of items.entries()) {
    if (index > 0) into.push(", ");
    budget.step();
    write(item, budget, into);
  }
  into.push(close);
  budget.leaveValue();
}

function writeDict(entries: readonly (readonly [TemplateValue, TemplateValue])[], budget: Budget, into: string[]): void {
  budget.enterValue();
  budget.text(4 * entries.length + 4);
  let separator = "{";
  for (const [key, item] of entries) {
    budget.step();
    into.push(separator);
    write(key, budget, into);
    into.push(": ");
    write(item, budget, into);
    separator = ", ";
  }
  into.push(entries.length === 0 ? "{}" : "}");
  budget.leaveValue();
}

function atomText(value: TemplateValue, budget: Budget): string {
  if (value === null) return "None";
  if (value === true) return "True";
  if (value === false) return "False";
  if (typeof value === "number" || typeof value === "bigint") return integerText(value);
  if (typeof value === "string") return quoted(value, budget);
  if (value instanceof Float) return floatText(value.value);
  if (value instanceof Markup) return `Markup(${quoted(value.text, budget)})`;
  if (value instanceof Undefined) return "Undefined";
  if (value instanceof Range) return rangeText(value);
  if (value instanceof Stream) return `<${value.type} object at 0x7f0000000000>`;
  if (value instanceof Callable) return value.type === "Macro" ? `<Macro '${value.name}'>` : `<${value.type} ${value.name}>`;
  return `<${typeName(value)} object at 0x7f0000000000>`;
}

function rangeText({ start, stop, step }: Range): string {
  return step === 1 ? `range(${start}, ${stop})` : `range(${start}, ${stop}, ${step})`;
}

/** Characters that repr() escapes: those that are not printable, and the backslash. */
const escaped = /[\\\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;
const named: Readonly<Record<string, string>> = { "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" };

function quoted(text: string, budget: Budget): string {
  budget.text(8 * text.length);
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const content = text.replaceAll(escaped, (character) => named[character] ?? codeEscape(character.codePointAt(0) ?? 0));
  return `${quote}${quote === "'" ? content.replaceAll("'", String.raw`\'`) : content}${quote}`;
}

function codeEscape(code: number): string {
  const hexadecimal = code.toString(16);
  if (code < 0x1_00) return `\\x${hexadecimal.padStart(2, "0")}`;
  return code < 0x1_00_00 ? `\\u${hexadecimal.padStart(4, "0")}` : `\\U${hexadecimal.padStart(8, "0")}`;
}
