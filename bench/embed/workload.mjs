// What every contender computes, and how often.
import { mixedLengths, textsOfLengths } from "../texts.mjs";

// Three to four minutes where nothing else runs (two cores): transformers.js's batches of 32 are two thirds of it.
const full = { latencyRounds: 5, bulkRounds: 3, shortCalls: 200, longCalls: 40, bulkTexts: 320 };
const quick = { latencyRounds: 2, bulkRounds: 1, shortCalls: 80, longCalls: 20, bulkTexts: 160 };
const variety = 16; // different texts of one length

export function makeWorkload(isQuick) {
  const size = isQuick ? quick : full;
  const lengths = [...Array(variety).fill(16), ...Array(variety).fill(128), ...mixedLengths(size.bulkTexts)];
  const texts = textsOfLengths(lengths);
  const bulkTokens = lengths.slice(2 * variety).reduce((sum, length) => sum + length, 0);
  return {
    ...size,
    bulkTokens,
    short: texts.slice(0, variety),
    long: texts.slice(variety, 2 * variety),
    bulk: texts.slice(2 * variety),
  };
}
