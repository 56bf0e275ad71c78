/** Translates the tokenizer of a GGUF file to the components of tokenizer.json, so that the same code runs both. */
import { omitUndefined } from "../../contract/checked.ts";
import type { GgufValue } from "../../formats/gguf/gguf-metadata.ts";
import { readGguf } from "../../formats/gguf/read-gguf.ts";
import { InferyardError, getMessage } from "../../contract/errors.ts";
import type { ComponentConfig } from "../config/component-config.ts";
import {
  type Part,
  metaspace,
  precompiled,
  replaceRegex,
  replaceText,
  sentencePieceDecoder,
  sequence,
  spaceSymbol,
  splitRegex,
  template,
} from "../config/components.ts";
import { type AddedToken, type TokenizerJson, tokenizerInvalid } from "../config/tokenizer-json.ts";
import { GgufTokenizer } from "./metadata.ts";
import { getPreTokenization } from "./pre-tokenizers.ts";
import { scoredMerges } from "./scored-merges.ts";
import { continuedWords, isLowercase } from "./word-pieces.ts";

/**
 * Reads the tokenizer of the GGUF file at `path`; `displayName` is the path as the user wrote it. Throws MODEL_INVALID if the file cannot be read, and
 * TOKENIZER_INVALID if its tokenizer is missing, damaged or of a kind that is not known.
 */
export async function readGgufTokenizer(path: string, displayName: string): Promise<TokenizerJson> {
  const { metadata } = await readGguf(path, displayName, "everything");
  try {
    return toTokenizerJson(metadata);
  } catch (error) {
    if (error instanceof InferyardError) throw error;
    throw tokenizerInvalid(displayName, `has a tokenizer that cannot be used: ${getMessage(error)}`, error);
  }
}

/** Translates the tokenizer in the metadata of a GGUF file. Throws Error if it is missing, damaged or of a kind that is not known. */
export function toTokenizerJson(metadata: ReadonlyMap<string, GgufValue>): TokenizerJson {
  const tokenizer = new GgufTokenizer(metadata);
  const translate = Object.hasOwn(kinds, tokenizer.model) ? kinds[tokenizer.model] : undefined;
  if (translate === undefined) {
    throw new Error(`tokenizer.ggml.model is "${tokenizer.model}", and known are ${Object.keys(kinds).join(", ")}`);
  }
  const padding = tokenizer.getId("padding");
  return {
    added_tokens: addedTokens(tokenizer),
    padding: padding === undefined ? null : { pad_id: padding },
    ...translate(tokenizer),
  };
}

type Components = Omit<TokenizerJson, "added_tokens" | "padding">;

const kinds: Readonly<Record<string, (tokenizer: GgufTokenizer) => Components>> = {
  llama: sentencePiece,
  gpt2: (tokenizer) => (markedSpaces.has(tokenizer.preTokenizer) ? mergedText(tokenizer) : byteLevel(tokenizer)),
  gemma4: mergedText,
  bert: wordPiece,
  t5: unigram,
};

/** Control tokens are special; those that the author defined are found in texts too. */
function addedTokens(tokenizer: GgufTokenizer): readonly AddedToken[] {
  return tokenizer.tokens.flatMap((content, id) => {
    const kind = tokenizer.getKind(id);
    const isSpecial = kind === "control" || (kind === "unknown" && tokenizer.model !== "t5");
    if ((!isSpecial && kind !== "user-defined") || content === "") return [];
    return [{ id, content, special: isSpecial, singleWord: false, lstrip: false, rstrip: false, normalized: false }];
  });
}

function getVocabulary(tokens: readonly string[]): ReadonlyMap<string, number> {
  const vocabulary = new Map<string, number>();
  // Of equal tokens the first one counts.
  for (let id = tokens.length - 1; id >= 0; id -= 1) vocabulary.set(tokens[id] ?? "", id);
  return vocabulary;
}

/** SentencePiece BPE: pairs are merged by the score of the token they make. */
function sentencePiece(tokenizer: GgufTokenizer): Components {
  const { tokens } = tokenizer;
  const addsSpace = tokenizer.flag("add_space_prefix", true);
  const toMarks = replaceText(" ", spaceSymbol);
  return {
    model: {
      type: "BPE",
      vocab: getVocabulary(tokens),
      ...scoredMerges(tokens, requireScores(tokenizer)),
      byte_fallback: true,
      fuse_unk: true,
      ...omitUndefined({ unk_token: tokenizer.getToken("unknown") }),
    },
    normalizer: addsSpace ? sequence("normalizers", [{ type: "Prepend", prepend: spaceSymbol }, toMarks]) : toMarks,
    pre_tokenizer: null,
    post_processor: endsTemplate(tokenizer, { bos: true, eos: false }),
    decoder: sentencePieceDecoder(true, addsSpace),
  };
}

function byteLevel(tokenizer: GgufTokenizer): Components {
  const { pre_tokenizer, ignoresMerges = false, addsBos = false } = getPreTokenization(tokenizer.preTokenizer);
  return {
    model: { type: "BPE", vocab: getVocabulary(tokenizer.tokens), merges: tokenizer.merges, ignore_merges: ignoresMerges },
    normalizer: null,
    pre_tokenizer,
    post_processor: endsTemplate(tokenizer, { bos: addsBos, eos: false }),
    decoder: { type: "ByteLevel" },
  };
}

