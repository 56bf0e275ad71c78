/**
 * How text is split before byte-level BPE, by the names that llama.cpp gives to it (`tokenizer.ggml.pre`), so that a file gives the same tokens whichever engine runs it. Source:
 * `llm_tokenizer_bpe` and `llama_vocab::impl::load` of llama.cpp (src/llama-vocab.cpp, src/unicode.cpp), release 0.5.0. Its categories \p{Lu}, \p{Ll}, \p{Lt}, \p{Lm} and \p{Lo}
 * are all \p{L}, and text is not brought into a Unicode normal form.
 */
import type { ComponentConfig } from "../config/component-config.ts";
import { byteLevel, sequence, splitRegex } from "../config/components.ts";

/** A rule that splits text. */
export interface PreTokenization {
  readonly pre_tokenizer: ComponentConfig;
  /** Whether a piece that is a token as a whole is not merged from its bytes. */
  readonly ignoresMerges?: boolean;
  /** Whether texts begin with the BOS token where the file does not state it. */
  readonly addsBos?: boolean;
}

const contractions = "(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])";
const spaces = "|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
/** What follows the words and numbers in cl100k_base and in those made like it. */
const signsAndSpaces = `| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*${spaces}`;
/** Words of cl100k_base with numbers of up to `digits` digits. */
const wordsAndNumbers = (digits: string): string =>
  `${contractions}|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}${digits}${signsAndSpaces}`;
/** Words of o200k_base, which end where lower case turns to upper case; llama.cpp knows the cases of ASCII. `marks`: combining marks that are parts of words. */
const casedWords = (ending: string, marks: string): string => {
  const before = "[^\\r\\n\\p{L}\\p{N}]?";
  const [upper, lower] = [`[[\\p{L}${marks}]&&[^a-z]]`, `[[\\p{L}${marks}]&&[^A-Z]]`];
  return `${before}${upper}*${lower}+${ending}|${before}${upper}+${lower}*${ending}`;
};
const signsAndSlashes = `| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*${spaces}`;
/** Words and signs of DeepSeek V3, after its numbers and Han characters. */
const signsOrWords = (afterSigns: string, lines: string): string =>
  `[!"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_\`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+${afterSigns}|${lines}|\\s+(?!\\S)|\\s+`;
const gpt2Words = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";
const hanAndKana = "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+";
/** These without the white space among them, which llama.cpp does not match with characters. */
const hanAndHangul = "[[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]&&\\S]+";
/** Han characters by the blocks that llama.cpp names. */
const han = "\u4e00-\u9fff\u3400-\u4dbf\u{20000}-\u{2a6df}\u{2a700}-\u{2ebef}\uf900-\ufaff\u{2f800}-\u{2fa1f}";
/** Numbers in groups of three from their end, the first with what precedes it. */
const groupsOfThree = "[^\\p{N}]*\\p{N}{1,3}(?=(?:\\p{N}{3})*(?!\\p{N}))";
/** Letters of DeepSeek LLM: those of scripts that have cases. */
const casedLetters =
  "A-Za-z\u00b5\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u01ba\u01bc-\u01bf\u01c4-\u0293\u0295-\u02af\u0370-\u0373\u0376\u0377\u037b-\u037d\u037f\u0386\u0388-\u038a\u038c\u038e-\u03a1\u03a3-\u03f5\u03f7-\u0481\u048a-\u052f\u0531-\u0556\u10a0-\u10c5\u13a0-\u13f5\u13f8-\u13fd\u1c90-\u1cba\u1cbd-\u1cbf\u1d00-\u1d2b\u1d6b-\u1d77\u1d79-\u1d9a\u1e00-\u1f15\u1f18-\u1f1d\u1f20-\u1f45\u1f48-\u1f4d\u1f50-\u1f57\u1f59\u1f5b\u1f5d\u1f5f-\u1f7d\u1f80-\u1fb4\u1fb6-\u1fbc\u1fbe\u1fc2-\u1fc4\u1fc6-\u1fcc\u1fd0-\u1fd3\u1fd6-\u1fdb\u1fe0-\u1fec\u1ff2-\u1ff4\u1ff6-\u1ffc\u2102\u2107\u210a-\u2113\u2115\u2119-\u211d\u2124\u2126\u2128\u212a-\u212d\u212f-\u2134\u2139\u213c-\u213f\u2145-\u2149\u214e\u2183\u2184\u2c00-\u2c7b\u2c7e-\u2ce4\u2ceb-\u2cee\u2cf2\u2cf3\ua640-\ua66d\ua680-\ua69b\ua722-\ua76f\ua771-\ua787\ua78b-\ua78e\uab70-\uabbf\ufb00-\ufb06\ufb13-\ufb17\uff21-\uff3a\uff41-\uff5a\u{10400}-\u{1044f}\u{104b0}-\u{104d3}\u{104d8}-\u{104fb}\u{10c80}-\u{10cb2}\u{10cc0}-\u{10cf2}\u{118a0}-\u{118df}\u{1e900}-\u{1e943}";

