/** Parses expressions, with the precedence that Jinja2's parser has. */
import type { TemplateValue } from "../values/values.ts";
import type { ArithmeticOperator } from "../values/numbers.ts";
import type {
  CallArguments,
  CallNode,
  ComparisonOperator,
  TemplateExpression,
  FilterChain,
  NameNode,
  AssignmentTarget,
} from "./nodes.ts";
import { type TokenStream, describe } from "./token-stream.ts";

const constants: Readonly<Record<string, TemplateValue>> = {
  true: true,
  True: true,
  false: false,
  False: false,
  none: null,
  None: null,
};
const comparisons: ReadonlySet<string> = new Set(["==", "!=", "<", "<=", ">", ">="]);
const noArguments: CallArguments = { positional: [], named: [], list: undefined, dict: undefined };
/** Names that may follow a test and are not its argument. */
const notArguments: ReadonlySet<string> = new Set(["else", "or", "and"]);

/** How a tuple without parentheses is read. */
interface TupleForm {
  /** Whether `a if b` may be an item. */
  readonly conditions: boolean;
  /** Names that end the tuple. */
  readonly ends: readonly string[];
  /** Whether the tuple may be empty, being in parentheses. */
  readonly mayBeEmpty: boolean;
}

/** Reads expressions from tokens. */
export class ExpressionParser {
  protected readonly stream: TokenStream;
  /** Names that are read by the macros being parsed, the innermost last. */
  protected readonly reads: Set<string>[] = [];

  constructor(stream: TokenStream) {
    this.stream = stream;
  }

  parseExpression(): TemplateExpression {
    return this.stream.nested(() => this.#condition());
  }

  /** Expressions between commas, or one expression. */
  parseTuple({ conditions = true, ends = [], mayBeEmpty = false }: Partial<TupleForm> = {}): TemplateExpression {
    const parse = conditions ? () => this.parseExpression() : () => this.stream.nested(() => this.#or());
    const { items, isTuple } = this.#items(parse, ends);
    if (!isTuple && items[0] !== undefined) return items[0];
    if (!isTuple && !mayBeEmpty) throw this.stream.failure(`Expected an expression, got '${describe(this.stream.current)}'`);
    return { kind: "tuple", items };
  }

  /** Parses the target of an assignment by `set`, `for` or `with`. `members`: whether it may be an attribute of a namespace. */
  parseTarget({ members = false, ends = [] }: { members?: boolean; ends?: readonly string[] } = {}): AssignmentTarget {
    const { items, isTuple } = this.#items(() => this.stream.nested(() => this.#target(members)), ends);
    if (!isTuple && items[0] !== undefined) return items[0];
    if (!isTuple) throw this.stream.failure(`Expected an expression, got '${describe(this.stream.current)}'`);
    return { kind: "targets", items };
  }

  parseName(): string {
    const { text } = this.stream.expect("name");
    if (Object.hasOwn(constants, text)) throw this.stream.failure(`can't assign to '${text}'`);
    return text;
  }

  /** `| filter | filter`, or `filter | filter` if the first has no bar. */
  parseFilters(startsWithName: boolean): FilterChain {
    const chain: { readonly name: string; readonly args: CallArguments }[] = [];
    for (let named = startsWithName; named || this.stream.isOperator("|"); named = false) {
      if (!named) this.stream.next();
      chain.push({ name: this.#dottedName(), args: this.#optionalArguments() });
    }
    return chain;
  }

  #items<Item>(parse: () => Item, ends: readonly string[]): { items: Item[]; isTuple: boolean } {
    const items: Item[] = [];
    let isTuple = false;
    for (;;) {
      if (items.length > 0) this.stream.expectOperator(",");
      if (this.#isTupleEnd(ends)) break;
      items.push(parse());
      if (!this.stream.isOperator(",")) break;
      isTuple = true;
    }
    return { items, isTuple };
  }

  #isTupleEnd(ends: readonly string[]): boolean {
    const { stream } = this;
    if (stream.isKind("variableEnd") || stream.isKind("blockEnd") || stream.isOperator(")")) return true;
    return ends.some((name) => stream.isName(name));
  }

  #target(members: boolean): AssignmentTarget {
    if (this.stream.skipOperator("(")) {
      const target = this.parseTarget({ members });
      this.stream.expectOperator(")");
      return target;
    }
    const name = this.parseName();
    if (members && this.stream.skipOperator("."))
      return { kind: "member", namespace: this.#read(name), name: this.stream.expect("name").text };
    return { kind: "variable", name };
  }

  #condition(): TemplateExpression {
    let expression = this.#or();
    while (this.stream.skipName("if")) {
      const test = this.#or();
      const otherwise = this.stream.skipName("else") ? this.parseExpression() : undefined;
      expression = { kind: "condition", test, value: expression, otherwise };
    }
    return expression;
  }

  #or(): TemplateExpression {
    return this.#joined("or", () => this.#joined("and", () => this.#not()));
  }

  #joined(kind: "and" | "or", parse: () => TemplateExpression): TemplateExpression {
    const first = parse();
    if (!this.stream.isName(kind)) return first;
    const items = [first];
    while (this.stream.skipName(kind)) items.push(parse());
    return { kind, items };
  }

