/** The tokenizers that are compared: real files, and small ones made up so that every kind of step takes part. */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export interface Case {
  readonly name: string;
  readonly json: object;
  /** Path below shared/data, for a real file. */
  readonly file?: string;
  /** Texts that must turn up, such as added tokens. */
  readonly special?: readonly string[];
  /** False where 0.23 decodes an added token as its normalized form, which older versions and we do not. */
  readonly decodes?: boolean;
  /**
   * True where the Rust library counts characters that a character map takes out at the start of a text, or behind an added
   * token, as if they were still there, and so gives offsets for all that follows that lie before their place. Ours lie in place.
   */
  readonly startsVisibly?: boolean;
  /** Texts kept for the tests. */
  readonly goldenTexts?: number;
}

const shared = fileURLToPath(new URL("../../../shared/data/", import.meta.url));

const files: readonly (readonly [name: string, file: string, goldenTexts: number])[] = [
  ["WordPiece: MiniLM", "all-MiniLM-L6-v2/tokenizer.json", 46],
  ["BPE of bytes: GPT-2", "gpt2-tiny-random/tokenizer.json", 46],
  ["BPE with byte fallback: Llama", "tiny-random-llama/tokenizer.json", 46],
  ["Unigram: T5", "tokenizers/t5-small/tokenizer.json", 46],
  ["BPE with suffix: CLIP", "tokenizers/clip/tokenizer.json", 20],
  ["Unigram: DeBERTa", "tiny-random-deberta-v3/tokenizer.json", 20],
  ["BPE: BART", "tiny-random-bart/tokenizer.json", 20],
  ["BPE: Qwen", "tiny-random-qwen2/tokenizer.json", 20],
  ["BPE: ModernBERT", "tiny-random-modernbert/tokenizer.json", 20],
  ["BPE: Whisper", "tiny-random-whisper/tokenizer.json", 20],
  ["BPE: Gemma", "tiny-random-gemma/tokenizer.json", 20],
  ["WordLevel: wav2vec2", "tiny-random-wav2vec2-ctc/tokenizer.json", 20],
  ["Unigram: T5, tiny", "tiny-random-t5/tokenizer.json", 20],
  ["BPE: TrOCR", "tiny-random-trocr/tokenizer.json", 10],
  ["BPE: CLIP, tiny", "tiny-random-clip/tokenizer.json", 10],
  ["WordPiece: NER", "minilm-l3-ner/tokenizer.json", 10],
];

export function cases(): Case[] {
  const real = files.flatMap(([name, file, goldenTexts]): Case[] => {
    const path = shared + file;
    if (!existsSync(path)) return [];
    const json = JSON.parse(readFileSync(path, "utf8")) as { added_tokens?: { content: string }[] };
    const special = (json.added_tokens ?? []).slice(0, 8).map(({ content }) => content);
    return [{ name, json, file, special, goldenTexts, startsVisibly: file.includes("t5-small") }];
  });
  return [...real, ...madeUp()];
}

const letters = Array.from("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,!?'-_<>|/#▁ ");

