/** Unigram tokenizers of SentencePiece's model files, as the classes of transformers make them: T5, XLM-RoBERTa, CamemBERT, ALBERT, DeBERTa v2, XLNet, mBART. */
import type { ComponentConfig } from "../config/component-config.ts";
import type { TokenizerJson } from "../config/tokenizer-json.ts";
import { type ClassSettings, requireToken } from "./class-settings.ts";
import { metaspace, precompiled, replaceRegex, replaceText, sequence, template, type TokenId } from "../config/components.ts";
import { mbart50Languages, mbartLanguages } from "./languages.ts";
import type { Piece, SentencePieceModel } from "./sentencepiece-model.ts";

/** The classes of unigram models. */
export const unigramNames = [
  "T5Tokenizer",
  "XLMRobertaTokenizer",
  "CamembertTokenizer",
  "AlbertTokenizer",
  "XLNetTokenizer",
  "DebertaV2Tokenizer",
  "MBartTokenizer",
  "MBart50Tokenizer",
] as const;

/** A token with its score. */
type Entry = readonly [token: string, score: number];
type IdOf = (role: string) => TokenId | undefined;

/** What a class has around the pieces of the model. */
interface UnigramClass {
  /** The vocabulary. Fairseq's models have other ids than those of the pieces. */
  readonly vocabulary: (pieces: readonly Entry[], settings: ClassSettings) => readonly Entry[];
  readonly unknownId: (vocabulary: readonly Entry[], settings: ClassSettings, model: SentencePieceModel) => number;
  readonly normalizers: (settings: ClassSettings, characterMap: readonly ComponentConfig[]) => readonly ComponentConfig[];
  /** What splits a text before the words are marked. */
  readonly preTokenizers: (settings: ClassSettings) => readonly ComponentConfig[];
  /** Tokens that are special besides those with a role. */
  readonly specialTokens?: (settings: ClassSettings) => readonly string[];
  readonly frame: (idOf: IdOf) => ComponentConfig;
}

const splitsWords: ComponentConfig = { type: "WhitespaceSplit" };
const score = (token: string): Entry => [token, 0];
const asPieces = (pieces: readonly Entry[]): readonly Entry[] => pieces;

/** The ids of fairseq: four special tokens, then the pieces without their own three. */
function fairseqVocabulary(more: (settings: ClassSettings) => readonly string[]): UnigramClass["vocabulary"] {
  return (pieces, settings) => {
    const roles = ["bos_token", "pad_token", "eos_token", "unk_token"].map((role) => score(settings.token(role) ?? ""));
    return [...roles, ...pieces.slice(3), ...more(settings).map(score), score(settings.token("mask_token") ?? "<mask>")];
  };
}

/** <s> A </s></s> B </s>, as RoBERTa. */
function robertaFrame(idOf: IdOf): ComponentConfig {
  const [first, last] = [requireToken(idOf, "bos_token"), requireToken(idOf, "eos_token")];
  return template([[first], ["A"], [last]], [[first], ["A"], [last], [last], ["B"], [last]]);
}

/** [CLS] A [SEP] B [SEP], as BERT. */
function bertFrame(idOf: IdOf): ComponentConfig {
  const [first, last] = [requireToken(idOf, "cls_token"), requireToken(idOf, "sep_token")];
  return template([[first], ["A"], [last]], [[first], ["A"], [last], ["B", 1], [last, 1]]);
}

/** A </s> language, as mBART marks the language of the source. */
function languageFrame(isFirst: boolean): UnigramClass["frame"] {
  return (idOf) => {
    const last = requireToken(idOf, "eos_token");
    const language = requireToken(idOf, "src_lang");
    const [before, behind] = isFirst ? ([[[language]], [[last]]] as const) : ([[], [[last], [language]]] as const);
    return template([...before, ["A"], ...behind], [...before, ["A"], ["B"], ...behind]);
  };
}

const quotes = [replaceText("``", '"'), replaceText("''", '"')];
const lineSpaces = replaceRegex("\\s{2,}|[\\n\\r\\t]", " ");
const trimmedEnd = { type: "Strip", strip_left: false, strip_right: true };
const withoutAccents = [{ type: "NFKD" }, { type: "StripAccents" }];

function getUnknown(vocabulary: readonly Entry[], settings: ClassSettings, otherwise: number): number {
  const found = vocabulary.findIndex(([token]) => token === settings.token("unk_token"));
  return found === -1 ? otherwise : found;
}

const xlmRoberta: UnigramClass = {
  vocabulary: fairseqVocabulary(() => []),
  unknownId: () => 3,
  normalizers: (_settings, characterMap) => characterMap,
  preTokenizers: () => [splitsWords],
  frame: robertaFrame,
};

/** Names of the classes of unigram models in transformers. */
export type UnigramName = (typeof unigramNames)[number];

