/**
 * What `@huggingface/tokenizers` 0.2.0 does otherwise than Hugging Face's own Rust library (tokenizers 0.21.4, with which they
 * were compared character by character), mended before it sees the file: each step it gets wrong is written as steps it gets
 * right. Encoding costs nothing more, and added tokens stay whole, since the library takes them out before it normalizes.
 */
import type { Step, TokenizerJson } from "./tokenizer-json.ts";

/** The same tokenizer in the words the library understands rightly. */
export function mendForLibrary(json: TokenizerJson): TokenizerJson {
  return {
    ...json,
    normalizer: json.normalizer && mendNormalizer(json.normalizer),
    pre_tokenizer: json.pre_tokenizer && mendPreTokenizer(json.pre_tokenizer),
  };
}

/**
 * Han characters beyond the 16-bit plane that BertNormalizer sets apart by spaces; the library looks at halves of such
 * characters and finds none. The gap at U+2B820 is the Rust library's own.
 */
const astralHan = [
  [0x20000, 0x2a6df],
  [0x2a700, 0x2b81f],
  [0x2b920, 0x2ceaf],
  [0x2f800, 0x2fa1f],
]
  .map(([first = 0, last = 0]) => `${String.fromCodePoint(first)}-${String.fromCodePoint(last)}`)
  .join("");

/** The library hands the content to `String.replaceAll`, where "$&" is the match. */
const spaceAstralHan: Step = { type: "Replace", pattern: { Regex: `[${astralHan}]` }, content: " $& " };

/** JavaScript lowercases a final Σ to ς; Rust's tokenizers, one character at a time, to σ. */
const lowercaseSigma: Step = { type: "Replace", pattern: { String: "Σ" }, content: "σ" };

function mendNormalizer(step: Step): Step {
  switch (step.type) {
    case "Sequence":
      return { ...step, normalizers: stepsOf(step["normalizers"]).map(mendNormalizer) };
    case "BertNormalizer": {
      const before = [
        ...(step["handle_chinese_chars"] === true ? [spaceAstralHan] : []),
        ...(step["lowercase"] === true ? [lowercaseSigma] : []),
      ];
      return { type: "Sequence", normalizers: [...before, step] };
    }
    case "Lowercase":
      return { type: "Sequence", normalizers: [lowercaseSigma, step] };
    case "Replace": {
      const { content } = step;
      return typeof content === "string" ? { ...step, content: content.replaceAll("$", "$$$$") } : step;
    }
    default:
      return step;
  }
}

/** What Rust's regular expressions call \w. */
const word = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\u200c\\u200d";
const punctuation = "\\p{P}!-/:-@\\[-`{-~";

function mendPreTokenizer(step: Step): Step {
  switch (step.type) {
    case "Sequence":
      return { ...step, pretokenizers: stepsOf(step["pretokenizers"]).map(mendPreTokenizer) };
    case "Whitespace":
      return pieces(`[${word}]+|[^${word}\\s]+`);
    case "Digits":
      return pieces(step["individual_digits"] === true ? "\\p{N}|\\P{N}+" : "\\p{N}+|\\P{N}+");
    case "Punctuation":
      return split(`[${punctuation}]`, `[^${punctuation}]`, step["behavior"] ?? "Isolated");
    case "CharDelimiterSplit":
      return mendSplit({ type: "Split", pattern: { String: step["delimiter"] }, behavior: "Removed" });
    case "Metaspace":
      return mendMetaspace(step);
    case "Split":
      return mendSplit(step);
    default:
      return step;
  }
}

/** The library never splits at the mark that stands for a space, and does not know the older way to say "no mark in front". */
function mendMetaspace(step: Step): Step {
  const mark = typeof step["replacement"] === "string" ? step["replacement"] : "\u2581";
  const marked =
    step["prepend_scheme"] === undefined && step["add_prefix_space"] === false ? { ...step, prepend_scheme: "never" } : step;
  if (step["split"] === false) return marked;
  const escaped = escape(mark);
  return { type: "Sequence", pretokenizers: [marked, split(escaped, `(?!${escaped})[\\s\\S]`, "MergedWithNext")] };
}

/**
 * The library knows one of the five behaviours for certain: an isolated match. It keeps what should be removed where the
 * pattern is a plain text, and drops what does not match when inverted.
 */
function mendSplit(step: Step): Step {
  const { behavior = "Isolated", pattern, invert } = step;
  if (behavior === "Isolated") return { ...step, invert: false };
  if (invert === true) {
    if (behavior === "Removed") return step;
    throw new Error(`an inverted Split with behavior ${JSON.stringify(behavior)} is not supported`);
  }
  const { Regex: regex, String: text } = pattern as { Regex?: string; String?: string };
  const separator = `(?:${regex ?? escape(text ?? "")})`;
  return split(separator, `(?!${separator})[\\s\\S]`, behavior);
}

/** Cuts a text at separators; `other` matches one character of what lies between them. */
function split(separator: string, other: string, behavior: unknown): Step {
  const between = `(?:${other})`;
  switch (behavior) {
    case "Isolated":
      return pieces(`${separator}|${between}+`);
    case "Removed":
      return pieces(`${between}+`);
    case "Contiguous":
      return pieces(`(?:${separator})+|${between}+`);
    case "MergedWithPrevious":
      return pieces(`${between}*${separator}|${between}+`);
    case "MergedWithNext":
      return pieces(`${separator}${between}*|${between}+`);
    default:
      throw new Error(`the split behavior ${JSON.stringify(behavior)} is not known`);
  }
}

/** Keeps what the expression matches, piece by piece. */
function pieces(expression: string): Step {
  return { type: "Split", pattern: { Regex: expression }, behavior: "Removed", invert: true };
}

function escape(text: string): string {
  return text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`);
}

function stepsOf(value: unknown): Step[] {
  return Array.isArray(value) ? value : [];
}
