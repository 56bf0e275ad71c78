/**
 * Pre-tokenizer `UnicodeScripts`: splits where the script changes. As in SentencePiece, Hiragana, Katakana and the prolonged sound mark (U+30FC)
 * count as Han, and a space belongs to any script.
 */
import { characterLength } from "../alignment/aligned-text.ts";
import { withoutScript } from "../unicode/unicode-tables.ts";
import { type PreTokenizer, cutPieces } from "../alignment/pieces.ts";

/** The scripts of the Unicode version of SentencePiece's table. Characters of other scripts are treated like spaces. */
const scriptNames =
  "Adlam Ahom Anatolian_Hieroglyphs Arabic Armenian Avestan Balinese Bamum Bassa_Vah Batak Bengali Bhaiksuki Bopomofo Brahmi Braille " +
  "Buginese Buhid Canadian_Aboriginal Carian Caucasian_Albanian Chakma Cham Cherokee Common Coptic Cuneiform Cypriot Cyrillic Deseret " +
  "Devanagari Duployan Egyptian_Hieroglyphs Elbasan Ethiopic Georgian Glagolitic Gothic Grantha Greek Gujarati Gurmukhi Han Hangul " +
  "Hanunoo Hatran Hebrew Hiragana Imperial_Aramaic Inherited Inscriptional_Pahlavi Inscriptional_Parthian Javanese Kaithi Kannada " +
  "Katakana Kayah_Li Kharoshthi Khmer Khojki Khudawadi Lao Latin Lepcha Limbu Linear_A Linear_B Lisu Lycian Lydian Mahajani Malayalam " +
  "Mandaic Manichaean Marchen Meetei_Mayek Mende_Kikakui Meroitic_Cursive Meroitic_Hieroglyphs Miao Modi Mongolian Mro Multani Myanmar " +
  "Nabataean New_Tai_Lue Newa Nko Ogham Ol_Chiki Old_Hungarian Old_Italic Old_North_Arabian Old_Permic Old_Persian Old_South_Arabian " +
  "Old_Turkic Oriya Osage Osmanya Pahawh_Hmong Palmyrene Pau_Cin_Hau Phags_Pa Phoenician Psalter_Pahlavi Rejang Runic Samaritan " +
  "Saurashtra Sharada Shavian Siddham SignWriting Sinhala Sora_Sompeng Sundanese Syloti_Nagri Syriac Tagalog Tagbanwa Tai_Le Tai_Tham " +
  "Tai_Viet Takri Tamil Tangut Telugu Thaana Thai Tibetan Tifinagh Tirhuta Ugaritic Vai Warang_Citi Yi";

const anyScript = "";

/** Characters for which that table, or SentencePiece, differs from current Unicode. */
const exceptions: readonly (readonly [point: number, script: string])[] = [
  [0x20, anyScript],
  [0x589, "Common"],
  [0x61c, "Common"],
  [0x953, "Devanagari"],
  [0x954, "Devanagari"],
  [0x30fc, "Han"],
];

/**
 * Creates the pre-tokenizer `UnicodeScripts`, which splits pieces where the script of the characters changes. It caches the
 * scripts of characters.
 */
export function unicodeScriptsPreTokenizer(): PreTokenizer {
  const scripts = scriptNames.split(" ").map((name) => ({ name, pattern: new RegExp(`^\\p{Script=${name}}`, "u") }));
  const known = new Map(exceptions);
  const getScript = (point: number): string => {
    if (withoutScript.has(point)) return anyScript;
    const before = known.get(point);
    if (before !== undefined) return before;
    const character = String.fromCodePoint(point);
    const name = scripts.find(({ pattern }) => pattern.test(character))?.name ?? anyScript;
    const script = name === "Hiragana" || name === "Katakana" ? "Han" : name;
    known.set(point, script);
    return script;
  };
  return (pieces) =>
    cutPieces(pieces, (text, from, end, cuts) => {
      let start: number | undefined;
      let last: string | undefined;
      for (let unit = from; unit < end;) {
        const script = getScript(text.codePointAt(unit) ?? 0);
        if (script !== anyScript) {
          if (last !== script) {
            // Characters before the first script of a piece are dropped, as in the Rust library.
            if (start !== undefined) cuts.push(start, unit);
            start = unit;
          }
          last = script;
        }
        unit += characterLength(text, unit);
      }
      if (start !== undefined && start < end) cuts.push(start, end);
    });
}
