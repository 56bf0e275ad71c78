/** Tokenizers of SentencePiece's model files whose class is Llama's or Gemma's, or that have no class of their own. */
import type { ComponentConfig } from "../config/component-config.ts";
import type { TokenizerJson } from "../config/tokenizer-json.ts";
import type { ClassSettings } from "./class-settings.ts";
import {
  metaspace,
  precompiled,
  replaceRegex,
  replaceText,
  sentencePieceDecoder,
  sequence,
  spaceSymbol,
} from "../config/components.ts";
import { findMerges } from "../config/token-merges.ts";
import type { Piece, SentencePieceModel } from "./sentencepiece-model.ts";
import { specialPieces } from "./unigram.ts";

/** `LlamaTokenizer`: BPE with byte fallback, no normalization. `legacy`: a space before each part between added tokens, and not before the first alone. */
export function llamaTokenizer(model: SentencePieceModel, settings: ClassSettings): TokenizerJson {
  const spaced = settings.flag("add_prefix_space", true);
  const parts = {
    model: { type: "BPE", vocab: getVocabulary(model), merges: mergesByIds(model), fuse_unk: true, byte_fallback: true },
    normalizer: null,
    pre_tokenizer: metaspace(spaced ? (settings.flag("legacy", false) ? "always" : "first") : "never", false),
    decoder: sentencePieceDecoder(true, spaced),
  };
  return settings.withSpecialTokens(specialPieces(model)).finish(parts, (idOf) => settings.bosAndEos(idOf));
}

/** `GemmaTokenizer`: BPE with byte fallback, without a space before the text. */
export function gemmaTokenizer(model: SentencePieceModel, settings: ClassSettings): TokenizerJson {
  const parts = {
    model: {
      type: "BPE",
      vocab: getVocabulary(model),
      merges: mergesByIds(model),
      unk_token: settings.token("unk_token"),
      fuse_unk: true,
      byte_fallback: true,
    },
    normalizer: replaceText(" ", spaceSymbol),
    pre_tokenizer: { type: "Split", pattern: { String: " " }, behavior: "MergedWithPrevious", invert: false },
    decoder: sentencePieceDecoder(true, false),
  };
  return settings.withSpecialTokens(specialPieces(model)).finish(parts, (idOf) => settings.bosAndEos(idOf));
}

/** A tokenizer from the statements of the model file alone (`SpmConverter.build_tokenizer_from_spm_proto` of transformers 5.24). */
export function ownTokenizer(model: SentencePieceModel, settings: ClassSettings): TokenizerJson {
  const { byteFallback: hasBytes, addsSpace, pieces, unknown } = model;
  const legacy = settings.flag("legacy", true);
  const defined = pieces.filter(({ type }) => type === "user-defined").map(({ text }) => text);
  const normalizers = ownNormalizers(model, legacy);
  const preTokenizers: readonly ComponentConfig[] = [
    ...(addsSpace ? [metaspace(legacy ? "always" : "first", false)] : []),
    ...(defined.length === 0 ? [] : [splitAt(defined)]),
  ];
  const parts = {
    model:
      model.algorithm === "unigram"
        ? { type: "Unigram", unk_id: unknown.id, vocab: pieces.map(({ text, score }) => [text, score]), byte_fallback: hasBytes }
        : {
            type: "BPE",
            vocab: getVocabulary(model),
            merges: mergesByScores(pieces),
            unk_token: unknown.piece,
            fuse_unk: true,
            byte_fallback: hasBytes,
            ignore_merges: defined.length > 0,
          },
    normalizer: sequence("normalizers", normalizers),
    pre_tokenizer: preTokenizers.length === 0 ? null : sequence("pretokenizers", preTokenizers),
    decoder: sentencePieceDecoder(hasBytes, addsSpace),
  };
  return settings.withSpecialTokens(specialPieces(model, ["control"])).finish(parts, (idOf) => settings.bosAndEos(idOf));
}

/**
 * Normalizations of SentencePiece before it looks for pieces. `legacy`: a text that begins with "▁" gets one more. `isLongest`: the longest text in the map is
 * replaced, as in SentencePiece itself; the Rust library does not.
 */
export function ownNormalizers(
  { addsSpace, removesSpaces, escapesSpaces, characterMap }: SentencePieceModel,
  legacy: boolean,
  isLongest = false,
): readonly ComponentConfig[] {
  return [
    ...precompiled(characterMap).map((step) => ({ ...step, longest_match: isLongest })),
    ...(removesSpaces ? [replaceRegex("\\A +| +\\z", ""), replaceRegex(" {2,}", " ")] : []),
    ...(escapesSpaces ? [replaceText(" ", spaceSymbol)] : []),
    ...(addsSpace && legacy ? [replaceRegex(`\\A${spaceSymbol}`, spaceSymbol + spaceSymbol)] : []),
  ];
}

/** The special tokens that a model file names, by their roles. */
export function ownRoles({ bos, eos, unknown }: SentencePieceModel): Readonly<Record<string, string>> {
  const named = { bos_token: bos, eos_token: eos, unk_token: unknown };
  return Object.fromEntries(Object.entries(named).flatMap(([role, { id, piece }]) => (id >= 0 ? [[role, piece] as const] : [])));
}

/** Isolates texts, the longer ones first. */
function splitAt(texts: readonly string[]): ComponentConfig {
  const longestFirst = texts.toSorted((a, b) => b.length - a.length);
  const escaped = longestFirst.map((text) => text.replaceAll(/[\\^$.*+?()[\]{}|\-&~#\s]/g, (sign) => `\\${sign}`));
  return { type: "Split", pattern: { Regex: escaped.join("|") }, behavior: "Isolated", invert: false };
}

function getVocabulary({ pieces }: SentencePieceModel): ReadonlyMap<string, number> {
  return new Map(pieces.map(({ text }, id) => [text, id]));
}

type Merge = readonly [left: string, right: string];

/** All ways to make a piece of two others, by the id of that piece, the length of the left one, and their ids (`generate_merges`). */
function mergesByIds(model: SentencePieceModel): readonly Merge[] {
  const ids = getVocabulary(model);
  const tokens = [...ids].map(([token, id]) => [id, token] as const);
  return findMerges(
    tokens.toSorted(([a], [b]) => a - b),
    ids,
  ).map(({ merge }) => merge);
}

/** Those of normal pieces, by the score of the piece that is made, and its id. */
function mergesByScores(pieces: readonly Piece[]): readonly Merge[] {
  const normal = new Map(pieces.flatMap(({ text, type }, id) => (type === "normal" ? [[text, id] as const] : [])));
  const tokens = [...normal].map(([token, id]) => [id, token] as const);
  const scoreOf = (id: number): number => pieces[id]?.score ?? 0;
  return findMerges(tokens, normal)
    .sort((a, b) => scoreOf(b.id) - scoreOf(a.id) || a.id - b.id || compare(a.merge[0], b.merge[0]))
    .map(({ merge }) => merge);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
