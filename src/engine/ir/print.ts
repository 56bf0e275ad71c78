/**
 * The text form of a graph, with one line for each input, constant, node and output, in this order; a constant stands before the first node that
 * uses it:
 *
 *     input x: float32[2,3]
 *     constant c0: float32[3] = [1, 2, 0.5]
 *     v0: float32[2,3] = binary(x, c0) function=add
 *     v1: float32[2,3] = elementwise(v0, x) { gelu($0) approximate=none; binary($2, $1) function=mul }
 *     output y = v1
 *
 * `parse.ts` reads it back, unless elements of large constants were left out.
 */
import { type Graph, type Value } from "./graph.ts";
import { describeType } from "./tensor-type.ts";
import { toBigints, type Literal, toNumbers, toStrings } from "./literal.ts";
import type { Operation } from "./operations.ts";
import { isBigIntType } from "./element-types.ts";

/** Options of `printGraph`: how much of large constants is printed. */
export interface PrintOptions {
  /** Constants with more elements than this are printed without their elements. Default: 16. */
  readonly maxElements?: number;
}

/** The text form of a graph. A value that is used before its definition is printed as "?". */
export function printGraph(graph: Graph, { maxElements = 16 }: PrintOptions = {}): string {
  const names = new Names(graph.inputs.map(({ name }) => name));
  const lines: string[] = [];
  const getName = (value: Value): string => {
    const known = names.find(value);
    if (known !== undefined) return known;
    if (value.constant === undefined) return "?"; // used before its definition; `verify` reports it
    const name = names.give(value, "c");
    lines.push(`constant ${typed(name, value)} = ${printedElements(value.constant, maxElements)}`);
    return name;
  };
  for (const { name, value } of graph.inputs) lines.push(`input ${typed(names.give(value, name), value)}`);
  for (const { operation, inputs, outputs } of graph.nodes) {
    const operands = inputs.map(getName);
    const results = outputs.map((value) => typed(names.give(value, "v"), value));
    lines.push(`${results.join(", ")} = ${printedOperation(operation, operands)}`);
  }
  for (const { name, value } of graph.outputs) {
    const source = getName(value);
    lines.push(`output ${printedName(name)} = ${source}`);
  }
  return lines.join("\n");
}

/** Names of values: inputs keep theirs, constants are c0, c1, ... and other values v0, v1, ..., without those that are names of inputs. */
class Names {
  readonly #names = new Map<Value, string>();
  readonly #taken: Set<string>;
  readonly #next = new Map<string, number>();

  constructor(inputs: readonly string[]) {
    this.#taken = new Set(inputs);
  }

  find(value: Value): string | undefined {
    return this.#names.get(value);
  }

  give(value: Value, requested: string): string {
    const name = requested === "c" || requested === "v" ? this.#numbered(requested) : printedName(requested);
    this.#names.set(value, name);
    return name;
  }

  #numbered(letter: string): string {
    for (;;) {
      const number = this.#next.get(letter) ?? 0;
      this.#next.set(letter, number + 1);
      if (!this.#taken.has(`${letter}${number}`)) return `${letter}${number}`;
    }
  }
}

function typed(name: string, { type }: Value): string {
  return `${name}: ${describeType(type)}`;
}

/** A name as it is, or as a JSON string if it is not an identifier: names in models may contain any character. */
function printedName(name: string): string {
  return /^[A-Za-z_][\w.]*$/.test(name) ? name : JSON.stringify(name);
}

function printedOperation(operation: Operation, operands: readonly string[]): string {
  if (operation.kind === "elementwise") {
    const steps = operation.steps.map((step) =>
      printedOperation(
        step.operation,
        step.operands.map((operand) => `$${operand}`),
      ),
    );
    return `elementwise(${operands.join(", ")}) { ${steps.join("; ")} }`;
  }
  const { kind, ...attributes } = operation;
  const printed = Object.entries(attributes).map(([name, value]) => ` ${name}=${printedAttribute(value)}`);
  return `${kind}(${operands.join(", ")})${printed.join("")}`;
}

function printedAttribute(value: unknown): string {
  if (typeof value === "number") return printedNumber(value);
  if (Array.isArray(value)) return `[${value.map(printedAttribute).join(",")}]`;
  if (typeof value === "object" && value !== null)
    return `{${Object.entries(value)
      .map(([name, member]) => `${printedName(name)}:${printedAttribute(member)}`)
      .join(",")}}`;
  if (typeof value === "string" && /^[a-z][a-z0-9-]*$/.test(value) && value !== "true" && value !== "false") return value;
  return JSON.stringify(value);
}

function printedNumber(value: number): string {
  return Object.is(value, -0) ? "-0" : String(value);
}

function printedElements(literal: Literal, maxElements: number): string {
  const { dataType, data } = literal;
  if (data.length > maxElements) return `${data.length} elements`;
  if (dataType === "string")
    return `[${toStrings(literal)
      .map((text) => JSON.stringify(text))
      .join(", ")}]`;
  if (isBigIntType(dataType)) return `[${Array.from(toBigints(literal), String).join(", ")}]`;
  const print = dataType === "float32" ? shortest : printedNumber;
  return `[${Array.from(toNumbers(literal), print).join(", ")}]`;
}

/** The shortest decimal that reads back as the same float32. */
function shortest(value: number): string {
  for (let digits = 6; digits < 9; digits += 1) {
    const text = String(Number(value.toPrecision(digits)));
    if (Math.fround(Number(text)) === value && value !== 0) return text;
  }
  return printedNumber(value);
}
