import { describe, expect, it } from "vitest";
import { type TokenScores, groupEntities, labelTokens, labelWords, resolveOverlaps } from "./entities.ts";

const labels = ["O", "B-PER", "I-PER", "S-PER", "E-PER", "B-LOC", "L-LOC", "U-LOC", "PLAIN"];

/** Tokens of one character each, one after the other; the label given is surest. "##X" goes on with the word before. */
function tokens(...given: readonly (readonly [label: string, score?: number])[]): TokenScores[] {
  return given.map(([written, score = 0.9], index) => {
    const isSubword = written.startsWith("##");
    const scores = new Float32Array(labels.length).fill((1 - score) / (labels.length - 1));
    scores[labels.indexOf(written.replace("##", ""))] = score;
    return { id: index, token: String(index), scores, start: index * 2, end: index * 2 + 1, isSubword, index };
  });
}

const kinds = (...given: readonly string[]): string[] =>
  groupEntities(labelTokens(tokens(...given.map((label) => [label] as const)), labels))
    .filter(({ kind }) => kind !== "O")
    .map(({ kind, tokens: own }) => `${kind} ${own.map(({ id }) => id).join("+")}`);

describe("neighbouring tokens", () => {
  it.each([
    ["of one kind are one entity", ["B-PER", "I-PER", "O", "I-PER"], ["PER 0+1", "PER 3"]],
    ["B begins another one", ["B-PER", "B-PER", "I-PER"], ["PER 0", "PER 1+2"]],
    ["another kind begins another one", ["B-PER", "I-PER", "B-LOC"], ["PER 0+1", "LOC 2"]],
    ["S and U are whole (BIOES, BILOU)", ["S-PER", "S-PER", "U-LOC", "I-PER"], ["PER 0", "PER 1", "LOC 2", "PER 3"]],
    ["E and L end one", ["B-PER", "E-PER", "I-PER", "B-LOC", "L-LOC", "L-LOC"], ["PER 0+1", "PER 2", "LOC 3+4", "LOC 5"]],
    ["a label without a letter goes on, as in transformers", ["PLAIN", "PLAIN"], ["PLAIN 0+1"]],
  ])("%s", (_name, given, expected) => expect(kinds(...given)).toEqual(expected));
});

describe("words", () => {
  const word = tokens(["B-PER", 0.5], ["##I-PER", 0.8], ["##O", 0.7]);

  it.each([
    ["first", "B-PER", 0.5],
    ["max", "I-PER", 0.8],
    ["average", "I-PER", (0.5 / 8 + 0.8 + 0.3 / 8) / 3],
  ] as const)("have the label of their %s", (aggregation, label, score) => {
    const [part, ...others] = labelWords(word, labels, aggregation);
    expect(others).toEqual([]);
    expect(part?.label).toBe(label);
    expect(part?.score).toBeCloseTo(score, 6);
    expect(part?.tokens).toHaveLength(3);
  });

  it("an entity's score is the mean of its parts, and its place from the first to the last", () => {
    const [span] = groupEntities(labelTokens(tokens(["B-PER", 0.6], ["I-PER", 0.8]), labels));
    expect(span?.score).toBeCloseTo(0.7, 6);
    expect([span?.start, span?.end]).toEqual([0, 3]);
  });
});

describe("what several windows saw", () => {
  const span = (start: number, end: number, score = 0.5) => ({ kind: "PER", score, tokens: [], start, end });

  it("is told once: the longest, then the surest", () => {
    expect(resolveOverlaps([span(0, 4), span(2, 9), span(20, 22, 0.4), span(20, 22, 0.6)])).toEqual([
      span(2, 9),
      span(20, 22, 0.6),
    ]);
    expect(resolveOverlaps([span(5, 6), span(0, 5)])).toEqual([span(0, 5), span(5, 6)]);
  });
});
