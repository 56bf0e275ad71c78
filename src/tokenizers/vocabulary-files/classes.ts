/** The tokenizer classes of transformers whose files are read: what each has as special tokens, and what makes its tokenizer. */
import type { TokenizerJson } from "../config/tokenizer-json.ts";
import { bpeTokenizer, type BpeFiles, type BpeKind } from "./byte-level.ts";
import { ClassSettings, type DefaultToken, type TokenizerConfig } from "./class-settings.ts";
import { marianTokenizer } from "./marian.ts";
import { gemmaTokenizer, llamaTokenizer, ownRoles, ownTokenizer } from "./sentencepiece-bpe.ts";
import type { SentencePieceModel } from "./sentencepiece-model.ts";
import { type UnigramName, unigramNames, unigramTokenizer } from "./unigram.ts";
import { wordPieceTokenizer } from "./word-piece.ts";

/** The files of a tokenizer, as they were read. */
export type VocabularyFileSource =
  | { readonly kind: "wordpiece"; readonly lines: string }
  | { readonly kind: "bpe"; readonly files: BpeFiles }
  | {
      readonly kind: "sentencepiece";
      readonly model: SentencePieceModel;
      /** Ids by token, where they are not those of the pieces. */ readonly ids?: ReadonlyMap<string, number>;
    };

type Roles = Readonly<Record<string, DefaultToken>>;

/** Special tokens by their roles. */
const roles = (texts: Readonly<Record<string, string>>): Roles =>
  Object.fromEntries(Object.entries(texts).map(([role, text]) => [`${role}_token`, text]));

const bert = roles({ unk: "[UNK]", sep: "[SEP]", pad: "[PAD]", cls: "[CLS]", mask: "[MASK]" });
const roberta = roles({ bos: "<s>", eos: "</s>", unk: "<unk>", sep: "</s>", pad: "<pad>", cls: "<s>", mask: "<mask>" });
const endOfText = roles({ bos: "<|endoftext|>", eos: "<|endoftext|>", unk: "<|endoftext|>" });
/** The mask token takes the white space before it. */
const spacedMask: Roles = { mask_token: { content: "<mask>", lstrip: true } };

const wordPieceClasses: Readonly<Record<string, { readonly kind: "bert" | "mpnet"; readonly roles: Roles }>> = {
  BertTokenizer: { kind: "bert", roles: bert },
  MPNetTokenizer: { kind: "mpnet", roles: { ...roberta, unk_token: "[UNK]", ...spacedMask } },
};

const bpeClasses: Readonly<Record<string, { readonly kind: BpeKind; readonly roles: Roles }>> = {
  GPT2Tokenizer: { kind: "gpt2", roles: endOfText },
  RobertaTokenizer: { kind: "roberta", roles: roberta },
  DebertaTokenizer: {
    kind: "deberta",
    roles: { ...bert, bos_token: "[CLS]", eos_token: "[SEP]" },
  },
  Qwen2Tokenizer: {
    kind: "qwen2",
    roles: roles({ unk: "<|endoftext|>", eos: "<|endoftext|>", pad: "<|endoftext|>" }),
  },
  CLIPTokenizer: {
    kind: "clip",
    roles: roles({ unk: "<|endoftext|>", bos: "<|startoftext|>", eos: "<|endoftext|>", pad: "<|endoftext|>" }),
  },
};

const unigramRoles: Readonly<Record<UnigramName, Roles>> = {
  T5Tokenizer: roles({ eos: "</s>", unk: "<unk>", pad: "<pad>" }),
  XLMRobertaTokenizer: roberta,
  CamembertTokenizer: { ...roberta, ...spacedMask },
  AlbertTokenizer: roles({ bos: "[CLS]", eos: "[SEP]", unk: "<unk>", sep: "[SEP]", pad: "<pad>", cls: "[CLS]", mask: "[MASK]" }),
  XLNetTokenizer: { ...roberta, ...roles({ sep: "<sep>", cls: "<cls>" }), ...spacedMask },
  DebertaV2Tokenizer: roles({
    bos: "[CLS]",
    eos: "[SEP]",
    unk: "[UNK]",
    sep: "[SEP]",
    pad: "[PAD]",
    cls: "[CLS]",
    mask: "[MASK]",
  }),
  MBartTokenizer: { ...roberta, ...spacedMask, src_lang: "en_XX" },
  MBart50Tokenizer: { ...roberta, ...spacedMask, src_lang: "en_XX" },
};