function madeUp(): Case[] {
  const vocab = Object.fromEntries(["<unk>", ...letters, "the", "cat", "東", "京", "é", "[X]"].map((token, id) => [token, id]));
  const level = { type: "WordLevel", vocab, unk_token: "<unk>" };
  const characters = { type: "Split", pattern: { Regex: "" }, behavior: "Isolated", invert: false };
  const normalizer = (name: string, step: object): Case => ({
    name: `normalizer ${name}`,
    json: bare({ normalizer: step, pre_tokenizer: characters, model: level }),
  });
  const cutting = (name: string, step: object): Case => ({
    name: `pre-tokenizer ${name}`,
    json: bare({ pre_tokenizer: step, model: level }),
  });
  const split = (pattern: object, behavior: string, invert = false): Case =>
    cutting(`Split ${JSON.stringify(pattern)} ${behavior} ${invert}`, { type: "Split", pattern, behavior, invert });
  const behaviors = ["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"];
  const regexes = [
    "\\s+",
    "[^\\W\\d_]+",
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
    "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}++|\\p{N}{1,3}+| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*+|\\s++$|\\s*[\\r\\n]|\\s+(?!\\S)|\\s",
    "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+|\\p{N}",
    "[\\p{L}&&[^\\p{Han}]]+|[\\p{Han}]+",
    "(?<=a).|^t|e$|[[:punct:]]+",
  ];
  return [
    ...["NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt", "ByteLevel"].map((type) => normalizer(type, { type })),
    normalizer("Bert, accents kept", {
      type: "BertNormalizer",
      clean_text: true,
      handle_chinese_chars: true,
      strip_accents: false,
      lowercase: true,
    }),
    normalizer("Bert, cased", {
      type: "BertNormalizer",
      clean_text: true,
      handle_chinese_chars: false,
      strip_accents: true,
      lowercase: false,
    }),
    normalizer("NFD, StripAccents, Lowercase", inTurn([{ type: "NFD" }, { type: "StripAccents" }, { type: "Lowercase" }])),
    normalizer("NFKD, Lowercase, NFC", inTurn([{ type: "NFKD" }, { type: "Lowercase" }, { type: "NFC" }])),
    normalizer("Strip", { type: "Strip", strip_left: true, strip_right: true }),
    normalizer("Prepend", { type: "Prepend", prepend: "▁x" }),
    normalizer("Replace text", { type: "Replace", pattern: { String: "e" }, content: "$&" }),
    normalizer("Replace regex", { type: "Replace", pattern: { Regex: " {2,}|[a-c]+" }, content: "▁" }),
    normalizer("Replace by nothing", { type: "Replace", pattern: { Regex: "\\p{M}|\\s" }, content: "" }),
    ...["Whitespace", "WhitespaceSplit", "BertPreTokenizer", "UnicodeScripts"].map((type) => cutting(type, { type })),
    ...behaviors.map((behavior) => cutting(`Punctuation ${behavior}`, { type: "Punctuation", behavior })),
    cutting("Digits", { type: "Digits", individual_digits: false }),
    cutting("Digits alone", { type: "Digits", individual_digits: true }),
    cutting("CharDelimiterSplit", { type: "CharDelimiterSplit", delimiter: "t" }),
    cutting("FixedLength", { type: "FixedLength", length: 3 }),
    ...["always", "first", "never"].flatMap((scheme) =>
      [true, false].map((splits) =>
        cutting(`Metaspace ${scheme} ${splits}`, { type: "Metaspace", replacement: "▁", prepend_scheme: scheme, split: splits }),
      ),
    ),
    cutting("ByteLevel with prefix", { type: "ByteLevel", add_prefix_space: true, trim_offsets: true, use_regex: true }),
    cutting(
      "Scripts, then spaces, then marks",
      inTurn(
        [
          { type: "UnicodeScripts" },
          { type: "WhitespaceSplit" },
          { type: "Metaspace", replacement: "▁", prepend_scheme: "always", split: true },
        ],
        "pretokenizers",
      ),
    ),
    ...behaviors.flatMap((behavior) => [split({ String: "e" }, behavior), split({ Regex: "\\d|[a-c]+" }, behavior, true)]),
    ...regexes.map((regex) => split({ Regex: regex }, "Isolated")),
    ...addedTokenCases(level),
    ...modelCases(),
  ];
}

