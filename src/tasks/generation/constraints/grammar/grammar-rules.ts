/** The rules of a grammar that is read from a text, by name. */
import { getOrInsert } from "../../../../contract/checked.ts";
import { constraintRefusal } from "../refusal.ts";
import { type GrammarRule, rule } from "./grammar.ts";

/** Nesting depth of groups at most. */
export const maxGroupDepth = 200;

/** Rules that refer to each other in any order. */
export class GrammarRules {
  readonly #rules = new Map<string, GrammarRule>();

  /** The rule of a name, which may be defined later. */
  get(name: string): GrammarRule {
    return getOrInsert(this.#rules, name, () => rule(name));
  }

  /** The rule that a grammar begins with; `example` defines it. Throws INPUT_INVALID for a rule that is referred to and not defined, and where this one is missing. */
  start(name: string, example: string): GrammarRule {
    const missing = [...this.#rules.values()].find(({ body }) => body === undefined);
    if (missing !== undefined) throw constraintRefusal(`the rule ${missing.name} is not defined`, "define it");
    const start = this.#rules.get(name);
    if (start === undefined) throw constraintRefusal(`the grammar has no rule ${name}`, `begin it with "${example}"`);
    return start;
  }
}
