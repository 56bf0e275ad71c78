/** Parser of the text form of a graph, which `print.ts` defines. For tests and tools. */
import { elementCount } from "../../contract/tensor.ts";
import { getMessage } from "../../contract/errors.ts";
import { type ElementType, elementTypes, isBigIntType } from "./element-types.ts";
import type { Graph, GraphNode, NamedValue, Value } from "./graph.ts";
import type { TensorType } from "./tensor-type.ts";
import { type Literal, toLiteral, literalOfBigints } from "./literal.ts";
import type { ElementOperation, ElementStep, Operation } from "./operations.ts";
import { TextCursor } from "./text-cursor.ts";

/** Parses a graph. Throws with the line number if the text is malformed. Types are taken as written; `verify` compares them with inferred ones. */
export function parseGraph(text: string): Graph {
  const parser = new Parser();
  for (const [index, line] of text.split("\n").entries()) {
    try {
      parser.line(new TextCursor(line));
    } catch (error) {
      throw new Error(`line ${index + 1}: ${getMessage(error)}`, { cause: error });
    }
  }
  return { inputs: parser.inputs, nodes: parser.nodes, outputs: parser.outputs };
}

class Parser {
  readonly inputs: NamedValue[] = [];
  readonly nodes: GraphNode[] = [];
  readonly outputs: NamedValue[] = [];
  readonly #values = new Map<string, Value>();

  line(cursor: TextCursor): void {
    if (cursor.ended) return;
    if (cursor.takeWord("input")) {
      const { name, type } = typedName(cursor);
      this.inputs.push({ name, value: this.#made(name, { type }) });
    } else if (cursor.takeWord("constant")) {
      const { name, type } = typedName(cursor);
      cursor.expect("=");
      this.#made(name, { type, constant: readLiteralElements(type, cursor) });
    } else if (cursor.takeWord("output")) {
      const name = cursor.name();
      cursor.expect("=");
      this.outputs.push({ name, value: this.#find(cursor.name()) });
    } else this.#node(cursor);
    if (!cursor.ended) throw new Error(`unexpected "${cursor.rest}" at the end of the line`);
  }

  #node(cursor: TextCursor): void {
    const results = [typedName(cursor)];
    while (cursor.take(",")) results.push(typedName(cursor));
    cursor.expect("=");
    const { operation, inputs } = readOperation(cursor, () => this.#find(cursor.name()));
    const outputs = results.map(({ name, type }) => this.#made(name, { type }));
    this.nodes.push({ operation, inputs, outputs });
  }

  #made(name: string, value: Value): Value {
    if (this.#values.has(name)) throw new Error(`"${name}" is defined twice`);
    this.#values.set(name, value);
    return value;
  }

  #find(name: string): Value {
    const value = this.#values.get(name);
    if (value === undefined) throw new Error(`"${name}" is not defined before its use`);
    return value;
  }
}

/** Reads an operation with its operands: `gather(x, c0) axis=0`. */
export function readOperation<Input>(
  cursor: TextCursor,
  readInput: () => Input,
): { readonly operation: Operation; readonly inputs: readonly Input[] } {
  const kind = cursor.word();
  const inputs = operands(cursor, readInput);
  const operation = kind === "elementwise" ? { kind, steps: steps(cursor) } : attributed(kind, cursor);
  return { operation: operation as Operation, inputs };
}

function typedName(cursor: TextCursor): { readonly name: string; readonly type: TensorType } {
  const name = cursor.name();
  cursor.expect(":");
  return { name, type: readType(cursor) };
}

/** Reads a type: `float32[2,3]`. */
export function readType(cursor: TextCursor): TensorType {
  const dataType = cursor.word();
  if (!Object.hasOwn(elementTypes, dataType)) throw new Error(`"${dataType}" is not an element type`);
  const shape = cursor.json();
  if (!Array.isArray(shape)) throw new Error("a type must end with a shape, as in float32[2,3]");
  return { dataType: dataType as ElementType, shape: shape as readonly number[] };
}

function operands<Item>(cursor: TextCursor, read: () => Item): readonly Item[] {
  cursor.expect("(");
  const items: Item[] = [];
  while (!cursor.take(")")) {
    if (items.length > 0) cursor.expect(",");
    items.push(read());
  }
  return items;
}

function attributed(kind: string, cursor: TextCursor): object {
  const attributes: [string, unknown][] = [];
  while (!cursor.ended && !cursor.startsWith(";") && !cursor.startsWith("}")) {
    const name = cursor.word();
    cursor.expect("=");
    attributes.push([name, cursor.json()]);
  }
  return { kind, ...Object.fromEntries(attributes) };
}

function steps(cursor: TextCursor): readonly ElementStep[] {
  cursor.expect("{");
  const found: ElementStep[] = [];
  do {
    const kind = cursor.word();
    const valueNumbers = operands(cursor, () => {
      cursor.expect("$");
      return Number(cursor.word());
    });
    found.push({ operation: attributed(kind, cursor) as ElementOperation, operands: valueNumbers });
  } while (cursor.take(";"));
  cursor.expect("}");
  return found;
}

/** Reads the elements of a constant of a type: `[1, 2, 0.5]`. */
export function readLiteralElements({ dataType, shape }: TensorType, cursor: TextCursor): Literal {
  const elements = cursor.elements();
  if (elements.length !== elementCount(shape))
    throw new Error(
      `the constant has ${elements.length} elements, and its shape [${shape.join(",")}] needs ${elementCount(shape)}`,
    );
  if (dataType === "string") return { dataType, shape, data: elements.map((element) => JSON.parse(element) as string) };
  if (isBigIntType(dataType)) return literalOfBigints(dataType, shape, elements.map(BigInt));
  const numbers = elements.map((element) => {
    const number = Number(element);
    if (Number.isNaN(number) && element !== "NaN") throw new Error(`"${element}" is not a number`);
    return number;
  });
  return toLiteral(dataType, shape, numbers);
}
