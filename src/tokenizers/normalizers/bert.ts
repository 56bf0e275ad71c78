/** Normalizer `BertNormalizer`: cleans control characters, separates Han characters by spaces, strips accents, lowercases. */
import type { AlignedText } from "../alignment/aligned-text.ts";
import { isHan, isWhitespace } from "../unicode/character-properties.ts";
import { booleanSetting } from "../config/component-config.ts";
import type { ComponentConfig } from "../config/component-config.ts";
import { nonspacingMarks, removedByBert } from "../unicode/unicode-tables.ts";
import type { Normalizer } from "../alignment/pieces.ts";
import { lowercase, mapCharacters } from "./characters.ts";
import { unicodeForm } from "./unicode-form.ts";

/** Creates the normalizer `BertNormalizer`; its setting `strip_accents` defaults to the value of `lowercase`. */
export function bertNormalizer(step: ComponentConfig): Normalizer {
  const clean = booleanSetting(step, "clean_text", true);
  const han = booleanSetting(step, "handle_chinese_chars", true);
  const lower = booleanSetting(step, "lowercase", true);
  const accents =
    step["strip_accents"] === undefined || step["strip_accents"] === null ? lower : booleanSetting(step, "strip_accents");
  return (source) => {
    let text = source;
    if (clean) text = cleanText(text);
    if (notLatin.test(text.text)) {
      if (han) text = mapCharacters(text, setApart);
      if (accents)
        text = mapCharacters(decompose(text), (point) => (point >= 0x300 && nonspacingMarks.has(point) ? "" : undefined));
    }
    return lower ? lowercase(text) : text;
  };
}

const decompose = unicodeForm("NFD");
/** Characters with a decomposition, combining marks and Han characters are outside ASCII. */
const notLatin = /[^\0-\x7f]/;
/** Printable ASCII is not changed by cleaning. */
const toClean = /[^ -~]/;

function cleanText(source: AlignedText): AlignedText {
  if (!toClean.test(source.text)) return source;
  return mapCharacters(source, (point) => {
    if (point >= 0x20 && point < 0x7f) return undefined;
    if (isWhitespace(point) && !removedByBert.has(point)) return " ";
    return removedByBert.has(point) ? "" : undefined;
  });
}

function setApart(point: number): string | undefined {
  return isHan(point) ? ` ${String.fromCodePoint(point)} ` : undefined;
}