  #not(): TemplateExpression {
    if (!this.stream.skipName("not")) return this.#comparison();
    return { kind: "not", of: this.stream.nested(() => this.#not()) };
  }

  #comparison(): TemplateExpression {
    const first = this.#sum();
    const rest: (readonly [ComparisonOperator, TemplateExpression])[] = [];
    for (let found = this.#comparisonOperator(); found !== undefined; found = this.#comparisonOperator())
      rest.push([found, this.#sum()]);
    return rest.length === 0 ? first : { kind: "comparison", first, rest };
  }

  #comparisonOperator(): ComparisonOperator | undefined {
    const { current, following } = this.stream;
    if (current.kind === "operator" && comparisons.has(current.text)) return this.stream.next().text as ComparisonOperator;
    if (this.stream.skipName("in")) return "in";
    if (!this.stream.isName("not") || following.kind !== "name" || following.text !== "in") return undefined;
    this.stream.next();
    this.stream.next();
    return "not in";
  }

  #sum(): TemplateExpression {
    return this.#arithmetic(["+", "-"], () => this.#concatenation());
  }

  #concatenation(): TemplateExpression {
    const first = this.#product();
    if (!this.stream.isOperator("~")) return first;
    const items = [first];
    while (this.stream.skipOperator("~")) items.push(this.#product());
    return { kind: "concatenation", items };
  }

  #product(): TemplateExpression {
    return this.#arithmetic(["*", "/", "//", "%"], () => this.#arithmetic(["**"], () => this.#unary(true)));
  }

