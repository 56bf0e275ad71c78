// The texts: STS-B pairs, and sentences of STS-B joined and cut to an exact number of tokens.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createRandom, shuffled } from "./random.mjs";
import { stsb } from "./shared-data.mjs";
import { miniLmTokenizer } from "./tokenizer.mjs";

const seed = 20261121;
const specialTokens = 2; // [CLS] and [SEP]

// split: "test" or "dev".
export function readPairs(split) {
  return readCsv(readFileSync(join(stsb, `stsb-en-${split}.csv`), "utf8")).map(([first, second, score]) => ({
    first,
    second,
    score: Number(score),
  }));
}

// One text for each number of tokens asked for, special tokens included; the same texts in every run.
export function textsOfLengths(lengths) {
  const tokenizer = miniLmTokenizer();
  const sentences = readPairs("test").flatMap(({ first, second }) => [first, second]);
  const words = shuffled(sentences, createRandom(seed)).join(" ").split(/\s+/);
  const sizes = new Map(
    [...new Set(words)].map((word) => [word, tokenizer.encode(word, { add_special_tokens: false }).ids.length]),
  );
  let place = 0;
  return lengths.map((length) => {
    const chosen = [];
    for (let left = length - specialTokens; left > 0; place = (place + 1) % words.length) {
      const size = sizes.get(words[place]);
      if (size > left) continue; // the next word may fit
      chosen.push(words[place]);
      left -= size;
    }
    const text = chosen.join(" ");
    const tokens = tokenizer.encode(text).ids.length;
    if (tokens !== length) throw new Error(`a text of ${length} tokens came out with ${tokens}: ${text}`);
    return text;
  });
}

// Log-uniform between the two: as many texts of 8 to 16 tokens as of 128 to 256.
export function mixedLengths(count, shortest = 8, longest = 256) {
  const random = createRandom(seed);
  return Array.from({ length: count }, () => Math.round(shortest * (longest / shortest) ** random()));
}

// A field may be quoted, and then hold commas, line breaks and doubled quotes (RFC 4180).
export function readCsv(text) {
  const rows = [];
  let row = [];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/g)) {
    row.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === ",") continue;
    if (row.length > 1 || row[0] !== "") rows.push(row);
    row = [];
  }
  return rows;
}
