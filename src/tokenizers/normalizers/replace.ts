/** Normalizer `Replace`: replaces every match of a text or regular expression by a literal text. */
import type { AlignedText } from "../alignment/aligned-text.ts";
import { createPattern } from "../pattern.ts";
import { AlignedRewriter } from "../alignment/rewriter.ts";
import { patternSetting, stringSetting } from "../config/component-config.ts";
import type { ComponentConfig } from "../config/component-config.ts";
import type { Normalizer } from "../alignment/pieces.ts";

/**
 * Creates the normalizer `Replace`, which replaces the matches of a literal text or regular expression. Throws Error for a
 * regular expression that is not supported.
 */
export function replaceNormalizer(step: ComponentConfig): Normalizer {
  const content = stringSetting(step, "content");
  const setting = patternSetting(step, "pattern");
  // One unit for one unit, such as "▁" for " ": the alignment does not change.
  if ("text" in setting && setting.text.length === 1 && content.length === 1)
    return (source) => source.withText(source.text.replaceAll(setting.text, () => content));
  const pattern = createPattern(setting);
  return (source) => {
    const matches = pattern(source.text);
    return matches.length === 0 ? source : replaceMatches(source, matches, content);
  };
}

/** The content is aligned to the last character of the match; for an empty match to the character before it. */
function replaceMatches(source: AlignedText, matches: readonly number[], content: string): AlignedText {
  const rewriter = new AlignedRewriter(source);
  let kept = 0;
  for (let index = 0; index < matches.length; index += 2) {
    const end = matches[index + 1] as number;
    rewriter.keep(kept, matches[index] as number);
    rewriter.insert(content, end);
    kept = end;
  }
  rewriter.keep(kept, source.text.length);
  return rewriter.finish();
}