/** Ways to split text of BPE over characters instead of bytes. */
const markedSpaces: ReadonlySet<string> = new Set(["gemma4", "granite-embed-multi-311m", "sarvam-moe"]);

/** BPE over the characters of whole lines, with "▁" for a space; characters without a token are bytes. */
function mergedText(tokenizer: GgufTokenizer): Components {
  return {
    model: {
      type: "BPE",
      vocab: getVocabulary(tokenizer.tokens),
      merges: tokenizer.merges.map(mergedPair),
      byte_fallback: true,
      // Tokens of several line ends have no merges; Sarvam does not use them.
      ignore_merges: tokenizer.preTokenizer !== "sarvam-moe",
    },
    normalizer: replaceText(" ", spaceSymbol),
    pre_tokenizer: splitRegex("[^\\n]+|\\n+", "Isolated"),
    post_processor: endsTemplate(tokenizer, { bos: false, eos: false }),
    decoder: sentencePieceDecoder(true, false),
  };
}

/** The two tokens of a merge, which a space separates; the first one may begin with a space. */
function mergedPair(merge: string): readonly [left: string, right: string] {
  const at = merge.indexOf(" ", 1);
  return [merge.slice(0, at), merge.slice(at + 1)];
}

function wordPiece(tokenizer: GgufTokenizer): Components {
  const tokens = continuedWords(tokenizer);
  return {
    model: {
      type: "WordPiece",
      vocab: getVocabulary(tokens),
      unk_token: tokenizer.getToken("unknown") ?? "[UNK]",
      continuing_subword_prefix: "##",
      max_input_chars_per_word: 100,
    },
    normalizer: {
      type: "BertNormalizer",
      clean_text: true,
      handle_chinese_chars: true,
      strip_accents: null,
      lowercase: isLowercase(tokens),
    },
    pre_tokenizer: { type: "BertPreTokenizer" },
    post_processor: framed(
      tokenizer.getToken("classification") ?? tokenizer.getToken("bos") ?? "[CLS]",
      tokenizer.getToken("separator") ?? tokenizer.getToken("eos") ?? "[SEP]",
      getVocabulary(tokens),
      { separators: 1, secondType: tokenizer.tokenTypes === 1 ? 0 : 1 },
    ),
    decoder: { type: "WordPiece", prefix: "##", cleanup: true },
  };
}

/** SentencePiece unigram. */
function unigram(tokenizer: GgufTokenizer): Components {
  const { tokens } = tokenizer;
  const scores = requireScores(tokenizer);
  const normalizers: readonly ComponentConfig[] = [
    ...precompiled(tokenizer.characterMap),
    ...(tokenizer.flag("remove_extra_whitespaces", false)
      ? [{ type: "Strip", strip_left: true, strip_right: true }, replaceRegex(" {2,}", " ")]
      : []),
  ];
  const marks = metaspace(tokenizer.flag("add_space_prefix", true) ? "always" : "never");
  return {
    model: {
      type: "Unigram",
      vocab: tokens.map((token, id) => [token, scores[id] ?? 0]),
      unk_id: tokenizer.getId("unknown") ?? null,
      byte_fallback: tokens.some((_, id) => tokenizer.getKind(id) === "byte"),
    },
    normalizer: normalizers.length === 0 ? null : sequence("normalizers", normalizers),
    pre_tokenizer: marks,
    post_processor: endsTemplate(tokenizer, { bos: false, eos: true }),
    decoder: marks,
  };
}

function requireScores(tokenizer: GgufTokenizer): readonly number[] {
  const scores = tokenizer.numbers("scores");
  if (scores === undefined) throw new Error('its metadata has no list "tokenizer.ggml.scores"');
  return scores;
}

/** Adds BOS and EOS where the metadata says so; `usual` where it says nothing. */
function endsTemplate(tokenizer: GgufTokenizer, usual: { readonly bos: boolean; readonly eos: boolean }): ComponentConfig | null {
  const [bos, eos] = [tokenizer.getToken("bos"), tokenizer.getToken("eos")];
  const first = tokenizer.flag("add_bos_token", usual.bos) ? bos : undefined;
  const last = tokenizer.flag("add_eos_token", usual.eos) ? eos : undefined;
  if (first === undefined && last === undefined) return null;
  return framed(first, last, getVocabulary(tokenizer.tokens), { separators: 2, secondType: 0 });
}

/** What separates the two texts of a pair, and the type id of the second one. */
interface PairFrame {
  /** RoBERTa and its kin separate two texts by two tokens, BERT by one. */
  readonly separators: 1 | 2;
  readonly secondType: 0 | 1;
}

/** A template with a token before and one after each text. */
function framed(
  first: string | undefined,
  last: string | undefined,
  vocabulary: ReadonlyMap<string, number>,
  { separators, secondType }: PairFrame,
): ComponentConfig {
  const special = (token: string | undefined, type: number): readonly Part[] =>
    token === undefined ? [] : [[{ token, id: vocabulary.get(token) ?? 0 }, type]];
  const start: readonly Part[] = [...special(first, 0), ["A"], ...special(last, 0)];
  const between = separators === 1 ? [] : special(last, 0);
  return template(start, [...start, ...between, ["B", secondType], ...special(last, secondType)]);
}
