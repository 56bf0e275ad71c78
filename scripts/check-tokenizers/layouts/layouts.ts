/** Folders of models without tokenizer.json, made of the vocabularies in shared/data, and folders whose files state tokens that tokenizer.json lacks. */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type ModelFields, sentencePieceBytes } from "./sentencepiece-bytes.ts";

/** A model's folder. */
export interface Layout {
  readonly name: string;
  /** Content by name of the file. */
  readonly files: Readonly<Record<string, string | Uint8Array>>;
  /** Texts that must turn up. */
  readonly special: readonly string[];
  /** See `Case.startsVisibly`. */
  readonly startsVisibly?: boolean;
  /** Whether transformers gives no offsets. */
  readonly onlyIds?: boolean;
}

const shared = fileURLToPath(new URL("../../../../shared/data/", import.meta.url));

interface TokenizerJson {
  readonly model: {
    readonly vocab: Readonly<Record<string, number>> & readonly (readonly [string, number])[];
    readonly merges: readonly unknown[];
  };
  readonly normalizer: { readonly precompiled_charsmap: string };
}

/** All folders; none if shared/data is not there. */
export function layouts(): readonly Layout[] {
  if (!existsSync(shared)) return [];
  return [...wordPiece(), ...bytePairs(), ...unigram(), ...sentencePieceBpe(), ...merged()];
}

function text(path: string): string {
  return readFileSync(shared + path, "utf8");
}

function json(path: string): TokenizerJson {
  return JSON.parse(text(path)) as TokenizerJson;
}

/** A folder with a `model_type`, a tokenizer_config.json and a vocabulary. */
function folder(
  name: string,
  type: string,
  config: object | undefined,
  files: Layout["files"],
  more: Partial<Pick<Layout, "special" | "startsVisibly" | "onlyIds">> = {},
): Layout {
  const stated: Layout["files"] = config === undefined ? {} : { "tokenizer_config.json": JSON.stringify(config) };
  return { name, files: { "config.json": JSON.stringify({ model_type: type }), ...stated, ...files }, special: [], ...more };
}

function wordPiece(): readonly Layout[] {
  const vocabulary = { "vocab.txt": text("minilm-l3-ner/vocab.txt") };
  const special = ["[CLS]", "[MASK]", " [SEP] ", "[unused1]"];
  const mpnet = `<s>\n<pad>\n</s>\n<mask>\n${vocabulary["vocab.txt"]}`;
  return [
    folder("bert", "bert", undefined, vocabulary, { special }),
    folder("bert-cased", "bert", { tokenizer_class: "BertTokenizer", do_lower_case: false }, vocabulary, { special }),
    folder(
      "bert-accents",
      "distilbert",
      {
        tokenizer_class: "DistilBertTokenizerFast",
        strip_accents: false,
        tokenize_chinese_chars: false,
        never_split: ["[unused1]"],
      },
      { ...vocabulary, "special_tokens_map.json": JSON.stringify({ mask_token: { content: "[unused2]", lstrip: true } }) },
      { special: [...special, " [unused2]"] },
    ),
    folder("mpnet", "mpnet", { do_lower_case: true }, { "vocab.txt": mpnet }, { special: ["<s>", " <mask>", "</s>"] }),
  ];
}

function bytePairs(): readonly Layout[] {
  const files = (model: string): Layout["files"] => ({
    "vocab.json": text(`${model}/vocab.json`),
    "merges.txt": text(`${model}/merges.txt`),
  });
  const bart = files("tiny-random-bart");
  const gpt2 = files("tiny-random-gpt2");
  return [
    folder("gpt2", "gpt2", undefined, gpt2, { special: ["<|endoftext|>"] }),
    folder("gpt2-spaced", "gpt2", { add_prefix_space: true, add_bos_token: true }, gpt2, { special: ["<|endoftext|>"] }),
    folder("roberta", "roberta", { tokenizer_class: "RobertaTokenizer" }, bart, { special: ["<s>", " <mask>", "</s>"] }),
    folder(
      "bart",
      "bart",
      undefined,
      {
        ...bart,
        "special_tokens_map.json": JSON.stringify({ mask_token: { content: "<mask>", lstrip: true, normalized: true } }),
      },
      { special: [" <mask>", "</s>"] },
    ),
    folder(
      "qwen2",
      "qwen2",
      {
        tokenizer_class: "Qwen2Tokenizer",
        eos_token: "<|im_end|>",
        additional_special_tokens: ["<|im_start|>", "<|im_end|>"],
        added_tokens_decoder: {
          400: { content: "<|endoftext|>", special: true },
          401: { content: "<|im_start|>", special: true },
          402: { content: "<|im_end|>", special: true },
          403: { content: "<tool_call>", special: false, normalized: false },
        },
      },
      bart,
      { special: ["<|im_start|>", "<|im_end|>", "<tool_call>", "<|endoftext|>"] },
    ),
    folder("clip", "clip", undefined, files("tiny-random-clip"), { special: ["<|startoftext|>", "<|endoftext|>"] }),
  ];
}

