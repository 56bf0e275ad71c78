/** Texts that models are tested and measured with: the same at every call. */
import type { TextPair } from "../../tasks/encoding/encode-pairs.ts";

/** Texts of a test: of several languages, an empty one, and one of 60 words. */
export const testTexts: readonly string[] = [
  "A cat sits on the mat.",
  "Der Zug fährt um neun.",
  "東京",
  "",
  "one two three ".repeat(20),
];

/** A short text, of which the time of one input is measured. */
export const shortText = "A cat sits on the mat and watches the rain.";

const phrase = "the quick brown fox jumps over a lazy dog while seven wizards box near the old stone bridge ";

/** Texts of 1 to 11 times a phrase of 18 words, in a fixed order. */
export function mixedTexts(count: number): string[] {
  return Array.from({ length: count }, (_text, index) => phrase.repeat(1 + ((index * 7) % 11)).slice(index % 40));
}

/** A text of at least this number of words. */
export function longText(words: number): string {
  return phrase.repeat(Math.ceil(words / phrase.trim().split(" ").length));
}

/** The texts with a question before each, for models that read pairs. */
export function withQuestion(texts: readonly string[]): TextPair[] {
  return texts.map((pair) => ({ text: "Where does the cat sit?", pair }));
}
