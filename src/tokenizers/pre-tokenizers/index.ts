/** Pre-tokenizers (split a text into pieces for the model), by their `type` in tokenizer.json. */
import { isNumeric, isWhitespace } from "../unicode/character-properties.ts";
import { type SplitBehavior, characterPattern, createPattern, regexPattern, splitBehaviors } from "../pattern.ts";
import {
  type ComponentConfig,
  type ComponentKinds,
  booleanSetting,
  createComponent,
  inTurn,
  integerSetting,
  patternSetting,
  stringSetting,
} from "../config/component-config.ts";
import { punctuation } from "../unicode/unicode-tables.ts";
import { bertPreTokenizer } from "./bert.ts";
import { byteLevelPreTokenizer } from "./byte-level.ts";
import { metaspacePreTokenizer } from "./metaspace.ts";
import { fixedLengthPreTokenizer, splitBy } from "./split.ts";
import { unicodeScriptsPreTokenizer } from "./unicode-scripts.ts";
import type { PreTokenizer } from "../alignment/pieces.ts";

/** Runs of \w as Rust's regex crate defines it, and runs of characters that are neither \w nor white space. */
const wordsAndSigns =
  /[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\u200c\u200d]+|[^\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\u200c\u200d\p{White_Space}]+/gu;

const isPunctuation = (point: number): boolean => punctuation.has(point);

const kinds: ComponentKinds<PreTokenizer> = {
  BertPreTokenizer: () => bertPreTokenizer,
  ByteLevel: byteLevelPreTokenizer,
  CharDelimiterSplit: (step) => splitBy(createPattern({ text: oneCharacter(step, "delimiter") }), "Removed", false),
  Digits: (step) =>
    splitBy(characterPattern(isNumeric), booleanSetting(step, "individual_digits", false) ? "Isolated" : "Contiguous", false),
  FixedLength: (step) => fixedLengthPreTokenizer(integerSetting(step, "length")),
  Metaspace: metaspacePreTokenizer,
  Punctuation: (step) => splitBy(characterPattern(isPunctuation), behaviorSetting(step, "Isolated"), false),
  Sequence: (step) => inTurn(step, "pretokenizers", createPreTokenizer),
  Split: (step) =>
    splitBy(createPattern(patternSetting(step, "pattern")), behaviorSetting(step), booleanSetting(step, "invert", false)),
  UnicodeScripts: () => unicodeScriptsPreTokenizer(),
  Whitespace: () => splitBy(regexPattern(wordsAndSigns), "Removed", true),
  WhitespaceSplit: () => splitBy(characterPattern(isWhitespace), "Removed", false),
};

/**
 * Creates the pre-tokenizer that a component of tokenizer.json describes. Throws Error for an unknown `type` or an invalid
 * setting.
 */
export function createPreTokenizer(step: ComponentConfig): PreTokenizer {
  return createComponent("pre_tokenizer", kinds, step);
}

function behaviorSetting(step: ComponentConfig, otherwise?: SplitBehavior): SplitBehavior {
  const name = stringSetting(step, "behavior", otherwise);
  // Files have two spellings: MergedWithNext and merged_with_next.
  const plain = name.replaceAll("_", "").toLowerCase();
  const behavior = splitBehaviors.find((known) => known.toLowerCase() === plain);
  if (behavior === undefined) throw new Error(`${step.type} has the behavior ${JSON.stringify(name)}, which is not known`);
  return behavior;
}

function oneCharacter(step: ComponentConfig, name: string): string {
  const text = stringSetting(step, name);
  if (Array.from(text).length !== 1) throw new Error(`${step.type} needs "${name}" to be one character`);
  return text;
}
