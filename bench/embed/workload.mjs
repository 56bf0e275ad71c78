// What every contender computes in a round.
import { mixedLengths, textsOfLengths } from "../measuring/texts.mjs";

const variety = 16; // different texts of one length
const bulkTexts = 128; // more than the 8,192 tokens from which Inferyard loads replicas

export function makeWorkload() {
  const lengths = [...Array(variety).fill(16), ...Array(variety).fill(128), ...mixedLengths(bulkTexts)];
  const texts = textsOfLengths(lengths);
  const bulkTokens = lengths.slice(2 * variety).reduce((sum, length) => sum + length, 0);
  return {
    bulkTokens,
    short: texts.slice(0, variety),
    long: texts.slice(variety, 2 * variety),
    bulk: texts.slice(2 * variety),
    slices: {
      count: 8, // of each contender in one round
      warmUp: 10, // calls
      works: [
        ["16 tokens", "short", 20],
        ["128 tokens", "long", 5],
      ],
    },
  };
}
