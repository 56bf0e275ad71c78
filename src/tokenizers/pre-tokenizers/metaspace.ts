/** Pre-tokenizer `Metaspace` (SentencePiece): replaces spaces by "▁", prepends one to the text, and splits before each. */
import { type AlignedText, characterLength } from "../alignment/aligned-text.ts";
import { type Pieces, type PreTokenizer, cutPieces } from "../alignment/pieces.ts";
import { AlignedRewriter } from "../alignment/rewriter.ts";
import { booleanSetting, stringSetting } from "../config/component-config.ts";
import type { ComponentConfig } from "../config/component-config.ts";

const schemes = ["always", "first", "never"] as const;
/** When the pre-tokenizer `Metaspace` prepends "▁": to every piece, to the first piece of the text, or never. */
export type PrependScheme = (typeof schemes)[number];

/**
 * Creates the pre-tokenizer `Metaspace` of SentencePiece, which replaces spaces by "▁" and splits the text before each of them.
 */
export function metaspacePreTokenizer(step: ComponentConfig): PreTokenizer {
  const mark = getReplacement(step);
  const scheme = prependScheme(step);
  const splits = booleanSetting(step, "split", true);
  return (pieces) => {
    const marked = withMarks(pieces, mark, scheme);
    return splits ? cutBefore(marked, mark) : marked;
  };
}

/** The setting `replacement` of Metaspace: the character that replaces a space, by default "▁". */
export function getReplacement(step: ComponentConfig): string {
  const mark = stringSetting(step, "replacement", "\u2581");
  if (mark.length !== 1) throw new Error(`${step.type} needs "replacement" to be one character of the 16-bit plane`);
  return mark;
}

/**
 * The setting `prepend_scheme` of Metaspace. Older files have the boolean `add_prefix_space` instead. Throws Error if the two
 * contradict.
 */
export function prependScheme(step: ComponentConfig): PrependScheme {
  const stated = step["prepend_scheme"];
  const prefixed = booleanSetting(step, "add_prefix_space", true);
  if (stated === undefined || stated === null) return prefixed ? "always" : "never";
  const scheme = schemes.find((known) => known === stated);
  if (scheme === undefined) throw new Error(`Metaspace has the prepend_scheme ${JSON.stringify(stated)}, which is not known`);
  if (!prefixed && scheme !== "never")
    throw new Error('Metaspace says "add_prefix_space": false and a prepend_scheme that adds one');
  return scheme;
}

function withMarks({ source, bounds }: Pieces, mark: string, scheme: PrependScheme): Pieces {
  const marked = source.withText(source.text.replaceAll(" ", mark));
  const adds = (start: number): boolean =>
    marked.text.charAt(start) !== mark && (scheme === "always" || (scheme === "first" && isFirst(marked, start)));
  if (scheme === "never") return { source: marked, bounds };
  return prependToPieces({ source: marked, bounds }, mark, adds);
}

/** Whether a piece starts at the start of the whole text. */
function isFirst(source: AlignedText, start: number): boolean {
  return source.startAt(start) === 0;
}

/** Prepends a text to the pieces for which `adds` returns true (given the start of the piece), aligned to their first character. */
export function prependToPieces({ source, bounds }: Pieces, prefix: string, adds: (start: number) => boolean): Pieces {
  const rewriter = new AlignedRewriter(source, source.text.length + bounds.length / 2);
  const moved: number[] = [];
  for (let index = 0; index < bounds.length; index += 2) {
    const start = bounds[index] as number;
    const from = rewriter.length;
    if (adds(start)) rewriter.replace(prefix, start, start + characterLength(source.text, start));
    rewriter.keep(start, bounds[index + 1] as number);
    moved.push(from, rewriter.length);
  }
  return { source: rewriter.finish(), bounds: moved };
}

function cutBefore(pieces: Pieces, mark: string): Pieces {
  return cutPieces(pieces, (text, from, end, cuts) => {
    let start = from;
    for (let at = text.indexOf(mark, start + 1); at >= 0 && at < end; at = text.indexOf(mark, at + 1)) {
      cuts.push(start, at);
      start = at;
    }
    cuts.push(start, end);
  });
}
