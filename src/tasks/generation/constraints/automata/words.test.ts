import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { amount } from "../../../../../test/fixtures/slow.ts";
import { MemberSets } from "../grammar/member-set.ts";
import type { Automaton } from "./automaton.ts";
import { OtherWords, WordTrie } from "./words.ts";

const word = fc.string({ unit: fc.constantFrom("a", "b", "é", "😀", "\u{FFFF}", "\uD800"), maxLength: 5 });
const numRuns = amount(500, 100);

function wellFormed(text: string): string {
  return text.replaceAll(/\p{Surrogate}/gu, "\u{FFFD}");
}

function reads(automaton: Automaton, text: string): boolean {
  let state = automaton.start;
  for (const byte of new TextEncoder().encode(text)) {
    state = automaton.step(state, byte);
    if (state < 0) return false;
  }
  return automaton.accepts(state);
}

describe("a trie of words", () => {
  it("reads its words and no others, and the rest reads the others and no words", () => {
    fc.assert(
      fc.property(fc.array(word), fc.array(word), (words, texts) => {
        const trie = WordTrie.of(words);
        const rest = new OtherWords(trie);
        // What UTF-8 does not have is one character of it.
        const known = new Set(words.map(wellFormed));
        for (const text of [...words, ...texts]) {
          const isWord = known.has(wellFormed(text));
          expect([text, reads(trie, text), reads(rest, text)]).toEqual([text, isWord, !isWord]);
        }
        expect([trie.size, trie.isEmpty]).toEqual([known.size, known.size === 0]);
      }),
      { numRuns },
    );
  });
});

describe("sets of members", () => {
  it("lose one number at a time, and are the same object where they are equal", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 100 }).chain((size) =>
          fc.record({
            size: fc.constant(size),
            required: fc.uniqueArray(fc.nat(size - 1)),
            impossible: fc.uniqueArray(fc.nat(size - 1)),
            removed: fc.uniqueArray(fc.nat(size - 1)),
            range: fc.tuple(fc.nat(size), fc.nat(size)),
          }),
        ),
        ({ size, required, impossible, removed, range: [first, end] }) => {
          const sets = new MemberSets(
            size,
            (number) => required.includes(number),
            (number) => !impossible.includes(number),
          );
          const expected = new Set(
            Array.from({ length: size }, (_, number) => number).filter((each) => !impossible.includes(each)),
          );
          const taken = removed.filter((number) => expected.has(number));
          let set = sets.all;
          for (const number of taken) {
            set = sets.without(set, number);
            expected.delete(number);
          }
          const left = [...expected];
          expect([set.count, set.required]).toEqual([left.length, left.filter((each) => required.includes(each)).length]);
          for (const isRequired of [false, true]) {
            const found = left.some((each) => each >= first && each < end && (!isRequired || required.includes(each)));
            expect(sets.hasAny(set, first, end, isRequired)).toBe(found);
          }
          const other = taken.toReversed().reduce((rest, number) => sets.without(rest, number), sets.all);
          expect(other).toBe(set);
        },
      ),
      { numRuns },
    );
  });
});
