/** Normalizers: what is changed about a text before it is cut into pieces. One table of kinds. */
import { flagSetting, stepList, textSetting } from "../config/component-config.ts";
import type { Step } from "../config/component-config.ts";
import { bertNormalizer } from "./bert.ts";
import { byteLevelNormalizer } from "./byte-level.ts";
import { lowercase } from "./lowercase.ts";
import { mapCharacters } from "./map-characters.ts";
import { nmt } from "./nmt.ts";
import { precompiled } from "./precompiled.ts";
import { replaceNormalizer } from "./replace.ts";
import { prepend, strip } from "./strip.ts";
import { unicodeForm } from "./unicode-form.ts";
import { combiningMarks } from "../unicode/unicode-tables.ts";
import type { Normalizer } from "./normalizer.ts";

const kinds: Readonly<Record<string, (step: Step) => Normalizer>> = {
  BertNormalizer: bertNormalizer,
  ByteLevel: () => byteLevelNormalizer,
  Lowercase: () => lowercase,
  NFC: () => unicodeForm("NFC"),
  NFD: () => unicodeForm("NFD"),
  NFKC: () => unicodeForm("NFKC"),
  NFKD: () => unicodeForm("NFKD"),
  Nmt: () => nmt,
  Precompiled: precompiled,
  Prepend: (step) => {
    const content = textSetting(step, "prepend");
    return (text) => prepend(text, content);
  },
  Replace: replaceNormalizer,
  Sequence: (step) => inTurn(stepList(step, "normalizers").map(normalizerOf)),
  Strip: (step) => {
    const [left, right] = [flagSetting(step, "strip_left", true), flagSetting(step, "strip_right", true)];
    return (text) => strip(text, left, right);
  },
  StripAccents: () => (text) => mapCharacters(text, (point) => (combiningMarks.has(point) ? "" : undefined)),
};

/** Throws an Error that names what is not known. */
export function normalizerOf(step: Step): Normalizer {
  const kind = Object.hasOwn(kinds, step.type) ? kinds[step.type] : undefined;
  if (kind === undefined) throw new Error(`the normalizer ${JSON.stringify(step.type)} is not known`);
  return kind(step);
}

function inTurn(normalizers: readonly Normalizer[]): Normalizer {
  return (text) => normalizers.reduce((changed, normalize) => normalize(changed), text);
}
