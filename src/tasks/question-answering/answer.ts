/** Task `question-answering` (Hugging Face, extractive): the span of a context that answers a question, equal to transformers' pipeline of that name. */
import { type EncodingWindow, encodingWindows } from "../encoding/encoding-windows.ts";
import { at } from "../../contract/checked.ts";
import { InferyardError, invalidInput, unsupportedModel } from "../../contract/errors.ts";
import type { Manifest } from "../../models/manifest.ts";
import type { TensorInfo } from "../../contract/tensor.ts";
import { type Encoding, convertSpans } from "../../tokenizers/index.ts";
import { type AnswerSpan, type TokenSpan, bestSpans, mergeAnswers } from "./answer-spans.ts";
import type { EncoderValues } from "../batching/run-batch.ts";
import { type Encoder, runEncodings } from "../batching/run-encodings.ts";
import { requireFinite } from "../encoding/require-finite.ts";
import { type QuestionPair, encodeQuestions } from "./question-windows.ts";
import { checkOptions } from "../../runtime/options/option.ts";
import { textTaskSettings } from "../definition/task-options.ts";
import { answerOptions } from "./answer-options.ts";
import type { AnswerOptions } from "./generated-answer-options.ts";

/** A span of a context that answers a question. */
export interface QuestionAnswer {
  /** The span as it is written in the context, trimmed; "" for "no answer". */
  readonly answer: string;
  /** Probability of its first token as start times the probability of its last token as end, 0 to 1. */
  readonly score: number;
  /** Range in the context, in the unit of the option `offsets`: start included, end excluded; both 0 for "no answer". */
  readonly start: number;
  readonly end: number;
}

/** Answers to questions, and the number of tokens read of each context. */
export interface Answers {
  /** One list per pair of question and context, in order, by descending score. Empty for a context without words. */
  readonly results: readonly (readonly QuestionAnswer[])[];
  /** Number of tokens of each pair, special tokens included. */
  readonly tokens: readonly number[];
  /** Number of windows in which the model read each pair. */
  readonly windows: readonly number[];
}

/**
 * Finds the answer to each question in its context. Contexts longer than the model's limit are read in overlapping windows; with `truncate:
 * "error"` they throw INPUT_TOO_LONG. Throws MODEL_UNSUPPORTED for a model without start and end logits.
 */
export async function answer(encoder: Encoder, pairs: readonly QuestionPair[], options: AnswerOptions = {}): Promise<Answers> {
  const { topK = 1, maxAnswerTokens = 15, noAnswer = false, alignToWords = true, offsets = "utf16", signal } = options;
  checkOptions(answerOptions, options);
  const settings = textTaskSettings(encoder.manifest, options);
  const [output, endOutput] = spanOutputs(encoder.manifest, encoder.outputs);
  const encodings = await encodeQuestions(encoder.tokenizer, pairs, { ...settings, stride: options.stride }, signal);
  const windows = encodingWindows(encodings);
  // Several token spans can extend to the same words, so more candidates are searched than returned.
  const candidates = alignToWords ? 2 * topK + 10 : topK;
  const found: AnswerSpan[][] = windows.map(() => []);
  const nullScores = pairs.map(() => 1);
  const run = {
    output,
    others: [endOutput],
    batchTokens: settings.batchTokens,
    signal,
  };
  await runEncodings(encoder, windows, run, ({ index, encoding: { text: pair, encoding }, other, ...starts }) => {
    const [start, end] = [getLogits(starts, encoding, pair), getLogits(other(endOutput), encoding, pair)];
    const { ids, offsets, wordIds, sequenceIds } = encoding;
    const window: Columns = { ids, offsets, wordIds, sequenceIds };
    const isContext = sequenceIds.map((sequence) => sequence === 1);
    const classToken = getClassToken(window, encoder.tokenizer.clsId);
    const { spans, nullScore } = bestSpans({ start, end, isContext, classToken }, candidates, maxAnswerTokens);
    nullScores[pair] = Math.min(at(nullScores, pair), nullScore);
    const { context } = at(pairs, pair);
    found[index] = spans.flatMap(({ item, score }) => {
      const range = trimRange(getRange(window, item, alignToWords), context);
      return range.start < range.end ? [{ ...range, score }] : [];
    });
  });
  const spansOf = groupByPair(found, windows, pairs.length);
  return {
    results: pairs.map(({ context }, index) => {
      const merged = mergeAnswers(at(spansOf, index), context);
      const all = noAnswer ? [...merged, { start: 0, end: 0, score: at(nullScores, index) }] : merged;
      const best = all.sort((a, b) => b.score - a.score).slice(0, topK);
      const ranges = convertSpans(best, context, offsets);
      return best.map(({ start, end, score }, number) => ({
        answer: context.slice(start, end),
        score: Math.fround(score),
        ...at(ranges, number),
      }));
    }),
    tokens: encodings.map(({ wholeLength }) => wholeLength),
    windows: encodings.map(({ overflowing }) => 1 + overflowing.length),
  };
}

