/** Normalizers (text to text, before pre-tokenization), by their `type` in tokenizer.json. */
import {
  type ComponentConfig,
  type ComponentKinds,
  booleanSetting,
  createComponent,
  inTurn,
  stringSetting,
} from "../config/component-config.ts";
import { bertNormalizer } from "./bert.ts";
import { byteLevelNormalizer, lowercase, mapCharacters, nmtNormalizer, prependText, stripWhitespace } from "./characters.ts";
import { precompiledNormalizer } from "./precompiled.ts";
import { replaceNormalizer } from "./replace.ts";
import { unicodeForm } from "./unicode-form.ts";
import { combiningMarks } from "../unicode/unicode-tables.ts";
import type { Normalizer } from "../alignment/pieces.ts";

const kinds: ComponentKinds<Normalizer> = {
  BertNormalizer: bertNormalizer,
  ByteLevel: () => byteLevelNormalizer,
  Lowercase: () => lowercase,
  NFC: () => unicodeForm("NFC"),
  NFD: () => unicodeForm("NFD"),
  NFKC: () => unicodeForm("NFKC"),
  NFKD: () => unicodeForm("NFKD"),
  Nmt: () => nmtNormalizer,
  Precompiled: precompiledNormalizer,
  Prepend: (step) => {
    const content = stringSetting(step, "prepend");
    return (text) => prependText(text, content);
  },
  Replace: replaceNormalizer,
  Sequence: (step) => inTurn(step, "normalizers", createNormalizer),
  Strip: (step) => {
    const [left, right] = [booleanSetting(step, "strip_left", true), booleanSetting(step, "strip_right", true)];
    return (text) => stripWhitespace(text, left, right);
  },
  StripAccents: () => (text) => mapCharacters(text, (point) => (combiningMarks.has(point) ? "" : undefined)),
};

/**
 * Creates the normalizer that a component of tokenizer.json describes. Throws Error for an unknown `type` or an invalid setting.
 */
export function createNormalizer(step: ComponentConfig): Normalizer {
  return createComponent("normalizer", kinds, step);
}
