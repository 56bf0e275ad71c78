/** Translates the tokenizer of a GGUF file to the components of tokenizer.json, so that the same code runs both. */
import { omitUndefined } from "../../contract/checked.ts";
import type { GgufValue } from "../../formats/gguf/gguf-metadata.ts";
import { readGguf } from "../../formats/gguf/read-gguf.ts";
import { InferyardError, getMessage } from "../../contract/errors.ts";
import { encodeBase64 } from "../../platform/base64.ts";
import type { ComponentConfig } from "../config/component-config.ts";
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

/** The mark of a space in SentencePiece. */
const mark = "\u2581";

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
  const scores = tokenizer.numbers("scores");
  if (scores === undefined) throw new Error('its metadata has no list "tokenizer.ggml.scores"');
  const vocab = getVocabulary(tokens);
  const addsSpace = tokenizer.flag("add_space_prefix", true);
  const toMarks = { type: "Replace", pattern: { String: " " }, content: mark };
  const toSpaces = { type: "Replace", pattern: { String: mark }, content: " " };
  const strip = { type: "Strip", content: " ", start: 1, stop: 0 };
  const unknown = tokenizer.getToken("unknown");
  return {
    model: {
      type: "BPE",
      vocab,
      ...scoredMerges(tokens, scores),
      byte_fallback: true,
      fuse_unk: true,
      ...omitUndefined({ unk_token: unknown }),
    },
    normalizer: addsSpace ? steps("normalizers", { type: "Prepend", prepend: mark }, toMarks) : toMarks,
    pre_tokenizer: null,
    post_processor: template(tokenizer, { bos: true, eos: false }),
    decoder: steps("decoders", toSpaces, { type: "ByteFallback" }, { type: "Fuse" }, ...(addsSpace ? [strip] : [])),
  };
}

function byteLevel(tokenizer: GgufTokenizer): Components {
  const { pre_tokenizer, ignoresMerges = false, addsBos = false } = getPreTokenization(tokenizer.preTokenizer);
  return {
    model: { type: "BPE", vocab: getVocabulary(tokenizer.tokens), merges: tokenizer.merges, ignore_merges: ignoresMerges },
    normalizer: null,
    pre_tokenizer,
    post_processor: template(tokenizer, { bos: addsBos, eos: false }),
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
    normalizer: { type: "Replace", pattern: { String: " " }, content: mark },
    pre_tokenizer: { type: "Split", pattern: { Regex: "[^\\n]+|\\n+" }, behavior: "Isolated", invert: false },
    post_processor: template(tokenizer, { bos: false, eos: false }),
    decoder: steps(
      "decoders",
      { type: "Replace", pattern: { String: mark }, content: " " },
      { type: "ByteFallback" },
      { type: "Fuse" },
    ),
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
  const scores = tokenizer.numbers("scores");
  if (scores === undefined) throw new Error('its metadata has no list "tokenizer.ggml.scores"');
  const map = tokenizer.characterMap;
  const normalizers: readonly ComponentConfig[] = [
    ...(map === undefined ? [] : [{ type: "Precompiled", precompiled_charsmap: encodeBase64(map) }]),
    ...(tokenizer.flag("remove_extra_whitespaces", false)
      ? [
          { type: "Strip", strip_left: true, strip_right: true },
          { type: "Replace", pattern: { Regex: " {2,}" }, content: " " },
        ]
      : []),
  ];
  const metaspace = {
    type: "Metaspace",
    replacement: mark,
    prepend_scheme: tokenizer.flag("add_space_prefix", true) ? "always" : "never",
    split: true,
  };
  return {
    model: {
      type: "Unigram",
      vocab: tokens.map((token, id) => [token, scores[id] ?? 0]),
      unk_id: tokenizer.getId("unknown") ?? null,
      byte_fallback: tokens.some((_, id) => tokenizer.getKind(id) === "byte"),
    },
    normalizer: normalizers.length === 0 ? null : steps("normalizers", ...normalizers),
    pre_tokenizer: metaspace,
    post_processor: template(tokenizer, { bos: false, eos: true }),
    decoder: metaspace,
  };
}

function steps(name: "normalizers" | "decoders", ...components: readonly ComponentConfig[]): ComponentConfig {
  return { type: "Sequence", [name]: components };
}

/** Adds BOS and EOS where the metadata says so; `usual` where it says nothing. */
function template(tokenizer: GgufTokenizer, usual: { readonly bos: boolean; readonly eos: boolean }): ComponentConfig | null {
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

/** A template with a token before and one behind each text. */
function framed(
  first: string | undefined,
  last: string | undefined,
  vocabulary: ReadonlyMap<string, number>,
  { separators, secondType }: PairFrame,
): ComponentConfig {
  const special = (token: string | undefined, type: number): readonly object[] =>
    token === undefined ? [] : [{ SpecialToken: { id: token, type_id: type } }];
  const text = (name: "A" | "B", type: number): object => ({ Sequence: { id: name, type_id: type } });
  const start = [...special(first, 0), text("A", 0), ...special(last, 0)];
  const between = separators === 1 ? [] : special(last, 0);
  const named = [first, last].flatMap((token) => (token === undefined ? [] : [token]));
  return {
    type: "TemplateProcessing",
    single: start,
    pair: [...start, ...between, text("B", secondType), ...special(last, secondType)],
    special_tokens: Object.fromEntries(
      named.map((token) => [token, { id: token, ids: [vocabulary.get(token) ?? 0], tokens: [token] }]),
    ),
  };
}
