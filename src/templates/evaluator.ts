/** Evaluates expressions. */
import { noArguments } from "./builtins/arguments.ts";
import { Slice, getAttribute, getItem } from "./builtins/attributes.ts";
import type { TemplateEnvironment } from "./builtins/environment.ts";
import { filters, missingFilters } from "./builtins/filters.ts";
import { globalFunctions } from "./builtins/functions.ts";
import { arithmetic, comparisons, joined, signed } from "./builtins/operators.ts";
import { tests } from "./builtins/tests.ts";
import type { Budget } from "./budget.ts";
import { TemplateFailure, TemplateUnsupported } from "./errors.ts";
import type { Scope } from "./scope.ts";
import type { CallArguments, CallNode, TemplateExpression } from "./syntax/nodes.ts";
import { computeHash, isTrue } from "./values/comparison.ts";
import type { Lookup } from "./values/formatting.ts";
import { getItems } from "./values/iteration.ts";
import { toText } from "./values/text.ts";
import {
  type Arguments,
  Callable,
  Dict,
  List,
  ObjectValue,
  Tuple,
  Undefined,
  type TemplateValue,
  getText,
  typeName,
} from "./values/values.ts";

/** Evaluates the expressions of one rendering. */
export class Evaluator implements TemplateEnvironment {
  readonly budget: Budget;
  readonly now: Date;
  readonly lookup: Lookup = {
    attribute: (of, name) => getAttribute(of, name, this),
    item: (of, key) => getItem(of, key, this),
  };
  /** Line of the statement that runs. */
  protected line = 1;
  protected readonly globals: ReadonlyMap<string, TemplateValue>;

  constructor(budget: Budget, now: Date) {
    this.budget = budget;
    this.now = now;
    this.globals = globalFunctions(this);
  }

  get currentLine(): number {
    return this.line;
  }

  callFilter(name: string, value: TemplateValue, given: Arguments): TemplateValue {
    const filter = filters.get(name);
    if (filter === undefined && missingFilters.has(name)) throw new TemplateUnsupported(`the filter '${name}' is not supported`);
    if (filter === undefined) throw new TemplateFailure(`No filter named '${name}'.`);
    return filter(value, given, this);
  }

  callTest(name: string, value: TemplateValue, given: Arguments): boolean {
    const test = tests.get(name);
    if (test === undefined) throw new TemplateFailure(`No test named '${name}'.`);
    return test(value, given, this);
  }

  /** Calls a function, a macro or an object. */
  call(callee: TemplateValue, given: Arguments): TemplateValue {
    if (callee instanceof Callable) return callee.call(given);
    if (callee instanceof ObjectValue && callee.call !== undefined) return callee.call(given);
    if (callee instanceof Undefined) throw new TemplateFailure(callee.message);
    throw new TemplateFailure(`'${typeName(callee)}' object is not callable`);
  }

  evaluate(node: TemplateExpression, scope: Scope): TemplateValue {
    if (node.kind === "constant") {
      this.budget.step();
      return node.value;
    }
    if (node.kind === "name") {
      this.budget.step();
      return scope.get(node.name) ?? this.#global(node.name, scope);
    }
    this.budget.enter();
    const value = this.#evaluateNested(node, scope);
    this.budget.leave();
    return value;
  }