const classes: Readonly<Record<UnigramName, UnigramClass>> = {
  T5Tokenizer: {
    vocabulary: (pieces, settings) => [...pieces, ...extraIds(settings).toReversed().map(score)],
    unknownId: () => 2,
    normalizers: (_settings, characterMap) => characterMap,
    preTokenizers: () => [splitsWords],
    specialTokens: extraIds,
    frame: (idOf) => {
      const last = requireToken(idOf, "eos_token");
      return template([["A"], [last]], [["A"], [last], ["B"], [last]]);
    },
  },
  XLMRobertaTokenizer: xlmRoberta,
  CamembertTokenizer: {
    ...xlmRoberta,
    vocabulary: (pieces, settings) => [
      score("<s>NOTUSED"),
      score(settings.token("pad_token") ?? "<pad>"),
      score("</s>NOTUSED"),
      score(settings.token("unk_token") ?? "<unk>"),
      ["<unk>NOTUSED", -100],
      ...pieces.slice(1),
      score(settings.token("mask_token") ?? "<mask>"),
    ],
    unknownId: (vocabulary, settings) => getUnknown(vocabulary, settings, 0),
    specialTokens: () => ["<s>NOTUSED", "</s>NOTUSED", "<unk>NOTUSED"],
  },
  AlbertTokenizer: {
    vocabulary: asPieces,
    unknownId: () => 1,
    normalizers: (settings, characterMap) => [
      ...quotes,
      ...(settings.flag("keep_accents", false) ? [] : withoutAccents),
      ...(settings.flag("do_lower_case", true) ? [{ type: "Lowercase" }] : []),
      ...characterMap,
    ],
    preTokenizers: () => [splitsWords],
    frame: bertFrame,
  },
  XLNetTokenizer: {
    vocabulary: asPieces,
    unknownId: (_vocabulary, _settings, { unknown }) => unknown.id,
    normalizers: (settings, characterMap) => [
      ...quotes,
      ...withoutAccents,
      ...(settings.flag("do_lower_case", false) ? [{ type: "Lowercase" }] : []),
      ...characterMap,
    ],
    preTokenizers: () => [splitsWords],
    frame: (idOf) => {
      const [sep, cls] = [requireToken(idOf, "sep_token"), requireToken(idOf, "cls_token")];
      return template([["A"], [sep], [cls, 2]], [["A"], [sep], ["B", 1], [sep, 1], [cls, 2]]);
    },
  },
  DebertaV2Tokenizer: {
    vocabulary: asPieces,
    unknownId: (vocabulary, settings, { unknown }) => getUnknown(vocabulary, settings, unknown.id),
    // transformers 5 has Unicode's NFC in the place of the model's own character map.
    normalizers: (settings) => [
      ...(settings.flag("do_lower_case", false) ? [{ type: "Lowercase" }] : []),
      lineSpaces,
      { type: "NFC" },
      trimmedEnd,
    ],
    preTokenizers: (settings) => (settings.flag("split_by_punct", false) ? [{ type: "Punctuation", behavior: "Isolated" }] : []),
    frame: bertFrame,
  },
  MBartTokenizer: {
    ...xlmRoberta,
    vocabulary: fairseqVocabulary(() => mbartLanguages),
    normalizers: () => [],
    specialTokens: () => mbartLanguages,
    frame: languageFrame(false),
  },
  MBart50Tokenizer: {
    ...xlmRoberta,
    vocabulary: fairseqVocabulary(() => mbart50Languages),
    normalizers: (_settings, characterMap) => [...characterMap, replaceRegex(" {2,}", " ")],
    preTokenizers: () => [],
    specialTokens: () => mbart50Languages,
    frame: languageFrame(true),
  },
};

/** The sentinels of T5, which stand for the parts of a text that are left out. */
function extraIds(settings: ClassSettings): readonly string[] {
  return Array.from(
    { length: Math.min(1000, Math.max(0, settings.integer("extra_ids", 100))) },
    (_, index) => `<extra_id_${index}>`,
  );
}

/** The tokenizer of a class. Throws Error if the model has another algorithm, or lacks a special token that frames texts. */
export function unigramTokenizer(name: UnigramName, model: SentencePieceModel, settings: ClassSettings): TokenizerJson {
  const kind: UnigramClass = classes[name];
  const vocabulary = kind.vocabulary(
    model.pieces.map(({ text, score: logarithm }) => [text, logarithm]),
    settings,
  );
  const unknown = kind.unknownId(vocabulary, settings, model);
  const normalizers = kind.normalizers(settings, precompiled(model.characterMap));
  const marks = metaspace(settings.flag("add_prefix_space", true) ? "always" : name === "DebertaV2Tokenizer" ? "first" : "never");
  const parts = {
    model: { type: "Unigram", unk_id: unknown, vocab: vocabulary, byte_fallback: false },
    normalizer: normalizers.length === 0 ? null : sequence("normalizers", normalizers),
    pre_tokenizer: sequence("pretokenizers", [...kind.preTokenizers(settings), marks]),
    decoder: marks,
  };
  const listed = [
    ...specialPieces(model),
    ...(kind.specialTokens?.(settings) ?? []).map((content) => ({ content, special: true })),
  ];
  return settings.withSpecialTokens(listed).finish(parts, (idOf) => kind.frame(idOf));
}

/** The control tokens of a model, which are special, and the tokens that its author defined. */
export function specialPieces(
  { pieces }: SentencePieceModel,
  types: readonly Piece["type"][] = ["control", "user-defined"],
): readonly object[] {
  return pieces
    .filter(({ type, text }) => types.includes(type) && text !== "")
    .map(({ text, type }) => ({ content: text, special: type === "control", normalized: false }));
}
