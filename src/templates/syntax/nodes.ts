/** The syntax tree of a template. Chains of operators are flat, so that a long one is not a deep tree. */
import type { ArithmeticOperator } from "../values/numbers.ts";
import type { TemplateValue } from "../values/values.ts";

/** Comparisons. */
export type ComparisonOperator = "==" | "!=" | "<" | "<=" | ">" | ">=" | "in" | "not in";

/** Arguments of a call, a filter or a test. */
export interface CallArguments {
  readonly positional: readonly TemplateExpression[];
  readonly named: readonly (readonly [string, TemplateExpression])[];
  /** `*list` */
  readonly list: TemplateExpression | undefined;
  /** `**dict` */
  readonly dict: TemplateExpression | undefined;
}

/** A name that is looked up. */
export interface NameNode {
  readonly kind: "name";
  readonly name: string;
}

/** A call of an expression. */
export interface CallNode {
  readonly kind: "call";
  readonly callee: TemplateExpression;
  readonly args: CallArguments;
}

/** An expression node. */
export type TemplateExpression =
  | NameNode
  | CallNode
  | { readonly kind: "constant"; readonly value: TemplateValue }
  | { readonly kind: "list" | "tuple"; readonly items: readonly TemplateExpression[] }
  | { readonly kind: "dict"; readonly pairs: readonly (readonly [TemplateExpression, TemplateExpression])[] }
  | { readonly kind: "attribute"; readonly of: TemplateExpression; readonly name: string }
  | { readonly kind: "item"; readonly of: TemplateExpression; readonly index: TemplateExpression }
  | {
      readonly kind: "slice";
      readonly start: TemplateExpression | undefined;
      readonly stop: TemplateExpression | undefined;
      readonly step: TemplateExpression | undefined;
    }
  | { readonly kind: "filter"; readonly of: TemplateExpression; readonly name: string; readonly args: CallArguments }
  | { readonly kind: "test"; readonly of: TemplateExpression; readonly name: string; readonly args: CallArguments }
  | { readonly kind: "not" | "negative" | "positive"; readonly of: TemplateExpression }
  | {
      readonly kind: "arithmetic";
      readonly first: TemplateExpression;
      readonly rest: readonly (readonly [ArithmeticOperator, TemplateExpression])[];
    }
  | {
      readonly kind: "comparison";
      readonly first: TemplateExpression;
      readonly rest: readonly (readonly [ComparisonOperator, TemplateExpression])[];
    }
  | { readonly kind: "concatenation" | "and" | "or"; readonly items: readonly TemplateExpression[] }
  | {
      readonly kind: "condition";
      readonly test: TemplateExpression;
      readonly value: TemplateExpression;
      readonly otherwise: TemplateExpression | undefined;
    };

/** Target of an assignment. */
export type AssignmentTarget =
  | { readonly kind: "variable"; readonly name: string }
  | { readonly kind: "member"; readonly namespace: string; readonly name: string }
  | { readonly kind: "targets"; readonly items: readonly AssignmentTarget[] };

/** Parameters of a macro or a call block; the defaults belong to the last ones. */
export interface MacroSignature {
  readonly names: readonly string[];
  readonly defaults: readonly TemplateExpression[];
}

/** A macro, or the block of a call, which is the macro `caller`. */
export interface MacroNode extends MacroSignature {
  readonly name: string;
  readonly body: readonly TemplateStatement[];
  /** Special names that the body reads: they decide which further arguments are accepted. */
  readonly reads: ReadonlySet<"varargs" | "kwargs" | "caller">;
}

/** Filters that are applied to a block, in order. */
export type FilterChain = readonly { readonly name: string; readonly args: CallArguments }[];

/** A `for` loop. */
export interface LoopNode {
  readonly kind: "for";
  readonly line: number;
  readonly target: AssignmentTarget;
  readonly over: TemplateExpression;
  readonly test: TemplateExpression | undefined;
  readonly recursive: boolean;
  readonly body: readonly TemplateStatement[];
  readonly otherwise: readonly TemplateStatement[];
}

/** A statement, a text or the output of an expression. `line`: where it begins, from 1. */
export type TemplateStatement =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "output"; readonly line: number; readonly value: TemplateExpression }
  | LoopNode
  | {
      readonly kind: "if";
      readonly line: number;
      readonly branches: readonly { readonly test: TemplateExpression; readonly body: readonly TemplateStatement[] }[];
      readonly otherwise: readonly TemplateStatement[];
    }
  | { readonly kind: "set"; readonly line: number; readonly target: AssignmentTarget; readonly value: TemplateExpression }
  | {
      readonly kind: "setBlock";
      readonly line: number;
      readonly target: AssignmentTarget;
      readonly filters: FilterChain;
      readonly body: readonly TemplateStatement[];
    }
  | {
      readonly kind: "with";
      readonly line: number;
      readonly bindings: readonly (readonly [AssignmentTarget, TemplateExpression])[];
      readonly body: readonly TemplateStatement[];
    }
  | { readonly kind: "scope"; readonly body: readonly TemplateStatement[] }
  | {
      readonly kind: "filterBlock";
      readonly line: number;
      readonly filters: FilterChain;
      readonly body: readonly TemplateStatement[];
    }
  | { readonly kind: "macro"; readonly macro: MacroNode }
  | { readonly kind: "callBlock"; readonly line: number; readonly call: CallNode; readonly caller: MacroNode }
  | { readonly kind: "break" | "continue" };