  #arithmetic(operators: readonly ArithmeticOperator[], parse: () => TemplateExpression): TemplateExpression {
    const first = parse();
    const rest: (readonly [ArithmeticOperator, TemplateExpression])[] = [];
    for (;;) {
      const found = operators.find((each) => this.stream.isOperator(each));
      if (found === undefined) return rest.length === 0 ? first : { kind: "arithmetic", first, rest };
      this.stream.next();
      rest.push([found, parse()]);
    }
  }

  #unary(filters: boolean): TemplateExpression {
    const operand = (): TemplateExpression => this.stream.nested(() => this.#unary(false));
    let node: TemplateExpression;
    if (this.stream.skipOperator("-")) node = { kind: "negative", of: operand() };
    else if (this.stream.skipOperator("+")) node = { kind: "positive", of: operand() };
    else node = this.#primary();
    node = this.#postfix(node);
    return filters ? this.#filtered(node) : node;
  }

  #primary(): TemplateExpression {
    const { stream } = this;
    const token = stream.next();
    const { kind, text } = token;
    if (kind === "name") {
      if (Object.hasOwn(constants, text)) return { kind: "constant", value: constants[text] ?? null };
      return { kind: "name", name: this.#read(text) } satisfies NameNode;
    }
    if (kind === "string") return { kind: "constant", value: this.#adjacentStrings(text) };
    if (kind === "number") return { kind: "constant", value: token.value ?? 0 };
    if (kind === "operator" && text === "(") {
      const tuple = this.parseTuple({ mayBeEmpty: true });
      stream.expectOperator(")");
      return tuple;
    }
    if (kind === "operator" && text === "[") return { kind: "list", items: this.#listOf("]", () => this.parseExpression()) };
    if (kind === "operator" && text === "{") return { kind: "dict", pairs: this.#listOf("}", () => this.#pair()) };
    throw stream.failure(`unexpected '${describe(token)}'`);
  }

  #adjacentStrings(first: string): string {
    const texts = [first];
    while (this.stream.isKind("string")) texts.push(this.stream.next().text);
    return texts.join("");
  }

  #pair(): readonly [TemplateExpression, TemplateExpression] {
    const key = this.parseExpression();
    this.stream.expectOperator(":");
    return [key, this.parseExpression()];
  }

  /** Items between commas up to a closing bracket; a comma may stand after the last. */
  #listOf<Item>(close: string, parse: () => Item): Item[] {
    const items: Item[] = [];
    while (!this.stream.isOperator(close)) {
      if (items.length > 0) this.stream.expectOperator(",");
      if (this.stream.isOperator(close)) break;
      items.push(parse());
    }
    this.stream.next();
    return items;
  }

  /** Attributes, items and calls after an expression. */
  #postfix(first: TemplateExpression): TemplateExpression {
    let node = first;
    for (;;) {
      if (this.stream.skipOperator(".")) node = this.#attribute(node);
      else if (this.stream.skipOperator("[")) node = this.#item(node);
      else if (this.stream.isOperator("(")) node = this.#call(node);
      else return node;
    }
  }

  #attribute(of: TemplateExpression): TemplateExpression {
    const token = this.stream.next();
    if (token.kind === "name") return { kind: "attribute", of, name: token.text };
    if (token.kind !== "number" || typeof token.value === "object") throw this.stream.failure("expected name or number");
    return { kind: "item", of, index: { kind: "constant", value: token.value ?? 0 } };
  }

  #item(of: TemplateExpression): TemplateExpression {
    const items: TemplateExpression[] = [];
    while (!this.stream.isOperator("]")) {
      if (items.length > 0) this.stream.expectOperator(",");
      items.push(this.#subscript());
    }
    this.stream.next();
    const [first] = items;
    const index: TemplateExpression = items.length === 1 && first !== undefined ? first : { kind: "tuple", items };
    return { kind: "item", of, index };
  }

  #subscript(): TemplateExpression {
    const start = this.stream.isOperator(":") ? undefined : this.parseExpression();
    if (!this.stream.skipOperator(":")) return start ?? { kind: "tuple", items: [] };
    const isPartEnd = (): boolean => this.stream.isOperator("]") || this.stream.isOperator(",");
    const stop = this.stream.isOperator(":") || isPartEnd() ? undefined : this.parseExpression();
    const step = this.stream.skipOperator(":") && !isPartEnd() ? this.parseExpression() : undefined;
    return { kind: "slice", start, stop, step };
  }

  #call(callee: TemplateExpression): CallNode {
    return { kind: "call", callee, args: this.#arguments() };
  }

  #filtered(first: TemplateExpression): TemplateExpression {
    let node = first;
    for (;;) {
      if (this.stream.isOperator("|")) {
        for (const { name, args } of this.parseFilters(false)) node = { kind: "filter", of: node, name, args };
      } else if (this.stream.skipName("is")) node = this.#test(node);
      else if (this.stream.isOperator("(")) node = this.#call(node);
      else return node;
    }
  }

  #test(of: TemplateExpression): TemplateExpression {
    const isNegated = this.stream.skipName("not");
    const test: TemplateExpression = { kind: "test", of, name: this.#dottedName(), args: this.#testArguments() };
    return isNegated ? { kind: "not", of: test } : test;
  }

  #testArguments(): CallArguments {
    const { current } = this.stream;
    if (this.stream.isOperator("(")) return this.#arguments();
    const begins =
      ["name", "string", "number"].includes(current.kind) || this.stream.isOperator("[") || this.stream.isOperator("{");
    if (!begins || (current.kind === "name" && notArguments.has(current.text))) return noArguments;
    if (this.stream.isName("is")) throw this.stream.failure("You cannot chain multiple tests with is");
    return { ...noArguments, positional: [this.#postfix(this.#primary())] };
  }

  #dottedName(): string {
    let { text: name } = this.stream.expect("name");
    while (this.stream.skipOperator(".")) name += `.${this.stream.expect("name").text}`;
    return name;
  }

  #optionalArguments(): CallArguments {
    return this.stream.isOperator("(") ? this.#arguments() : noArguments;
  }

  #arguments(): CallArguments {
    const { stream } = this;
    stream.expectOperator("(");
    const positional: TemplateExpression[] = [];
    const named: (readonly [string, TemplateExpression])[] = [];
    let list: TemplateExpression | undefined;
    let dict: TemplateExpression | undefined;
    const require = (condition: boolean): void => {
      if (!condition) throw stream.failure("invalid syntax for function call expression");
    };
    for (let isFirst = true; !stream.isOperator(")"); isFirst = false) {
      if (!isFirst) stream.expectOperator(",");
      if (stream.isOperator(")")) break;
      if (stream.skipOperator("*")) {
        require(list === undefined && dict === undefined);
        list = this.parseExpression();
      } else if (stream.skipOperator("**")) {
        require(dict === undefined);
        dict = this.parseExpression();
      } else if (stream.isKind("name") && stream.following.kind === "operator" && stream.following.text === "=") {
        require(dict === undefined);
        const { text: name } = stream.next();
        stream.next();
        named.push([name, this.parseExpression()]);
      } else {
        require(list === undefined && dict === undefined && named.length === 0);
        positional.push(this.parseExpression());
      }
    }
    stream.next();
    return { positional, named, list, dict };
  }

  /** Notes a name that the macros being parsed read. */
  #read(name: string): string {
    for (const names of this.reads) names.add(name);
    return name;
  }
}
