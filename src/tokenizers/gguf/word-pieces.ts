/** WordPiece vocabularies of GGUF files, in which words begin with a mark and other pieces do not. */
import type { GgufTokenizer } from "./metadata.ts";

const mark = "\u2581";

/** The tokens as WordPiece has them: "##" before pieces that continue a word. */
export function continuedWords(tokenizer: GgufTokenizer): readonly string[] {
  return tokenizer.tokens.map((token, id) => {
    const kind = tokenizer.getKind(id);
    if (kind === "control" || kind === "unknown" || kind === "user-defined" || /^\[.+\]$/.test(token)) return token;
    return token.startsWith(mark) ? token.slice(mark.length) : `##${token}`;
  });
}

/** Whether no token has a capital letter: the model then reads texts in lower case, which the file does not state. */
export function isLowercase(tokens: readonly string[]): boolean {
  return !tokens.some((token) => !/^\[.+\]$/.test(token) && token !== token.toLowerCase());
}
