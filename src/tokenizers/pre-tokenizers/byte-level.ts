/** ByteLevel: GPT-2's way to cut words, and the alphabet of bytes. */
import { byteLevelNormalizer } from "../normalizers/byte-level.ts";
import type { Pieces } from "../alignment/pieces.ts";
import { Rewriter } from "../alignment/rewriter.ts";
import { flagSetting } from "../config/component-config.ts";
import type { Step } from "../config/component-config.ts";
import { cutLikeGpt2 } from "./gpt2-words.ts";
import type { PreTokenizer } from "./pre-tokenizer.ts";
import { prefixed } from "./metaspace.ts";

export function byteLevel(step: Step): PreTokenizer {
  const cutsWords = byteLevelWords(step);
  return (pieces) => spelledInBytes(cutsWords(pieces));
}

/** The first half, which leaves the characters as they are: for a model that takes the bytes itself. */
export function byteLevelWords(step: Step): PreTokenizer {
  const addsSpace = flagSetting(step, "add_prefix_space", true);
  const cutsWords = flagSetting(step, "use_regex", true);
  return (pieces) => {
    const spaced = addsSpace ? prefixed(pieces, " ", (start) => pieces.source.text.charAt(start) !== " ") : pieces;
    return cutsWords ? cutLikeGpt2(spaced) : spaced;
  };
}

function spelledInBytes({ source, bounds }: Pieces): Pieces {
  const rewriter = new Rewriter(source);
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
