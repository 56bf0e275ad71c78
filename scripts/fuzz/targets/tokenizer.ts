/** tokenizer.json: read, then used on fixed texts: ids are in the vocabulary, offsets inside the text, and columns of one length. */
import { InferyardError } from "../../../src/contract/errors.ts";
import { readFileSync } from "node:fs";
import type { TextSettings } from "../../../src/models/manifest.ts";
import { TextTokenizer } from "../../../src/tokenizers/text-tokenizer.ts";
import { applyTokenizerConfig } from "../../../src/tokenizers/config/tokenizer-config.ts";
import { parseTokenizerJson, tokenizerInvalid } from "../../../src/tokenizers/config/tokenizer-json.ts";
import type { Encoding, Tokenizer } from "../../../src/tokenizers/tokenizer.ts";
import { mutateJsonText } from "../mutations/mutate-json.ts";
import { sharedFiles } from "../shared-seeds.ts";
import { type FuzzTarget, mustHold } from "../target.ts";

const settings: TextSettings = {
  tokenizerPath: "tokenizer.json",
  tokenizerShown: "tokenizer.json",
  tokenizerConfig: {},
  specialTokens: true,
  dropUnknown: false,
  lowercase: false,
  poolPrompt: true,
  normalize: true,
  prompts: {},
};

const texts = [
  "",
  "a",
  "Hello, World! It's 12,345 km.\n\tTab  two  spaces ",
  "e\u0301 \u00e9 İstanbul ß ﬁ \u200d 😀👩‍👩‍👧 \ud800 文字化け ಠ_ಠ \u00a0\u3000 ไทย",
  "[CLS] <s> <unk> [MASK] ##a ▁the Ġthe <0x41> \0",
  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!",
];

const steps = [
  "Sequence",
  "BertNormalizer",
  "Lowercase",
  "NFC",
  "NFD",
  "NFKC",
  "NFKD",
  "Nmt",
  "StripAccents",
  "Strip",
  "Prepend",
  "Replace",
  "Precompiled",
  "BertPreTokenizer",
  "ByteLevel",
  "CharDelimiterSplit",
  "Digits",
  "Metaspace",
  "Punctuation",
  "Split",
  "Whitespace",
  "WhitespaceSplit",
  "UnicodeScripts",
  "BPE",
  "WordPiece",
  "WordLevel",
  "Unigram",
  "TemplateProcessing",
  "BertProcessing",
  "RobertaProcessing",
  "BPEDecoder",
  "ByteFallback",
  "CTC",
  "Fuse",
  "Isolated",
  "Removed",
  "MergedWithPrevious",
  "Regex",
  "String",
  "\\p{L}+",
  "\\s+(?!\\S)",
  "(?i:a|b)",
  "[^\\s\\p{L}]",
  "a{2,3}",
  "(a)|b",
  "^",
  "$",
  "\\b",
  ".",
  "(?=a)",
  "(?<!a)b",
];

/** Long vocabularies cost time and reach nothing new. Of bytes. */
const maxSeed = 12_000;

export const tokenizer: FuzzTarget = {
  codes: ["TOKENIZER_INVALID", "LIMIT_EXCEEDED", "INPUT_INVALID"],
  seeds: () => sharedFiles("tokenizer.json", 3_000_000).flatMap(shortenedFile),
  mutate: mutateJsonText,
  dictionary: steps,
  open: async () => ({
    run(input) {
      use(tokenizerOf(Buffer.from(input).toString()));
    },
  }),
};

/** As `loadTokenizer` makes it of a file. */
function tokenizerOf(text: string): Tokenizer {
  const json = parseTokenizerJson(text, "tokenizer.json");
  try {
    return new TextTokenizer(applyTokenizerConfig(json, settings), settings);
  } catch (error) {
    if (error instanceof InferyardError || !(error instanceof Error) || isDefect(error)) throw error;
    throw tokenizerInvalid("tokenizer.json", `cannot be used: ${error.message}`, error);
  }
}

/** What JavaScript throws where the code does not check: its text would be shown to a user as the reason. */
function isDefect(error: Error): boolean {
  return error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError;
}

function use(tokenizer: Tokenizer): void {
  for (const text of texts) {
    const encoding = tokenizer.encode(text);
    check(encoding, [text], tokenizer);
    mustHold(
      tokenizer.count(text) === encoding.wholeLength,
      () => `count ${tokenizer.count(text)}, wholeLength ${encoding.wholeLength}`,
    );
    mustHold(typeof tokenizer.decode(encoding.ids) === "string", () => "decode gives no text");
    tokenizer.decode(encoding.ids, { skipSpecialTokens: false });
  }
  const { length } = tokenizer.encode("").ids;
  const cut = tokenizer.encode(texts[2]!, { maxTokens: length + 3, stride: 1 });
  for (const window of [cut, ...cut.overflowing]) {
    check(window, [texts[2]!], tokenizer);
    mustHold(window.ids.length <= length + 3, () => `a window of ${window.ids.length} tokens, and ${length + 3} are allowed`);
  }
  tokenizer.pad([cut, tokenizer.encode("a")]);
  const pair = [texts[2]!, texts[3]!];
  check(tokenizer.encode(pair[0]!, { pair: pair[1]! }), pair, tokenizer);
}

function check(encoding: Encoding, encoded: readonly string[], { vocabularySize }: Tokenizer): void {
  const { ids, tokens, typeIds, specialTokensMask, attentionMask, sequenceIds, wordIds, offsets } = encoding;
  const wrong = ids.find((id) => !Number.isInteger(id) || id < 0 || id >= vocabularySize);
  mustHold(wrong === undefined, () => `the id ${wrong} of a vocabulary of ${vocabularySize}`);
  const lengths = [tokens, typeIds, specialTokensMask, attentionMask, sequenceIds, wordIds].map((column) => column.length);
  mustHold(
    lengths.every((length) => length === ids.length) && offsets.length === 2 * ids.length,
    () => `columns of ${lengths.join()}`,
  );
  for (const [index, sequence] of sequenceIds.entries()) {
    const [start, end] = [offsets[2 * index]!, offsets[2 * index + 1]!];
    const limit = sequence === null ? 0 : encoded[sequence]!.length;
    mustHold(
      start >= 0 && start <= end && end <= limit,
      () => `token ${index} has the offsets ${start} to ${end} of a text of ${limit}`,
    );
  }
}

/** The first 60 entries of the vocabulary, added tokens, ASCII characters, and the merges that stay possible. */
function shortenedFile(path: string): Uint8Array[] {
  const json = JSON.parse(readFileSync(path, "utf8")) as {
    model: { vocab: unknown; merges?: unknown };
    added_tokens?: { content: string }[];
  };
  const { model } = json;
  if (Array.isArray(model.vocab)) model.vocab = (model.vocab as unknown[]).slice(0, 60);
  else {
    const added = new Set((json.added_tokens ?? []).map(({ content }) => content));
    const kept = Object.entries(model.vocab as Record<string, number>).filter(
      ([token, id]) => id < 60 || added.has(token) || /^[\x20-\x7e]$/.test(token),
    );
    const names = new Set(kept.map(([token]) => token));
    model.vocab = Object.fromEntries(kept);
    if (Array.isArray(model.merges)) {
      const parts = (merge: unknown): string[] => (typeof merge === "string" ? merge.split(" ") : (merge as string[]));
      model.merges = (model.merges as unknown[]).filter((merge) =>
        [...parts(merge), parts(merge).join("")].every((part) => names.has(part)),
      );
    }
  }
  const bytes = Buffer.from(JSON.stringify(json));
  return bytes.length <= maxSeed ? [bytes] : [];
}