/** Splits by several patterns in turn: what a pattern does not match stays a piece between its matches. */
const by = (...patterns: readonly string[]): PreTokenization => ({
  pre_tokenizer: sequence("pretokenizers", [
    ...patterns.map((pattern) => splitRegex(pattern, "Isolated")),
    byteLevel(false, false),
  ]),
});

const gpt2: PreTokenization = { pre_tokenizer: byteLevel(false) };
/** Each digit apart, then as GPT-2. */
const digitsThenGpt2: PreTokenization = {
  pre_tokenizer: sequence("pretokenizers", [{ type: "Digits", individual_digits: true }, byteLevel(false)]),
};
const llama3Words = by(wordsAndNumbers("{1,3}"));
const llama3: PreTokenization = { ...llama3Words, ignoresMerges: true, addsBos: true };
const qwen2 = by(wordsAndNumbers(""));
const deepseekV3 = by("\\p{N}{1,3}", hanAndKana, signsOrWords("[\\r\\n]*", "\\s*[\\r\\n]+"));
const gpt4o = by(`${casedWords(`${contractions}?`, "")}|\\p{N}{1,3}${signsAndSlashes}`);
const bailing = by(
  `'(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+`,
);
const bloomWords = " ?[^(\\s|.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c)]+";
/** Words of letters and marks without cases, which end in a contraction. */
const words = "[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+";

