/** Pre-tokenizer `ByteLevel` (GPT-2): splits by GPT-2's regular expression and writes the pieces in the byte-level alphabet. */
import { byteLevelNormalizer } from "../normalizers/characters.ts";
import type { Pieces, PreTokenizer } from "../alignment/pieces.ts";
import { AlignedRewriter } from "../alignment/rewriter.ts";
import { booleanSetting } from "../config/component-config.ts";
import type { ComponentConfig } from "../config/component-config.ts";
import { splitLikeGpt2 } from "./gpt2-words.ts";
import { prependToPieces } from "./metaspace.ts";

/**
 * Creates the pre-tokenizer `ByteLevel` of GPT-2, which splits text into words and writes their bytes in the byte-level alphabet.
 */
export function byteLevelPreTokenizer(step: ComponentConfig): PreTokenizer {
  const cutsWords = byteLevelWords(step);
  return (pieces) => spelledInBytes(cutsWords(pieces));
}

/** Creates a pre-tokenizer that only splits, for a model that maps characters to bytes itself (`BpeModel` with `inBytes`). */
export function byteLevelWords(step: ComponentConfig): PreTokenizer {
  const addsSpace = booleanSetting(step, "add_prefix_space", true);
  const cutsWords = booleanSetting(step, "use_regex", true);
  return (pieces) => {
    const spaced = addsSpace ? prependToPieces(pieces, " ", (start) => pieces.source.text.charAt(start) !== " ") : pieces;
    return cutsWords ? splitLikeGpt2(spaced) : spaced;
  };
}

function spelledInBytes({ source, bounds }: Pieces): Pieces {
  const rewriter = new AlignedRewriter(source);
  const moved: number[] = [];
  for (let index = 0; index < bounds.length; index += 2) {
    const from = rewriter.length;
    const spelled = byteLevelNormalizer(source.slice(bounds[index] as number, bounds[index + 1] as number));
    for (let unit = 0; unit < spelled.text.length; unit++)
      rewriter.put(spelled.text.charAt(unit), spelled.startAt(unit), spelled.endAt(unit));
    moved.push(from, rewriter.length);
  }
  return { source: rewriter.finish(), bounds: moved };
}
