/** What the parts of the compiler of schemas need of each other. */
import type { Dfa } from "../automata/automaton.ts";
import type { GrammarNode } from "../grammar/grammar.ts";
import type { SchemaDocument, SchemaPart, SchemaPlace } from "./schema-document.ts";

/** Schemas that must all be valid, without references; and choices between further schemas. */
export interface FlatSchema {
  readonly parts: readonly SchemaPart[];
  /** Alternatives of the first keyword that offers a choice: lists of schemas, one of which must be valid as a whole. */
  readonly options: readonly (readonly SchemaPlace[])[] | undefined;
}

/** Compiles schemas that others contain. */
export interface SchemaContext {
  readonly document: SchemaDocument;
  /** Whether objects whose members are listed may have others where the schema allows them. */
  readonly unlistedMembers: boolean;
  /** Compiles with `unlistedMembers`. */
  readonly letter: SchemaContext;
  /** The grammar of values for which all schemas are valid. Its rules may have no body yet. */
  node(places: readonly SchemaPlace[]): GrammarNode;
  /** Compiles the bodies of all rules. */
  compileOpen(): void;
  /** Follows references and `allOf`; undefined if no value is valid. */
  flatten(places: readonly SchemaPlace[]): FlatSchema | undefined;
}

/** Compiles keywords of strings. */
export interface StringContext {
  /** The texts of strings for which all schemas are valid. */
  stringDfa(parts: readonly SchemaPart[]): Dfa;
  /** The texts in which an expression matches somewhere. */
  pattern(part: SchemaPart, keyword: string, source: string): Dfa;
}