function unigram(): readonly Layout[] {
  const t5 = json("tokenizers/t5-small/tokenizer.json");
  const characterMap = Buffer.from(t5.normalizer.precompiled_charsmap, "base64");
  const words = t5.model.vocab.slice(3, 6000).map(([token, score]) => [token, score, 1] as const);
  const pieces = (special: readonly (readonly [string, number])[]): ModelFields["pieces"] => [
    ...special.map(([token, type]) => [token, 0, type] as const),
    ...words,
  ];
  const unknownFirst: readonly (readonly [string, number])[] = [
    ["<unk>", 2],
    ["<s>", 3],
    ["</s>", 3],
  ];
  const bytes = (special: readonly (readonly [string, number])[], fields: Partial<ModelFields> = {}): Uint8Array =>
    sentencePieceBytes({ pieces: pieces(special), algorithm: 1, characterMap, ...fields });
  const fairseq = { "sentencepiece.bpe.model": bytes(unknownFirst) };
  const visibly = { startsVisibly: true };
  return [
    folder(
      "t5",
      "t5",
      { tokenizer_class: "T5Tokenizer", extra_ids: 20 },
      {
        "spiece.model": bytes(
          [
            ["<pad>", 3],
            ["</s>", 3],
            ["<unk>", 2],
          ],
          { unknownId: 2, bosId: -1, eosId: 1 },
        ),
      },
      { special: ["<extra_id_0>", "</s>", " <extra_id_19> "], ...visibly },
    ),
    folder("xlm-roberta", "xlm-roberta", { mask_token: { content: "<mask>", lstrip: true, __type: "AddedToken" } }, fairseq, {
      special: ["<s>", " <mask>"],
      ...visibly,
    }),
    folder("camembert", "camembert", undefined, fairseq, { special: ["<s>", " <mask>"], ...visibly }),
    folder("mbart", "mbart", { tokenizer_class: "MBartTokenizer", src_lang: "de_DE" }, fairseq, {
      special: ["en_XX", " <mask>"],
    }),
    folder("mbart50", "mbart50", { tokenizer_class: "MBart50Tokenizer" }, fairseq, { special: ["en_XX", "sl_SI"], ...visibly }),
    folder(
      "albert",
      "albert",
      undefined,
      {
        "spiece.model": bytes(
          [
            ["<pad>", 3],
            ["<unk>", 2],
            ["[CLS]", 3],
            ["[SEP]", 3],
            ["[MASK]", 3],
          ],
          { unknownId: 1, bosId: 2, eosId: 3 },
        ),
      },
      { special: ["[CLS]", "``", "''", "[MASK]"], ...visibly },
    ),
    folder(
      "deberta-v2",
      "deberta-v2",
      { do_lower_case: true, split_by_punct: true },
      {
        "spm.model": bytes(
          [
            ["[PAD]", 3],
            ["[CLS]", 3],
            ["[SEP]", 3],
            ["[UNK]", 2],
          ],
          { unknownId: 3 },
        ),
      },
      { special: ["[CLS]", "[MASK]"] },
    ),
    folder(
      "xlnet",
      "xlnet",
      undefined,
      { "spiece.model": bytes([...unknownFirst, ["<sep>", 3], ["<cls>", 3], ["<pad>", 3], ["<mask>", 3]]) },
      {
        special: ["<sep>", " <mask>"],
        ...visibly,
      },
    ),
    folder(
      "marian",
      "marian",
      { source_lang: "en", target_lang: "de" },
      {
        "source.spm": bytes(unknownFirst),
        "target.spm": bytes(unknownFirst),
        "vocab.json": JSON.stringify(
          Object.fromEntries(
            ["</s>", "<unk>", ">>deu<<", "É", "日本", ...words.slice(0, 5000).map(([token]) => token), "<pad>"].map(
              (token, id) => [token, id],
            ),
          ),
        ),
      },
      { special: ["</s>", "É", "日本", "日本É"], onlyIds: true, ...visibly },
    ),
    folder(
      "own-unigram",
      "unknown-type",
      {},
      { "tokenizer.model": bytes([...unknownFirst, ["<user>", 4]]) },
      {
        special: ["<user>", "</s>", "  "],
        ...visibly,
      },
    ),
  ];
}