/** Ways to split text, with their names in files. */
const ways: readonly (readonly [names: string, way: PreTokenization])[] = [
  ["default", by("[\\p{P}\\$\\+<=>\\^~\\|]+", gpt2Words, "\\p{N}+", "[0-9][0-9][0-9]")],
  [
    "gpt-2 gpt2 phi-2 phi2 mpt olmo jais jina-es jina-de jina-v1-en jina-v2-es jina-v2-de jina-v2-code roberta-bpe gigachat a.x-4.0 mellum modern-bert exaone4 trillion granite-docling",
    gpt2,
  ],
  ["smollm starcoder refact command-r codeshell exaone minerva-7b mellum2", digitsThenGpt2],
  ["llama-bpe llama3 llama-v3 falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano", llama3],
  ["dbrx smaug smaug-bpe glm4 chatglm-bpe", llama3Words],
  ["qwen2 deepseek-r1-qwen kormo f2llmv2 megrez stablelm2 hunyuan solar-open grok-2", qwen2],
  ["qwen35", by(`${contractions}|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|\\p{N}| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*${spaces}`)],
  ["deepseek-v3 hunyuan-dense joyai-llm hy_v4", deepseekV3],
  ["spark2_5", by("\\p{N}{1,3}", hanAndKana, signsOrWords("", "[\\r\\n]"), "\\p{N}")],
  [
    "deepseek-llm",
    by(
      "[\\r\\n]",
      `\\s?[${casedLetters}]+`,
      "\\s?[!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3001-\u3002]+",
      "\\s+\\z",
      hanAndHangul,
      "\\p{N}+",
    ),
  ],
  ["deepseek-coder", by("[\\r\\n]", "\\s?\\p{L}+", "\\s?\\p{P}+", hanAndHangul, "\\p{N}")],
  [
    "youtu",
    {
      ...by(
        `[\uac00-\ud7a3\u3131-\u318e]+|[\uff01\u2026\u201c\u201d\u2018\u2019\u2014\uff1a\uff1b\uff0c\u3001-\u303f\ufe30-\ufe4f]+|[\u3105-\u312f]+|${hanAndKana}`,
        `${words}${contractions}?|\\p{N}${signsAndSlashes}`,
      ),
      ignoresMerges: true,
    },
  ],
  ["falcon", by("[\\p{P}\\$\\+<=>\\^~\\|`]+", gpt2Words, "[0-9][0-9][0-9]")],
  ["poro-chat bloom gpt3-finnish", by(bloomWords)],
  ["viking", by(bloomWords, "\\p{N}")],
  ["tekken", { ...by(`${casedWords("", "")}|\\p{N}${signsAndSlashes}`), ignoresMerges: true, addsBos: true }],
  ["gpt-4o llama4 kanana2 talkie minimax-m2", gpt4o],
  [
    "granite-embed-multi-97m",
    { ...by(`${casedWords(`${contractions}?`, "\\p{M}")}|\\p{N}{1,3}${signsAndSlashes}`), ignoresMerges: true },
  ],
  ["tiny_aya cohere2moe", by(groupsOfThree, `${words}${contractions}?|\\p{N}{1,3}${signsAndSlashes}`)],
  ["kimi-k2", by(`[${han}]+|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}&&[^${han}]]+${contractions}?|\\p{N}{1,3}${signsAndSpaces}`)],
  ["bailingmoe bailingmoe2 llada-moe", bailing],
  ["seed-coder", by(`${contractions}|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}\\r\\n]+${spaces}`)],
  ["ufakzeka", by(`[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}${signsAndSpaces}`)],
  [
    "afmoe",
    by(
      groupsOfThree,
      "[\u4e00-\u9fff\u3400-\u4dbf\u8c48-\ufaff\u3040-\u309f\u30a0-\u30ff\uff65-\uff9f\u2f00-\u2fdf\u0e40-\u0e7f\u0e80-\u0eff\u1780-\u17ff\u1000-\u109f\uaa60-\uaa7f\ua9e0-\ua9ff\uac00-\ud7af\u1100-\u11ff]+",
      signsOrWords("[\\r\\n]*", "\\s*[\\r\\n]+"),
    ),
  ],
  ["superbpe", by("\\p{N}+", "(?=(?:[0-9]{3})+(?![0-9]))")],
  [
    "chameleon",
    {
      ...by("<sentinel:[0-9]+>", "(?:IMGIMG)[A-I]{1,4}Z", "[\\t\\n]|    |  ", "\\p{N}", "[\\p{P}!-/:-@\\[-`{-~]", gpt2Words),
      addsBos: true,
    },
  ],
  ["laguna", by("[^\\n]+|[\\n]+", wordsAndNumbers(""))],
  [
    "exaone-moe",
    by(
      `${contractions}|[^\\r\\n\\p{L}\\p{N}]?(?:\\p{L}\\p{M}*(?: \\p{L}\\p{M}*)*)+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]?|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+`,
    ),
  ],
  [
    "minicpm5",
    { ...by("\\p{N}{1,3}", `${contractions}|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}+${signsAndSpaces}`), ignoresMerges: true },
  ],
  [
    "jais-2",
    by(
      `${contractions}|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|${[512, 256, 128, 64, 32, 16, 8, 4, "1,2"].map((count) => `\\s{${count}}(?!\\S)`).join("|")}|\\s`,
    ),
  ],
];

/** By name. */
const known: ReadonlyMap<string, PreTokenization> = new Map(
  ways.flatMap(([names, way]) => names.split(" ").map((name) => [name, way] as const)),
);

/** The names of all known rules that split text. */
export const preTokenizerNames: readonly string[] = [...known.keys()];

/** The rule of this name. Throws Error for an unknown name, since any other rule would give other tokens. */
export function getPreTokenization(name: string): PreTokenization {
  const found = known.get(name);
  if (found !== undefined) return found;
  throw new Error(
    `its text is split as "${name}" (tokenizer.ggml.pre), which is not known; known are ${preTokenizerNames.join(", ")}`,
  );
}
