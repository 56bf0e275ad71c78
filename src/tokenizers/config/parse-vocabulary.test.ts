import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { highestId, parseWithVocabulary } from "./parse-vocabulary.ts";

interface Parsed {
  readonly model: { readonly vocab: unknown };
}

/** What `JSON.parse` makes of a text, with the vocabulary as sorted entries; undefined if it is no JSON. */
function reference(text: string): unknown {
  try {
    const value = JSON.parse(text) as Parsed;
    return { ...value, model: { ...value.model, vocab: Object.entries(value.model.vocab as object).toSorted(byToken) } };
  } catch {
    return undefined;
  }
}

function parsed(text: string): unknown {
  const value = parseWithVocabulary(text) as Parsed | undefined;
  if (value === undefined) return undefined;
  return { ...value, model: { ...value.model, vocab: [...(value.model.vocab as Map<string, number>)].toSorted(byToken) } };
}

function byToken([a]: [string, ...unknown[]], [b]: [string, ...unknown[]]): number {
  return a < b ? -1 : Number(a > b);
}

const awkward = [
  '"',
  "\\",
  '\\"',
  "\n",
  "\u0000",
  "\u00e9",
  "\ud800",
  "{",
  "}",
  ":",
  ",",
  '": 5',
  "7",
  "12",
  "__proto__",
  " ",
  "vocabulary",
];
const token = fc.oneof(fc.string({ unit: "binary", maxLength: 6 }), fc.constantFrom(...awkward));
/** Vocabularies with unique ids, in ascending order and in any. */
const vocabulary = fc.uniqueArray(token, { minLength: 1, maxLength: 12 }).chain((tokens) =>
  fc
    .uniqueArray(fc.nat(highestId - 1), { minLength: tokens.length, maxLength: tokens.length })
    .chain((ids) =>
      fc.constantFrom(
        ids,
        ids.toSorted((a, b) => a - b),
      ),
    )
    .map((ids) => Object.fromEntries(tokens.map((each, index) => [each, ids[index]]))),
);
const file = fc
  .record({ vocabulary, indent: fc.constantFrom(undefined, 1, 2), merges: fc.array(token) })
  .map(({ vocabulary: vocab, indent, merges }) =>
    JSON.stringify(
      { added_tokens: [{ id: 0, content: "a" }], model: { type: "BPE", vocab, merges }, decoder: null },
      null,
      indent,
    ),
  );

describe("a tokenizer.json with its vocabulary as a Map", () => {
  it("has what JSON.parse reads", () => {
    fc.assert(
      fc.property(file, (text) => {
        expect(parsed(text)).toEqual(reference(text));
      }),
    );
  });

  it("is left to JSON.parse, or read as by it, where characters were changed", () => {
    const change = fc.record({
      at: fc.nat(),
      remove: fc.nat(3),
      insert: fc.constantFrom("", '"', "\\", ",", ":", "{", "}", "\n", "\t", "-", "0", "e1", ".5", "a"),
    });
    fc.assert(
      fc.property(file, change, (text, { at, remove, insert }) => {
        const start = at % text.length;
        const changed = text.slice(0, start) + insert + text.slice(start + remove);
        expect([undefined, reference(changed)]).toContainEqual(parsed(changed));
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ["no vocabulary", '{"model":{}}'],
    ["a list", '{"model":{"vocab":[["a",0]]}}'],
    ["no entry", '{"model":{"vocab":{}}}'],
    ["a key twice", '{"model":{"vocab":{"a":0,"a":1}}}'],
    ["an id twice, which depends on the order of keys", '{"model":{"vocab":{"a":5,"7":5}}}'],
    ["an id that is too high", `{"model":{"vocab":{"a":${highestId}}}}`],
    ["an id that is not JSON", '{"model":{"vocab":{"a":01}}}'],
    ["a negative id", '{"model":{"vocab":{"a":-1}}}'],
    ["a control character in a token", '{"model":{"vocab":{"a\u0001":0}}}'],
    ["a line feed in a token", '{"model":{"vocab":{"a\n":0}}}'],
    ["a vocabulary elsewhere", '{"model":{"vocab":[]},"normalizer":{"vocab":{"a":0}}}'],
    ["a vocabulary elsewhere first", '{"normalizer":{"vocab":{"a":0}},"model":{"vocab":[]}}'],
    ["a string that looks like a key", '{"say \\"vocab":{"a":0},"model":{"vocab":[]}}'],
    ["a second model", '{"model":{"vocab":{"a":0}},"model":{}}'],
    ["broken JSON behind it", '{"model":{"vocab":{"a":0}}'],
    ["an exponent behind it", '{"model":{"vocab":{"a":0}e1}}'],
    ["a fraction behind it", '{"model":{"vocab":{"a":0}.5}}'],
    ["a string behind it", '{"model":{"vocab":{"a":0}"a"}}'],
    ["a quote behind it", '{"model":{"vocab":{"a":0}"}}'],
    ["null", '"vocab":{"a":0}'],
  ])("is left to JSON.parse with %s", (_what, text) => {
    expect(parseWithVocabulary(text)).toBeUndefined();
  });

  it("keeps the later model of a file with two", () => {
    const text = '{"model":{"vocab":[]},"model":{"vocab":{"a":3}}}';
    expect(parseWithVocabulary(text)).toBeUndefined(); // two keys: JSON.parse decides
  });
});
