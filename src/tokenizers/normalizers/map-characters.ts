/** Normalization that maps every character independently. */
import { type AlignedText, characterLength } from "../alignment/aligned-text.ts";
import { Rewriter } from "../alignment/rewriter.ts";

/**
 * Replaces every code point of a text by `map(point)`; undefined keeps it, "" removes it. Returns `source` itself if nothing
 * changes.
 */
export function mapCharacters(source: AlignedText, map: (point: number) => string | undefined): AlignedText {
  const { text } = source;
  let rewriter: Rewriter | undefined;
  let kept = 0;
  for (let unit = 0; unit < text.length;) {
    const length = characterLength(text, unit);
    const point = length === 1 ? text.charCodeAt(unit) : (text.codePointAt(unit) ?? 0);
    const written = map(point);
    if (written !== undefined) {
      rewriter ??= new Rewriter(source);
      rewriter.keep(kept, unit);
      rewriter.replace(written, unit, unit + length);
      kept = unit + length;
    }
    unit += length;
  }
  if (rewriter === undefined) return source;
  rewriter.keep(kept, text.length);
  return rewriter.finish();
}