function sentencePieceBpe(): readonly Layout[] {
  const { vocab } = json("tiny-random-llama/tokenizer.json").model;
  const tokens = Object.entries(vocab as Readonly<Record<string, number>>).toSorted(([, a], [, b]) => a - b);
  const pieces = (more: ModelFields["pieces"] = []): ModelFields["pieces"] => [
    ...tokens.map(([token], id) => {
      const type = id === 0 ? 2 : id < 3 ? 3 : /^<0x..>$/.test(token) ? 6 : 1;
      return [token, type === 1 ? -id : 0, type] as const;
    }),
    ...more,
  ];
  const bytes = (fields: Partial<ModelFields> = {}): Layout["files"] => ({
    "tokenizer.model": sentencePieceBytes({
      pieces: pieces(),
      algorithm: 2,
      byteFallback: true,
      removesSpaces: false,
      ...fields,
    }),
  });
  const special = ["<s>", "</s>", "  "];
  const decoder = {
    0: { content: "<unk>", special: true },
    1: { content: "<s>", special: true },
    2: { content: "</s>", special: true },
    512: { content: "<extra>", special: false },
  };
  return [
    folder(
      "llama",
      "llama",
      { tokenizer_class: "LlamaTokenizer", add_bos_token: true, add_eos_token: false, legacy: false },
      bytes(),
      { special },
    ),
    folder(
      "llama-legacy",
      "llama",
      {
        tokenizer_class: "LlamaTokenizerFast",
        add_bos_token: true,
        add_eos_token: true,
        legacy: true,
        added_tokens_decoder: decoder,
      },
      bytes(),
      { special: [...special, "<extra>"] },
    ),
    folder(
      "gemma",
      "gemma",
      { add_bos_token: true, bos_token: "<s>", eos_token: "</s>", pad_token: "<unk>", mask_token: "</s>" },
      bytes(),
      { special },
    ),
    folder(
      "own-bpe",
      "unknown-type",
      { tokenizer_class: "PreTrainedTokenizerFast", legacy: false, add_bos_token: true },
      bytes(),
      { special },
    ),
    folder(
      "own-bpe-defined",
      "unknown-type",
      {},
      bytes({
        pieces: pieces([
          ["<|user|>", 0, 4],
          ["a.b", 0, 4],
        ]),
        removesSpaces: true,
        addsSpace: true,
      }),
      { special: [...special, "<|user|>", "a.b"] },
    ),
  ];
}

/** Tokens that tokenizer.json lacks. */
function merged(): readonly Layout[] {
  const bart = JSON.parse(text("tiny-random-bart/tokenizer.json")) as { added_tokens: unknown };
  const stripped = { "tokenizer.json": JSON.stringify({ ...bart, added_tokens: [] }) };
  const special = ["<s>", " <mask>", "[STOP]", " the", "<x>", "<y>"];
  return [
    folder(
      "stripped-legacy",
      "unknown-type",
      { tokenizer_class: "PreTrainedTokenizerFast", eos_token: "the" },
      {
        ...stripped,
        "special_tokens_map.json": JSON.stringify({
          bos_token: "<s>",
          eos_token: "</s>",
          mask_token: { content: "<mask>", lstrip: true, normalized: false },
          additional_special_tokens: ["<x>"],
        }),
        "added_tokens.json": JSON.stringify({ "<x>": 400, "<y>": 401 }),
      },
      { special },
    ),
    folder(
      "stripped-named",
      "unknown-type",
      {
        tokenizer_class: "PreTrainedTokenizerFast",
        eos_token: "the",
        unk_token: "[STOP]",
        extra_special_tokens: { x_token: "<x>" },
      },
      stripped,
      { special },
    ),
    folder(
      "replaced",
      "unknown-type",
      {
        tokenizer_class: "PreTrainedTokenizerFast",
        mask_token: "<mask>",
        added_tokens_decoder: {
          4: { content: "<mask>", lstrip: true, special: true },
          405: { content: "<y>", special: false, normalized: true, single_word: true },
          404: { content: "<x>", rstrip: true },
        },
      },
      { "tokenizer.json": JSON.stringify(bart) },
      { special },
    ),
  ];
}
