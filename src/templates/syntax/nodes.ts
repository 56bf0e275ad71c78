/** The syntax tree of a template. Chains of operators are flat, so that a long one is not a deep tree. */
import type { ArithmeticOperator } from "../values/numbers.ts";
import type { Value } from "../values/values.ts";

/** Comparisons. */
export type ComparisonOperator = "==" | "!=" | "<" | "<=" | ">" | ">=" | "in" | "not in";

/** Arguments of a call, a filter or a test. */
export interface CallArguments {
  readonly positional: readonly Expression[];
  readonly named: readonly (readonly [string, Expression])[];
  /** `*list` */
  readonly list: Expression | undefined;
  /** `**dict` */
  readonly dict: Expression | undefined;
}

/** A name that is looked up. */
export interface NameNode {
  readonly kind: "name";
  readonly name: string;
}

/** A call of an expression. */
export interface CallNode {
  readonly kind: "call";
  readonly callee: Expression;
  readonly args: CallArguments;
}

/** An expression node. */
export type Expression =
  | NameNode
  | CallNode
  | { readonly kind: "constant"; readonly value: Value }
  | { readonly kind: "list" | "tuple"; readonly items: readonly Expression[] }
  | { readonly kind: "dict"; readonly pairs: readonly (readonly [Expression, Expression])[] }
  | { readonly kind: "attribute"; readonly of: Expression; readonly name: string }
  | { readonly kind: "item"; readonly of: Expression; readonly index: Expression }
  | {
      readonly kind: "slice";
      readonly start: Expression | undefined;
      readonly stop: Expression | undefined;
      readonly step: Expression | undefined;
    }
  | { readonly kind: "filter"; readonly of: Expression; readonly name: string; readonly args: CallArguments }
  | { readonly kind: "test"; readonly of: Expression; readonly name: string; readonly args: CallArguments }
  | { readonly kind: "not" | "negative" | "positive"; readonly of: Expression }
  | {
      readonly kind: "arithmetic";
      readonly first: Expression;
      readonly rest: readonly (readonly [ArithmeticOperator, Expression])[];
    }
  | {
      readonly kind: "comparison";
      readonly first: Expression;
      readonly rest: readonly (readonly [ComparisonOperator, Expression])[];
    }
  | { readonly kind: "concatenation" | "and" | "or"; readonly items: readonly Expression[] }
  | {
      readonly kind: "condition";
      readonly test: Expression;
      readonly value: Expression;
      readonly otherwise: Expression | undefined;
    };

/** Target of an assignment. */
export type Target =
  | { readonly kind: "variable"; readonly name: string }
  | { readonly kind: "member"; readonly namespace: string; readonly name: string }
  | { readonly kind: "targets"; readonly items: readonly Target[] };

/** Parameters of a macro or a call block; the defaults belong to the last ones. */
export interface Signature {
  readonly names: readonly string[];
  readonly defaults: readonly Expression[];
}

/** A macro, or the block of a call, which is the macro `caller`. */
export interface MacroNode extends Signature {
  readonly name: string;
  readonly body: readonly Statement[];
  /** Special names that the body reads: they decide which further arguments are accepted. */
  readonly reads: ReadonlySet<"varargs" | "kwargs" | "caller">;
}

/** Filters that are applied to a block, in order. */
export type FilterChain = readonly { readonly name: string; readonly args: CallArguments }[];

/** A `for` loop. */
export interface LoopNode {
  readonly kind: "for";
  readonly line: number;
  readonly target: Target;
  readonly over: Expression;
  readonly test: Expression | undefined;
  readonly recursive: boolean;
  readonly body: readonly Statement[];
  readonly otherwise: readonly Statement[];
}

/** A statement, a text or the output of an expression. `line`: where it begins, from 1. */
export type Statement =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "output"; readonly line: number; readonly value: Expression }
  | LoopNode
  | {
      readonly kind: "if";
      readonly line: number;
      readonly branches: readonly { readonly test: Expression; readonly body: readonly Statement[] }[];
      readonly otherwise: readonly Statement[];
    }
  | { readonly kind: "set"; readonly line: number; readonly target: Target; readonly value: Expression }
  | {
      readonly kind: "setBlock";
      readonly line: number;
      readonly target: Target;
      readonly filters: FilterChain;
      readonly body: readonly Statement[];
    }
  | {
      readonly kind: "with";
      readonly line: number;
      readonly bindings: readonly (readonly [Target, Expression])[];
      readonly body: readonly Statement[];
    }
  | { readonly kind: "scope"; readonly body: readonly Statement[] }
  | { readonly kind: "filterBlock"; readonly line: number; readonly filters: FilterChain; readonly body: readonly Statement[] }
  | { readonly kind: "macro"; readonly macro: MacroNode }
  | { readonly kind: "callBlock"; readonly line: number; readonly call: CallNode; readonly caller: MacroNode }
  | { readonly kind: "break" | "continue" };
