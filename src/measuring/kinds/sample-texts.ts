/** Fixed texts with which models are tested and measured. */
import type { TextPair } from "../../tasks/encoding/encode-pairs.ts";

/** Texts of a test: several languages, an empty text, and a text of 60 words. */
export const testTexts: readonly string[] = [
  "A cat sits on the mat.",
  "Der Zug fährt um neun.",
  "東京",
  "",
  "one two three ".repeat(20),
];

/** The short text with which the latency of one input is measured. */
export const shortText = "A cat sits on the mat and watches the rain.";

const phrase = "the quick brown fox jumps over a lazy dog while seven wizards box near the old stone bridge ";

/** Texts of different lengths, in a fixed order: a phrase of 18 words, repeated 1 to 11 times. */
export function mixedTexts(count: number): string[] {
  return Array.from({ length: count }, (_text, index) => phrase.repeat(1 + ((index * 7) % 11)).slice(index % 40));
}

/** A text of at least this number of words. */
export function longText(words: number): string {
  return phrase.repeat(Math.ceil(words / phrase.trim().split(" ").length));
}

/** Pairs of a question and each text, for models that read pairs. */
export function withQuestion(texts: readonly string[]): TextPair[] {
  return texts.map((pair) => ({ text: "Where does the cat sit?", pair }));
}
