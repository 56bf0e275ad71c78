// The tasks that are compared, the models they run on, and the texts: of mixed length, the same in every run.
import { mixedLengths, textsOfLengths } from "../measuring/texts.mjs";

export const tasks = [
  { name: "recognize", model: "minilm-l3-ner" },
  { name: "classify", model: "minilm-pair-scorer" }, // on texts alone: a classifier of the size of a real one
  { name: "classify", model: "tiny-bert-nli-untrained" },
  { name: "rerank", model: "minilm-pair-scorer" },
];

export const query = "A man is playing a guitar on the stage.";

const counts = { full: 320, quick: 96 };
const longest = 150; // of MiniLM; the models here have fewer word pieces, and read 256 tokens, query included

export function makeTexts(isQuick) {
  return textsOfLengths(mixedLengths(isQuick ? counts.quick : counts.full, 8, longest));
}
