/** What a text must be, as callers state it. */
import { isJsonObject } from "../../../formats/json/exact-json.ts";
import { regularExpressionDfa } from "./automata/regular-expression.ts";
import { WordTrie } from "./automata/words.ts";
import { withinBudget } from "./constraint-budget.ts";
import { type GrammarNode, textNode } from "./grammar/grammar.ts";
import { parseGbnf } from "./grammar/gbnf.ts";
import { type GrammarSource, sourceText } from "./grammar-source.ts";
import { isLark, parseLark } from "./grammar/lark.ts";
import { constraintRefusal } from "./refusal.ts";
import { type SchemaSettings, anyJson, compileSchema } from "./schema/compile-schema.ts";

/** Constraint on a generated text. */
export type TextConstraint =
  /** JSON: an object, or any value. */
  | { readonly type: "json"; readonly value?: "any" | "object" }
  /** JSON that is valid by a schema (JSON Schema 2020-12; `format` is asserted). Keywords that are not supported are refused. */
  | { readonly type: "schema"; readonly schema: object | boolean }
  /** A text that a regular expression of ECMAScript matches as a whole. */
  | { readonly type: "regex"; readonly pattern: string; readonly flags?: string }
  /** One of several texts. */
  | { readonly type: "choice"; readonly choices: readonly string[] }
  /** A text of a context-free grammar: in GBNF, the notation of llama.cpp, from its rule `root`; or in a subset of Lark's, from its rule `start`. */
  | { readonly type: "grammar"; readonly grammar: string };

/** The source of a constraint. */
export function constraintSource(constraint: TextConstraint, settings: SchemaSettings = {}): GrammarSource {
  return { text: sourceText({ kind: "text", constraint, settings } satisfies TextSpecification) };
}

/** Source of the grammar for a text that fits a constraint. */
export interface TextSpecification {
  readonly kind: "text";
  readonly constraint: TextConstraint;
  readonly settings: SchemaSettings;
}

const types = ["json", "schema", "regex", "choice", "grammar"];

/** The grammar of a constraint. Throws INPUT_INVALID for one that is invalid or not supported, and for one that exceeds the budget in force or the default one. */
export function compileConstraint(constraint: TextConstraint, settings: SchemaSettings = {}): GrammarNode {
  return withinBudget(() => compileByType(constraint, settings));
}

function compileByType(constraint: TextConstraint, settings: SchemaSettings): GrammarNode {
  if (!isJsonObject(constraint) || !types.includes(constraint.type))
    throw constraintRefusal(`its type is one of ${types.join(", ")}`, "correct it");
  switch (constraint.type) {
    case "json":
      return anyJson(constraint.value === "object" ? "object" : undefined);
    case "schema":
      return compileSchema(constraint.schema, settings);
    case "regex": {
      if (typeof constraint.pattern !== "string") throw constraintRefusal("its pattern is a string", "correct it");
      return textNode(regularExpressionDfa(constraint.pattern, { whole: true, flags: constraint.flags ?? "" }));
    }
    case "choice": {
      const { choices } = constraint;
      if (!Array.isArray(choices) || choices.length === 0 || choices.some((word) => typeof word !== "string" || word === "")) {
        throw constraintRefusal("its choices are a list of strings that are not empty", "correct it");
      }
      return textNode(WordTrie.of(choices));
    }
    case "grammar":
      if (typeof constraint.grammar !== "string") throw constraintRefusal("its grammar is a string", "correct it");
      return isLark(constraint.grammar) ? parseLark(constraint.grammar) : parseGbnf(constraint.grammar);
    default:
      return constraint satisfies never;
  }
}
