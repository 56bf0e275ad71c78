/** Limits on requests that read one text together with each of many others: a query with every document, a text with every label. */
import { InferyardError } from "../../contract/errors.ts";
import { requestLimits } from "./request-limits.ts";

const getLength = (texts: readonly string[]): number => texts.reduce((sum, text) => sum + text.length, 0);

/** Throws LIMIT_EXCEEDED if all pairs of a text of `first` with a text of `second` have more characters together than `pairCharacters` allows. */
export function refusePairs(first: readonly string[], second: readonly string[]): void {
  const { pairCharacters: limit } = requestLimits;
  const characters = getLength(first) * second.length + getLength(second) * first.length;
  if (characters <= limit) return;
  throw new InferyardError(
    "LIMIT_EXCEEDED",
    `the pairs of texts of the request have ${characters} characters in all, and the limit is ${limit}`,
    {
      remedy: "send fewer or shorter texts at once",
      data: { characters, limit },
    },
  );
}

/**
 * Limits zero-shot classification in the same way: each text is read with the hypothesis that `template` makes of each label. Checked before the hypotheses are
 * built.
 */
export function refuseHypotheses(texts: readonly string[], labels: readonly string[], template: string): void {
  const { pairCharacters: limit } = requestLimits;
  const holes = template.split("{}").length - 1;
  const characters =
    labels.length * (getLength(texts) + texts.length * template.length) + texts.length * holes * getLength(labels);
  if (characters <= limit) return;
  throw new InferyardError(
    "LIMIT_EXCEEDED",
    `the texts and labels of the request make ${characters} characters to read, and the limit is ${limit}`,
    {
      remedy: "send fewer or shorter texts, labels or a shorter template",
      data: { characters, limit },
    },
  );
}