/** Classes of tokenizers that read the same files in the same way as another class. */
const sameAs: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    "DistilBert Electra MobileBert ConvBert SqueezeBert LayoutLM Lxmert Retribert Realm DPRQuestionEncoder DPRContextEncoder DPRReader Nezha NomicBert"
      .split(" ")
      .map((name) => [`${name}Tokenizer`, "BertTokenizer"]),
  ),
  ...Object.fromEntries("Bart Longformer LED Mvp".split(" ").map((name) => [`${name}Tokenizer`, "RobertaTokenizer"])),
  CodeGenTokenizer: "GPT2Tokenizer",
  MT5Tokenizer: "T5Tokenizer",
};

/** Names that say nothing of the kind: the files decide. */
const generalClasses: ReadonlySet<string> = new Set(["", "PreTrainedTokenizer", "PreTrainedTokenizerFast", "TokenizersBackend"]);

/**
 * The tokenizer that a class makes of its files. `className`: as `tokenizer_class` has it; empty if nothing states one. Throws Error for a class that is not known, or not with
 * files of this kind.
 */
export function tokenizerOfClass(source: VocabularyFileSource, className: string, config: TokenizerConfig): TokenizerJson {
  const plain = className.replace(/Fast$/, "");
  const name = sameAs[plain] ?? plain;
  const isGeneral = generalClasses.has(className) || generalClasses.has(name);
  if (source.kind === "wordpiece") {
    const known = ofName(wordPieceClasses, isGeneral ? "BertTokenizer" : name);
    if (known !== undefined) return wordPieceTokenizer(source.lines, new ClassSettings(config, known.roles), known.kind);
  } else if (source.kind === "bpe") {
    const known = ofName(bpeClasses, isGeneral ? "GPT2Tokenizer" : name);
    if (known !== undefined) return bpeTokenizer(source.files, new ClassSettings(config, known.roles), known.kind);
  } else {
    const { model, ids } = source;
    if (ids !== undefined && name === "MarianTokenizer" && model.algorithm === "unigram")
      return marianTokenizer(model, ids, new ClassSettings(config, roles({ eos: "</s>", unk: "<unk>", pad: "<pad>" })));
    if (name === "LlamaTokenizer" && model.algorithm === "bpe")
      return llamaTokenizer(model, new ClassSettings(config, roles({ unk: "<unk>", bos: "<s>", eos: "</s>" })));
    if (name === "GemmaTokenizer" && model.algorithm === "bpe")
      return gemmaTokenizer(
        model,
        new ClassSettings(config, roles({ unk: "<unk>", bos: "<bos>", eos: "<eos>", pad: "<pad>", mask: "<mask>" })),
      );
    if (isUnigramClass(name) && model.algorithm === "unigram")
      return unigramTokenizer(name, model, new ClassSettings(config, unigramRoles[name]));
    if (isGeneral && (model.algorithm === "unigram" || model.algorithm === "bpe"))
      return ownTokenizer(model, new ClassSettings(config, ownRoles(model)));
    if (isGeneral || isUnigramClass(name) || bpeModelClasses.includes(name))
      throw new Error(`it is a ${model.algorithm} model, which ${isGeneral ? "is not supported" : `${name} does not read`}`);
  }
  const known = {
    wordpiece: Object.keys(wordPieceClasses),
    bpe: Object.keys(bpeClasses),
    sentencepiece: [...bpeModelClasses, ...unigramNames, "MarianTokenizer"],
  };
  throw new Error(`the tokenizer class ${className} is not read from this file; known are ${known[source.kind].join(", ")}`);
}

const bpeModelClasses: readonly string[] = ["LlamaTokenizer", "GemmaTokenizer"];

function ofName<Value>(table: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

function isUnigramClass(name: string): name is UnigramName {
  return unigramNames.some((known) => known === name);
}
