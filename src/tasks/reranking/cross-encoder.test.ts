import { describe, expect, it } from "vitest";
import type { Manifest } from "../../models/manifest.ts";
import { validateRerank, rankDocuments, getScoreHead } from "./cross-encoder.ts";

const manifest = (config: object): Manifest => ({ name: "m", variants: [{ config }] }) as unknown as Manifest;
const one = { id2label: { 0: "LABEL_0" } };

describe("the score of a cross-encoder", () => {
  it.each([
    ["one number, and nothing is said", one, { activation: "sigmoid", label: 0 }],
    [
      "one number as it is",
      { ...one, sentence_transformers: { activation_fn: "torch.nn.modules.linear.Identity" } },
      { activation: "none", label: 0 },
    ],
    [
      "a sigmoid",
      { ...one, sentence_transformers: { activation_fn: "torch.nn.modules.activation.Sigmoid" } },
      { activation: "sigmoid", label: 0 },
    ],
    [
      "as older versions write it",
      { ...one, sbert_ce_default_activation_function: "torch.nn.modules.linear.Identity" },
      { activation: "none", label: 0 },
    ],
    ["two numbers: the share of the second", { id2label: { 0: "no", 1: "yes" } }, { activation: "softmax", label: 1 }],
  ])("%s", (_name, config, head) => expect(getScoreHead(manifest(config))).toEqual(head));

  it("is refused where it would be a guess: three labels, or an activation we do not compute", () => {
    expect(() => getScoreHead(manifest({ num_labels: 3 }))).toThrow(
      /has 3 labels \(LABEL_0, LABEL_1, LABEL_2\), and a reranker has one or two/,
    );
    expect(() => getScoreHead(manifest({ ...one, sentence_transformers: { activation_fn: "my.own.Curve" } }))).toThrow(
      /my\.own\.Curve/,
    );
  });
});

describe("the order", () => {
  it("is best first, ties as they were given, and no more than asked for", () => {
    const documents = ["a", "b", "c", "d"];
    expect(rankDocuments([1, 3, 3, 2], documents).map(({ text }) => text)).toEqual(["b", "c", "d", "a"]);
    expect(rankDocuments([1, 3, 3, 2], documents, 1)).toEqual([{ index: 1, score: 3, text: "b" }]);
    expect(rankDocuments([], [])).toEqual([]);
  });
});

describe("what is given", () => {
  it.each([
    [7, ["a"], {}, /query must be a string/],
    ["q", "a", {}, /documents must be an array/],
    ["q", ["a", null], {}, /document 1 is not a string/],
    ["q", ["a"], { topN: 0 }, /topN is 0/],
  ])("%j, %j, %j is refused", (query, documents, options, message) =>
    expect(() => validateRerank(query, documents as unknown[], options)).toThrow(message),
  );
});
