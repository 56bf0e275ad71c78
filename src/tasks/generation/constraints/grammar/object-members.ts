/** The members of objects, as one machine reads them. */
import { getOrInsert } from "../../../../contract/checked.ts";
import type { Automaton } from "../automata/automaton.ts";
import { JsonString } from "../automata/json-string.ts";
import type { WordTrie } from "../automata/words.ts";
import { type GrammarNode, type ObjectNode, type ObjectProperty, type OtherMember } from "./grammar.ts";
import { type MemberSet, MemberSets } from "./member-set.ts";

/** Facts about the members of one object. */
export class ObjectMembers {
  /** The properties that have a value. */
  readonly all: MemberSet;
  /** Members with other names that have a value. */
  readonly others: readonly OtherMember[];
  readonly #node: ObjectNode;
  readonly #sets: MemberSets;
  readonly #names = new Map<number, JsonString>();

  /** `dead`: parts that no text fits. */
  constructor(node: ObjectNode, dead: ReadonlySet<GrammarNode>) {
    const { properties } = node;
    this.#node = node;
    this.#sets = new MemberSets(
      properties.length,
      (number) => properties[number]?.isRequired === true,
      (number) => !dead.has(properties[number]?.value as GrammarNode),
    );
    this.all = this.#sets.all;
    this.others = node.others.filter(({ value }) => !dead.has(value));
  }

  /** The names of the properties of a set, or of its required ones, with quotes. */
  names(set: MemberSet, required: boolean): JsonString {
    const key = set.id * 2 + (required ? 1 : 0);
    return getOrInsert(this.#names, key, () => {
      return new JsonString(new RemainingNames(this.#node.names, this.#sets, set, required));
    });
  }

  /** The property whose name was read, and the set without it. `state`: of `names`, after the closing quote. */
  read(names: JsonString, state: number, set: MemberSet): { readonly property: ObjectProperty; readonly rest: MemberSet } {
    const number = this.#node.names.wordAt(names.contentAtEnd(state));
    return { property: this.#node.properties[number] as ObjectProperty, rest: this.#sets.without(set, number) };
  }

  /** Discards results that can be computed again. */
  forget(): void {
    this.#names.clear();
    this.#sets.forget();
  }
}

/** The names of a set of properties. */
class RemainingNames implements Automaton {
  readonly start = 0;
  readonly #words: WordTrie;
  readonly #sets: MemberSets;
  readonly #set: MemberSet;
  readonly #required: boolean;

  constructor(words: WordTrie, sets: MemberSets, set: MemberSet, required: boolean) {
    this.#words = words;
    this.#sets = sets;
    this.#set = set;
    this.#required = required;
  }

  step(node: number, byte: number): number {
    const child = this.#words.step(node, byte);
    return child >= 0 && this.#hasAny(...this.#words.wordsFrom(child)) ? child : -1;
  }

  accepts(node: number): boolean {
    const word = this.#words.wordAt(node);
    return word >= 0 && this.#hasAny(word, word + 1);
  }

  continues(node: number): boolean {
    const [first, end] = this.#words.wordsFrom(node);
    return this.#hasAny(this.#words.wordAt(node) < 0 ? first : first + 1, end);
  }

  #hasAny(first: number, end: number): boolean {
    return this.#sets.hasAny(this.#set, first, end, this.#required);
  }
}