  /** A variable that has the value None, a global one, or one that is not there. */
  #global(name: string, scope: Scope): TemplateValue {
    const value = scope.get(name);
    if (value !== undefined) return value;
    return this.globals.get(name) ?? new Undefined(`'${name}' is undefined`);
  }

  #evaluateNested(node: Exclude<TemplateExpression, { readonly kind: "constant" | "name" }>, scope: Scope): TemplateValue {
    switch (node.kind) {
      case "attribute":
        return getAttribute(this.evaluate(node.of, scope), node.name, this);
      case "item":
        return getItem(this.evaluate(node.of, scope), this.evaluate(node.index, scope), this);
      case "slice": {
        const part = (each: TemplateExpression | undefined): TemplateValue =>
          each === undefined ? null : this.evaluate(each, scope);
        return new Slice(part(node.start), part(node.stop), part(node.step));
      }
      case "call":
        return this.evaluateCall(node, scope);
      case "filter":
        return this.callFilter(node.name, this.evaluate(node.of, scope), this.evaluateArguments(node.args, scope));
      case "test":
        return this.callTest(node.name, this.evaluate(node.of, scope), this.evaluateArguments(node.args, scope));
      case "list":
        return new List(this.#items(node.items, scope));
      case "tuple":
        return new Tuple(this.#items(node.items, scope));
      case "dict":
        return this.#dict(node.pairs, scope);
      case "not":
        return !isTrue(this.evaluate(node.of, scope));
      case "negative":
      case "positive":
        return signed(this.evaluate(node.of, scope), node.kind === "negative");
      case "arithmetic": {
        let value = this.evaluate(node.first, scope);
        for (const [operator, operand] of node.rest)
          value = arithmetic(operator, value, this.evaluate(operand, scope), this.budget);
        return value;
      }
      case "concatenation": {
        let text = "";
        for (const item of node.items) text = joined(text, toText(this.evaluate(item, scope), this.budget), this.budget);
        return text;
      }
      case "comparison":
        return this.#comparison(node, scope);
      case "and":
      case "or": {
        let value: TemplateValue = null;
        for (const item of node.items) {
          value = this.evaluate(item, scope);
          if (isTrue(value) === (node.kind === "or")) break;
        }
        return value;
      }
      case "condition": {
        if (isTrue(this.evaluate(node.test, scope))) return this.evaluate(node.value, scope);
        if (node.otherwise !== undefined) return this.evaluate(node.otherwise, scope);
        return new Undefined("the inline if-expression evaluated to false and no else section was defined.");
      }
      default:
        return node satisfies never;
    }
  }

  #items(nodes: readonly TemplateExpression[], scope: Scope): TemplateValue[] {
    this.budget.items(nodes.length);
    return nodes.map((each) => this.evaluate(each, scope));
  }

  #dict(pairs: readonly (readonly [TemplateExpression, TemplateExpression])[], scope: Scope): Dict {
    const dict = new Dict();
    this.budget.items(4 * pairs.length);
    for (const [keyNode, valueNode] of pairs) {
      const key = this.evaluate(keyNode, scope);
      dict.set(computeHash(key, this.budget), key, this.evaluate(valueNode, scope));
    }
    return dict;
  }

  #comparison({ first, rest }: Extract<TemplateExpression, { readonly kind: "comparison" }>, scope: Scope): boolean {
    let left = this.evaluate(first, scope);
    for (const [operator, operand] of rest) {
      const right = this.evaluate(operand, scope);
      if (!comparisons[operator](left, right, this.budget)) return false;
      left = right;
    }
    return true;
  }

  /** `extra`: a further named argument, `caller` of a call block. */
  protected evaluateCall({ callee, args }: CallNode, scope: Scope, extra?: readonly [string, TemplateValue]): TemplateValue {
    const called = this.evaluate(callee, scope);
    return this.call(called, this.evaluateArguments(args, scope, extra));
  }

  protected evaluateArguments(
    { positional, named, list, dict }: CallArguments,
    scope: Scope,
    extra?: readonly [string, TemplateValue],
  ): Arguments {
    if (positional.length === 0 && named.length === 0 && list === undefined && dict === undefined && extra === undefined)
      return noArguments;
    const values = this.#items(positional, scope);
    if (list !== undefined) {
      const more = getItems(this.evaluate(list, scope), this.budget);
      this.budget.items(more.length);
      for (const item of more) values.push(item);
    }
    const byName = new Map<string, TemplateValue>();
    for (const [name, node] of named) this.#name(byName, name, this.evaluate(node, scope));
    if (extra !== undefined) this.#name(byName, ...extra);
    if (dict !== undefined) this.#addAll(byName, this.evaluate(dict, scope));
    return { positional: values, named: byName };
  }

  #addAll(byName: Map<string, TemplateValue>, value: TemplateValue): void {
    if (!(value instanceof Dict)) throw new TemplateFailure(`argument after ** must be a mapping, not ${typeName(value)}`);
    this.budget.items(4 * value.size);
    for (const [key, each] of value.entries()) {
      const name = getText(key);
      if (name === undefined) throw new TemplateFailure("keywords must be strings");
      this.#name(byName, name, each);
    }
  }

  #name(byName: Map<string, TemplateValue>, name: string, value: TemplateValue): void {
    if (byName.has(name)) throw new TemplateFailure(`got multiple values for keyword argument '${name}'`);
    byName.set(name, value);
  }
}
