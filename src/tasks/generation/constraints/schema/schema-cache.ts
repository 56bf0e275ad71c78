/** What schemas that are compiled together share. */
import type { Dfa } from "../automata/automaton.ts";
import type { GrammarNode, GrammarRule } from "../grammar/grammar.ts";
import { SchemaIdentities } from "./schema-identity.ts";

/** Parts of grammars, by their source. */
export class SchemaCache {
  readonly identities: SchemaIdentities = new SchemaIdentities();
  /** By the numbers of the schemas that must all be valid. */
  readonly rules: Map<string, GrammarRule> = new Map();
  /** Of numbers, by their bounds, and of strings, by their keywords. */
  readonly numbers: Map<string, GrammarNode> = new Map();
  readonly strings: Map<string, GrammarNode> = new Map();
  /** By regular expression. */
  readonly expressions: Map<string, Dfa> = new Map();
}