/**
 * Pairs questions with contexts: one question with every context, every question with one context, or lists of equal length item by item. Throws
 * INPUT_INVALID otherwise.
 */
export function questionPairs(
  questions: string | readonly string[],
  contexts: string | readonly string[],
): readonly QuestionPair[] {
  for (const [name, given] of [
    ["the question", questions],
    ["the context", contexts],
  ] as const) {
    if (typeof given === "string") continue;
    if (!Array.isArray(given)) throw invalidInput(`${name} must be a string or an array of strings`);
    const wrong = given.findIndex((text) => typeof text !== "string");
    if (wrong !== -1) throw new InferyardError("INPUT_INVALID", `${name} ${wrong} is not a string`, { data: { text: wrong } });
  }
  if (typeof questions === "string") {
    return (typeof contexts === "string" ? [contexts] : contexts).map((context) => ({ question: questions, context }));
  }
  if (typeof contexts === "string") return questions.map((question) => ({ question, context: contexts }));
  if (questions.length === contexts.length)
    return questions.map((question, index) => ({ question, context: at(contexts, index) }));
  throw invalidInput(
    `${questions.length} questions do not pair with ${contexts.length} contexts`,
    "give as many of the one as of the other, or a single string for one of them",
  );
}

function getLogits({ data, offset }: EncoderValues, { ids }: Encoding, pair: number): Float32Array {
  const logits = data.subarray(offset, offset + ids.length);
  requireFinite(logits, pair);
  return logits;
}

/** Columns of an encoding, read once: the getters of `Encoding` compute some of them on every access. */
type Columns = Pick<Encoding, "ids" | "offsets" | "wordIds" | "sequenceIds">;

/** Index of the class token among the special tokens; an occurrence in the text itself does not count. */
function getClassToken({ ids, sequenceIds }: Columns, clsId: number | undefined): number | undefined {
  const token = ids.findIndex((id, index) => id === clsId && sequenceIds[index] === null);
  return token === -1 ? undefined : token;
}

/** The range of a token span in the context, in UTF-16 code units; with `alignToWords` extended to whole words. */
function getRange({ offsets, wordIds, sequenceIds }: Columns, { first, last }: TokenSpan, alignToWords: boolean): Range {
  const isSameWord = (token: number, neighbour: number): boolean =>
    alignToWords && sequenceIds[neighbour] === 1 && wordIds[neighbour] !== null && wordIds[neighbour] === wordIds[token];
  let [from, to] = [first, last];
  while (isSameWord(from, from - 1)) from -= 1;
  while (isSameWord(to, to + 1)) to += 1;
  return { start: at(offsets, 2 * from), end: at(offsets, 2 * to + 1) };
}

interface Range {
  readonly start: number;
  readonly end: number;
}

/**
 * Trims white space, which tokens of some models include before a word, and includes combining marks after the end, which tokenizers that strip
 * accents leave out of a token's offsets ("e" followed by U+0301).
 */
function trimRange({ start, end }: Range, context: string): Range {
  const text = context.slice(start, end);
  const from = start + text.length - text.trimStart().length;
  const to = Math.max(from, start + text.trimEnd().length);
  const [marks = ""] = leadingMarks.exec(context.slice(to, to + maxCombiningMarks)) ?? [];
  return { start: from, end: to === from ? to : to + marks.length };
}

const leadingMarks = /^\p{M}+/u;
/** Maximum number of combining marks that are included after a letter. */
const maxCombiningMarks = 16;

/** The spans found in each window, grouped by the pair of the window. */
function groupByPair(found: readonly AnswerSpan[][], windows: readonly EncodingWindow[], count: number): AnswerSpan[][][] {
  const grouped: AnswerSpan[][][] = Array.from({ length: count }, () => []);
  for (const [index, { text: pair }] of windows.entries()) at(grouped, pair).push(at(found, index));
  return grouped;
}

/** The names of the start and end logits, both `[batch, tokens]`. Throws MODEL_UNSUPPORTED if there are none. */
function spanOutputs({ name, tasks }: Manifest, outputs: readonly TensorInfo[]): readonly [string, string] {
  const named = (word: string): string | undefined =>
    outputs.find((output) => output.name.includes(word) && output.shape.length === 2)?.name;
  const [start, end] = [named("start"), named("end")];
  if (start !== undefined && end !== undefined) return [start, end];
  const given = outputs.map((output) => `${output.name} [${output.shape.join(", ")}]`).join(", ");
  const declared = tasks[0] === undefined ? "" : `; it is one for ${tasks[0]}`;
  throw unsupportedModel(
    `${name} has no question-answering head: outputs start_logits and end_logits [batch, tokens] are needed, and it has ${given}${declared}`,
    "use an export with a question-answering head",
  );
}