function addedTokenCases(level: object): Case[] {
  const token = (content: string, more: object = {}): object => ({
    content,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
    special: true,
    ...more,
  });
  const added = [
    token("[X]"),
    token("[X]]"),
    token("<mask>", { lstrip: true }),
    token("<end>", { rstrip: true, lstrip: true }),
    token("cat", { single_word: true, special: false }),
    token("The", { normalized: true, special: false }),
    token("Straße", { normalized: true, special: false, lstrip: true, rstrip: true }),
  ].map((one, index) => ({ id: 200 + index, ...one }));
  const special = ["[X]", "[X]]", "<mask>", " <mask>  ", "<end>", "\t<end> ", "cat", " cat ", "The", "THE", "strasse", "straße "];
  const lower = { type: "Lowercase" };
  return [
    {
      name: "added tokens",
      json: bare({ added_tokens: added, normalizer: lower, pre_tokenizer: { type: "Whitespace" }, model: level }),
      special,
      goldenTexts: 30,
      decodes: false,
    },
    {
      name: "added tokens, Metaspace first",
      json: bare({
        added_tokens: added,
        normalizer: inTurn([{ type: "NFKC" }, lower]),
        pre_tokenizer: { type: "Metaspace", replacement: "▁", prepend_scheme: "first", split: true },
        model: level,
      }),
      special,
      decodes: false,
    },
  ];
}

function modelCases(): Case[] {
  const tokens = [
    "<unk>",
    ...letters,
    "th",
    "he",
    "the",
    "##e",
    "##t",
    "##h",
    "##he",
    "ca",
    "##a",
    "##at",
    "cat</w>",
    "t</w>",
    "e</w>",
    "at</w>",
  ];
  const vocab = Object.fromEntries(tokens.map((token, id) => [token, id]));
  const spaces = { type: "WhitespaceSplit" };
  const bpe = {
    type: "BPE",
    dropout: null,
    unk_token: "<unk>",
    continuing_subword_prefix: null,
    end_of_word_suffix: null,
    fuse_unk: false,
    byte_fallback: false,
    ignore_merges: false,
    vocab,
    merges: ["t h", "h e", "th e", "c a"],
  };
  const bytes = Array.from({ length: 256 }, (_token, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`);
  const scores = [
    ["<unk>", 0],
    ...letters.map((letter, index) => [letter, -4 - index / 50]),
    ["the", -3],
    ["cat", -3.5],
    ["▁the", -2.5],
    ...bytes.map((token) => [token, -9]),
  ];
  const unigram = { type: "Unigram", unk_id: 0, vocab: scores, byte_fallback: true };
  return [
    { name: "BPE", json: bare({ pre_tokenizer: spaces, model: bpe }) },
    { name: "BPE, unknown fused", json: bare({ model: { ...bpe, fuse_unk: true } }) },
    {
      name: "BPE, prefix",
      json: bare({
        pre_tokenizer: spaces,
        model: {
          ...bpe,
          continuing_subword_prefix: "##",
          merges: [
            ["t", "##h"],
            ["##h", "##e"],
            ["th", "##e"],
            ["##a", "##t"],
          ],
        },
      }),
    },
    {
      name: "BPE, suffix",
      json: bare({ pre_tokenizer: spaces, model: { ...bpe, end_of_word_suffix: "</w>", merges: ["a t</w>", "t h"] } }),
    },
    {
      name: "BPE, merges ignored",
      json: bare({ pre_tokenizer: spaces, model: { ...bpe, ignore_merges: true, merges: ["t h"] } }),
    },
    {
      name: "Unigram with byte fallback",
      json: bare({
        pre_tokenizer: { type: "Metaspace", replacement: "▁", prepend_scheme: "always", split: true },
        model: unigram,
      }),
    },
    { name: "Unigram", json: bare({ normalizer: { type: "NFKC" }, model: { ...unigram, byte_fallback: false } }) },
  ];
}

function inTurn(steps: readonly object[], key: "normalizers" | "pretokenizers" = "normalizers"): object {
  return { type: "Sequence", [key]: steps };
}

function bare(parts: object): object {
  return {
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: [],
    normalizer: null,
    pre_tokenizer: null,
    post_processor: null,
    decoder: null,
    ...parts,
  };
}
