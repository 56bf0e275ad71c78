/** Normalizers (text to text, before pre-tokenization), by their `type` in tokenizer.json. */
import { booleanSetting, componentList, stringSetting } from "../config/component-config.ts";
import type { ComponentConfig } from "../config/component-config.ts";
import { bertNormalizer } from "./bert.ts";
import { byteLevelNormalizer } from "./byte-level.ts";
import { lowercase } from "./lowercase.ts";
import { mapCharacters } from "./map-characters.ts";
import { nmtNormalizer } from "./nmt.ts";
import { precompiledNormalizer } from "./precompiled.ts";
import { replaceNormalizer } from "./replace.ts";
import { prependText, stripWhitespace } from "./strip.ts";
import { unicodeForm } from "./unicode-form.ts";
import { combiningMarks } from "../unicode/unicode-tables.ts";
import type { Normalizer } from "./normalizer.ts";

const kinds: Readonly<Record<string, (step: ComponentConfig) => Normalizer>> = {
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
  Sequence: (step) => inTurn(componentList(step, "normalizers").map(createNormalizer)),
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
  const kind = Object.hasOwn(kinds, step.type) ? kinds[step.type] : undefined;
  if (kind === undefined) throw new Error(`the normalizer ${JSON.stringify(step.type)} is not known`);
  return kind(step);
}

function inTurn(normalizers: readonly Normalizer[]): Normalizer {
  return (text) => normalizers.reduce((changed, normalize) => normalize(changed), text);
}
