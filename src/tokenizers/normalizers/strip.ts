/** Normalizers `Strip` and `Prepend`. */
import { type AlignedText, characterLength } from "../alignment/aligned-text.ts";
import { isWhitespace } from "../unicode/character-properties.ts";
import { Rewriter } from "../alignment/rewriter.ts";

/** Normalizer `Strip`: removes white space at the start (`left`) and the end (`right`). */
export function stripWhitespace(source: AlignedText, left: boolean, right: boolean): AlignedText {
  const { text } = source;
  let [from, to] = [0, text.length];
  if (left) while (from < to && isWhitespace(text.charCodeAt(from))) from++;
  if (right) while (to > from && isWhitespace(text.charCodeAt(to - 1))) to--;
  if (from === 0 && to === text.length) return source;
  const rewriter = new Rewriter(source, to - from);
  rewriter.keep(from, to);
  return rewriter.finish();
}

/** Normalizer `Prepend`: inserts a text at the start, aligned to the first character. An empty text is not changed. */
export function prependText(source: AlignedText, content: string): AlignedText {
  const { text } = source;
  if (text === "" || content === "") return source;
  const rewriter = new Rewriter(source, text.length + 16);
  rewriter.replace(content, 0, characterLength(text, 0));
  rewriter.keep(0, text.length);
  return rewriter.finish();
}
