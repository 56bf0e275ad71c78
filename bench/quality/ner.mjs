// Entity recognition held against people's labels: strict spans, as seqeval counts them, the label of a word being that of its first token.
// Run with `npm run eval:ner`; `-- --limit 500` takes the first sentences only.
import { readFileSync } from "node:fs";
import { createRuntime } from "../measuring/built-package.mjs";
import { readOptions } from "../measuring/options.mjs";
import { sharedPath } from "../measuring/shared-data.mjs";
import { formatTable } from "../measuring/table.mjs";

/** WNUT-17's kinds as the model was trained on them; the others are none. */
const wnutKinds = { person: "PER", location: "LOC", corporation: "ORG", group: "ORG" };

// The figures are those of shared data/minilm-l3-ner/README.md.
const sets = [
  { name: "WikiANN en test", file: "eval/wikiann-en/test", expected: 0.6612, word: (text) => text.replace(/^en:/, "") },
  { name: "WNUT-17 test", file: "eval/wnut17/emerging.test.annotated", expected: 0.2464, kinds: wnutKinds, word: (text) => text },
];

const { limit } = readOptions({ limit: { type: "string" } });
const runtime = await createRuntime();
const model = await runtime.load(sharedPath("minilm-l3-ner"));
const rows = [];
for (const set of sets) {
  const sentences = readSentences(set).slice(0, limit === undefined ? undefined : Number(limit));
  const texts = sentences.map(({ words }) => words.join(" "));
  const { results, milliseconds } = await runtime.recognize(texts, { model, aggregation: "none", ignoreLabels: [] });
  const counts = { right: 0, found: 0, there: 0 };
  for (const [index, { words, labels }] of sentences.entries()) {
    const found = spansOf(labelsOfWords(words, results[index]));
    const there = spansOf(labels);
    counts.found += found.size;
    counts.there += there.size;
    counts.right += [...found].filter((span) => there.has(span)).length;
  }
  const [precision, recall] = [counts.right / counts.found, counts.right / counts.there];
  const f1 = (2 * precision * recall) / (precision + recall);
  const verdict = limit !== undefined ? "no bound" : Math.abs(f1 - set.expected) <= 1e-3 ? "ok" : "missed";
  const rate = ((texts.length / milliseconds) * 1000).toFixed(0);
  rows.push([
    set.name,
    sentences.length,
    precision.toFixed(4),
    recall.toFixed(4),
    f1.toFixed(4),
    `${set.expected} +- 0.001`,
    verdict,
    rate,
  ]);
}
await model.dispose();
await runtime.dispose();
console.log(formatTable(["set", "sentences", "precision", "recall", "F1", "bound", "", "texts/s"], rows));
process.exitCode = rows.every((row) => row.at(-2) !== "missed") ? 0 : 1;

function readSentences({ file, kinds, word }) {
  const blocks = readFileSync(sharedPath(file), "utf8").split(/\r?\n\s*\r?\n/);
  return blocks.flatMap((block) => {
    const lines = block.split(/\r?\n/).filter((line) => line.includes("\t"));
    const words = lines.map((line) => word(line.split("\t")[0]));
    const labels = lines.map((line) => mapped(line.split("\t").at(-1).trim(), kinds));
    return words.length === 0 ? [] : [{ words, labels }];
  });
}

function mapped(label, kinds) {
  if (kinds === undefined || label === "O") return label;
  const [letter, kind] = label.split("-");
  return kinds[kind] === undefined ? "O" : `${letter}-${kinds[kind]}`;
}

/** A word of which the model saw nothing is no name. */
function labelsOfWords(words, tokens) {
  const byStart = new Map(tokens.map(({ start, entity }) => [start, entity]));
  let place = 0;
  return words.map((word) => {
    const label = [...Array(word.length).keys()]
      .map((offset) => byStart.get(place + offset))
      .find((found) => found !== undefined);
    place += word.length + 1;
    return label ?? "O";
  });
}

/** Spans as "kind first last": B begins one, and so does an I after another kind or after none (seqeval's default reading of IOB2). */
function spansOf(labels) {
  const spans = new Set();
  let open;
  for (const [index, label] of [...labels, "O"].entries()) {
    const [letter, kind] = label === "O" ? ["O", undefined] : label.split("-");
    const goesOn = open !== undefined && letter === "I" && kind === open.kind;
    if (goesOn) continue;
    if (open !== undefined) spans.add(`${open.kind} ${open.first} ${index - 1}`);
    open = letter === "O" ? undefined : { kind, first: index };
  }
  return spans;
}
