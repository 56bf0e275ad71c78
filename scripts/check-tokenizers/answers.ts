/** The same questions to both tokenizers, and their answers in one form. */
import { convertOffsets } from "../../src/tokenizers/index.ts";
import { TextTokenizer } from "../../src/tokenizers/text-tokenizer.ts";
import { parseTokenizerJson } from "../../src/tokenizers/config/tokenizer-json.ts";
import type { Tokenizer } from "../../src/tokenizers/tokenizer.ts";

/** The part of npm's `tokenizers` 0.23 that is asked. */
export interface NativeLibrary {
  readonly Tokenizer: { fromString(json: string): NativeTokenizer };
}

export interface NativeTokenizer {
  encode(text: string, pair?: string | null): Promise<NativeEncoding>;
  decode(ids: number[], skipSpecialTokens: boolean): Promise<string>;
}

export interface NativeEncoding {
  getIds(): number[];
  getTokens(): string[];
  /** In code points. */
  getOffsets(): number[][];
  getWordIds(): (number | null | undefined)[];
  getTypeIds(): number[];
  getSpecialTokensMask(): number[];
  getOverflowing(): NativeEncoding[];
}

export interface Answer {
  readonly ids: number[];
  readonly tokens: readonly string[];
  /** In code points, flattened. */
  readonly offsets: number[];
  readonly words: readonly (number | null)[];
  readonly types: readonly number[];
  readonly special: readonly number[];
  decoded: string;
}

export async function nativeAnswer(native: NativeTokenizer, text: string, pair: string | undefined): Promise<Answer> {
  const encoding = await native.encode(text, pair ?? null);
  const ids = encoding.getIds();
  return {
    ids,
    tokens: encoding.getTokens(),
    offsets: encoding.getOffsets().flat(),
    words: encoding.getWordIds().map((word) => word ?? null),
    types: encoding.getTypeIds(),
    special: encoding.getSpecialTokensMask(),
    decoded: await native.decode(ids, true),
  };
}

export function oursAnswer(ours: Tokenizer, text: string, pair: string | undefined): Answer {
  const encoding = ours.encode(text, pair === undefined ? {} : { pair });
  const first = convertOffsets(encoding.offsets, text, "codepoints");
  const second = pair === undefined ? first : convertOffsets(encoding.offsets, pair, "codepoints");
  return {
    ids: encoding.ids,
    tokens: encoding.tokens,
    offsets: encoding.sequenceIds.flatMap((sequence, index) =>
      Array.from((sequence === 1 ? second : first).slice(2 * index, 2 * index + 2)),
    ),
    words: encoding.wordIds,
    types: encoding.typeIds,
    special: encoding.specialTokensMask,
    decoded: ours.decode(encoding.ids),
  };
}

export function tokenizerOver(json: object): Tokenizer {
  return new TextTokenizer(parseTokenizerJson(JSON.stringify(json), "tokenizer.json"), {
    tokenizerPath: "tokenizer.json",
    tokenizerShown: "tokenizer.json",
    tokenizerConfig: {},
    specialTokens: true,
    dropUnknown: false,
    lowercase: false,
    poolPrompt: true,
    normalize: false,
    prompts: {},
  });
}
