/** Runs the statements of a template. */
import { TemplateFailure } from "./errors.ts";
import { Evaluator } from "./evaluator.ts";
import { Loop } from "./loop.ts";
import { Scope } from "./scope.ts";
import type { FilterChain, LoopNode, MacroNode, TemplateStatement, AssignmentTarget } from "./syntax/nodes.ts";
import { isTrue } from "./values/comparison.ts";
import { isIterable, getItems, iterate } from "./values/iteration.ts";
import { toText } from "./values/text.ts";
import {
  type Arguments,
  Callable,
  Dict,
  Namespace,
  Stream,
  Tuple,
  Undefined,
  type TemplateValue,
  typeName,
} from "./values/values.ts";

/** How a body ended: by itself (undefined), or by a control of the loop around it. */
type Ending = "break" | "continue" | undefined;

/** Renders one template once. */
export class Renderer extends Evaluator {
  /** The text that statements make of variables. */
  render(body: readonly TemplateStatement[], variables: Map<string, TemplateValue>): string {
    const parts: string[] = [];
    this.#run(body, new Scope(undefined, variables), parts);
    return parts.join("");
  }

  #run(body: readonly TemplateStatement[], scope: Scope, into: string[]): Ending {
    this.budget.enter();
    for (const statement of body) {
      this.budget.step();
      const ending = this.#runStatement(statement, scope, into);
      if (ending !== undefined) {
        this.budget.leave();
        return ending;
      }
    }
    this.budget.leave();
    return undefined;
  }

  #runStatement(statement: TemplateStatement, scope: Scope, into: string[]): Ending {
    if ("line" in statement) this.line = statement.line;
    switch (statement.kind) {
      case "text":
        this.#output(statement.text, into);
        return undefined;
      case "output":
        this.#output(toText(this.evaluate(statement.value, scope), this.budget), into);
        return undefined;
      case "if": {
        const branch = statement.branches.find(({ test }) => isTrue(this.evaluate(test, scope)));
        return this.#run(branch?.body ?? statement.otherwise, scope, into);
      }
      case "for":
        this.#output(this.#loop(statement, this.evaluate(statement.over, scope), scope, 0), into);
        return undefined;
      case "set":
        this.#assign(statement.target, this.evaluate(statement.value, scope), scope);
        return undefined;
      case "setBlock":
        this.#assign(
          statement.target,
          this.#filtered(this.#capture(statement.body, new Scope(scope)), statement.filters, scope),
          scope,
        );
        return undefined;
      case "filterBlock": {
        const value = this.#filtered(this.#capture(statement.body, new Scope(scope)), statement.filters, scope);
        this.#output(toText(value, this.budget), into);
        return undefined;
      }
      case "with":
        return this.#with(statement, scope, into);
      case "scope":
        return this.#run(statement.body, new Scope(scope), into);
      case "macro":
        scope.set(statement.macro.name, this.#macro(statement.macro, scope));
        return undefined;
      case "callBlock": {
        const caller = this.#macro(statement.caller, scope);
        this.#output(toText(this.evaluateCall(statement.call, scope, ["caller", caller]), this.budget), into);
        return undefined;
      }
      case "break":
      case "continue":
        return statement.kind;
      default:
        return statement satisfies never;
    }
  }

  #output(text: string, into: string[]): void {
    if (text === "") return;
    this.budget.text(text.length + 4);
    into.push(text);
  }

  #capture(body: readonly TemplateStatement[], scope: Scope): string {
    const parts: string[] = [];
    this.#run(body, scope, parts);
    return parts.length === 1 ? (parts[0] ?? "") : parts.join("");
  }

  #filtered(text: string, filters: FilterChain, scope: Scope): TemplateValue {
    let value: TemplateValue = text;
    for (const { name, args } of filters) value = this.callFilter(name, value, this.evaluateArguments(args, scope));
    return value;
  }

  #with({ bindings, body }: Extract<TemplateStatement, { readonly kind: "with" }>, scope: Scope, into: string[]): Ending {
    const inner = new Scope(scope);
    const values = bindings.map(([, value]) => this.evaluate(value, scope));
    for (const [index, [target]] of bindings.entries()) this.#assign(target, values[index] ?? null, inner);
    return this.#run(body, inner, into);
  }

  #loop(node: LoopNode, over: TemplateValue, scope: Scope, depth: number): string {
    if (!isIterable(over)) throw new TemplateFailure(`'${typeName(over)}' object is not iterable`);
    const recurse = node.recursive
      ? (items: TemplateValue, deeper: number): string => this.#loop(node, items, scope, deeper)
      : undefined;
    this.budget.enter();
    const loop = new Loop(node.test === undefined ? over : this.#tested(node, over, scope), depth, this, recurse);
    const parts: string[] = [];
    let isEmpty = true;
    for (let item = loop.advance(); item !== undefined; item = loop.advance()) {
      isEmpty = false;
      const inner = new Scope(scope);
      this.#assign(node.target, item, inner);
      inner.set("loop", loop.value);
      if (this.#run(node.body, inner, parts) === "break") break;
      this.line = node.line;
    }
    if (isEmpty) this.#run(node.otherwise, new Scope(scope), parts);
    this.budget.leave();
    return parts.join("");
  }

  /** The items for which the loop's test holds, tested when they are read. */
  #tested({ target, test }: LoopNode, over: TemplateValue, scope: Scope): TemplateValue {
    const next = iterate(over, this.budget);
    return new Stream("generator", () => {
      for (let item = next(); item !== undefined; item = next()) {
        this.budget.step();
        const inner = new Scope(scope);
        this.#assign(target, item, inner);
        if (test === undefined || isTrue(this.evaluate(test, inner))) return item;
      }
      return undefined;
    });
  }

  #assign(target: AssignmentTarget, value: TemplateValue, scope: Scope): void {
    if (target.kind === "variable") scope.set(target.name, value);
    else if (target.kind === "member") {
      const namespace = scope.get(target.namespace);
      if (!(namespace instanceof Namespace)) throw new TemplateFailure("cannot assign attribute on non-namespace object");
      namespace.attributes.set(target.name, value);
    } else {
      const { items: targets } = target;
      if (!isIterable(value)) throw new TemplateFailure(`cannot unpack non-iterable ${typeName(value)} object`);
      const items = getItems(value, this.budget);
      if (items.length < targets.length)
        throw new TemplateFailure(`not enough values to unpack (expected ${targets.length}, got ${items.length})`);
      if (items.length > targets.length) throw new TemplateFailure(`too many values to unpack (expected ${targets.length})`);
      for (const [index, each] of targets.entries()) this.#assign(each, items[index] ?? null, scope);
    }
  }

  #macro(node: MacroNode, scope: Scope): Callable {
    return new Callable(
      node.name,
      (given) => {
        this.budget.enter();
        const { line } = this;
        const inner = new Scope(scope);
        this.#bind(node, given, inner);
        const text = this.#capture(node.body, inner);
        this.line = line;
        this.budget.leave();
        return text;
      },
      "Macro",
    );
  }

  /** Gives the parameters of a macro their values. */
  #bind({ name, names, defaults, reads }: MacroNode, { positional, named }: Arguments, scope: Scope): void {
    const rest = new Map(named);
    const firstDefault = names.length - defaults.length;
    for (const [index, parameter] of names.entries()) {
      const byDefault = defaults[index - firstDefault];
      let value = index < positional.length ? positional[index] : rest.get(parameter);
      if (index >= positional.length) rest.delete(parameter);
      if (value === undefined) {
        if (byDefault === undefined) value = new Undefined(`parameter '${parameter}' was not provided`);
        else value = this.evaluate(byDefault, scope);
      }
      scope.set(parameter, value);
    }
    if (reads.has("caller") && !names.includes("caller")) {
      scope.set("caller", rest.get("caller") ?? new Undefined("No caller defined"));
      rest.delete("caller");
    }
    if (reads.has("kwargs")) scope.set("kwargs", toDict(rest));
    else if (rest.size > 0) throw new TemplateFailure(`macro '${name}' takes no keyword argument '${[...rest.keys()][0] ?? ""}'`);
    if (reads.has("varargs")) scope.set("varargs", new Tuple(positional.slice(names.length)));
    else if (positional.length > names.length)
      throw new TemplateFailure(`macro '${name}' takes not more than ${names.length} argument(s)`);
  }
}

function toDict(named: ReadonlyMap<string, TemplateValue>): Dict {
  const dict = new Dict();
  for (const [name, value] of named) dict.set(name, name, value);
  return dict;
}
