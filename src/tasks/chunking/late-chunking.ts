/**
 * Late chunking (Günther et al. 2024, arXiv:2409.04701): the model reads the whole text, and the vector of a chunk is the mean of its token
 * vectors, which attend to the text around the chunk. A text longer than the model's limit is read in overlapping windows; a token's vector is
 * taken from the first window that contains it.
 */
import { omitUndefined } from "../../contract/checked.ts";
import { findLowerBound } from "../encoding/binary-search.ts";
import { quoteOption, unsupportedModel } from "../../contract/errors.ts";
import type { Encoding } from "../../tokenizers/index.ts";
import { embedSettings } from "../embedding/embed-options.ts";
import { encodeTexts } from "../encoding/encode-texts.ts";
import { vectorOutput } from "../encoding/encoder-outputs.ts";
import { type Encoder, runEncodings } from "../batching/run-encodings.ts";
import { truncateAndNormalize, getPostPooling } from "../embedding/pool-encodings.ts";
import { tokenWindows } from "../encoding/token-windows.ts";
import type { TextSpan } from "./chunk-model.ts";

/** Options of `embedSpans`. */
export interface LateOptions {
  /** Name of the model's prompt to prepend. Default: the model's default prompt, if any. */
  readonly prompt?: string;
  /** Overlap of windows in tokens. Default: a quarter of a window. */
  readonly stride?: number;
  /** Cancels the call, which then rejects with ABORTED. */
  readonly signal?: AbortSignal;
}

/**
 * Embeds spans of a text, one vector per span. Special tokens before the text (and the prompt, if the model pools it) are pooled with a span that
 * starts at 0, those after it with a span that ends at the end, so that the span of the whole text has the vector of `embed` with pooling "mean".
 * A span without tokens has zeros. Throws MODEL_UNSUPPORTED for a model with another pooling or without token vectors.
 */
export async function embedSpans(
  encoder: Encoder,
  text: string,
  spans: readonly TextSpan[],
  { prompt, stride, signal }: LateOptions,
): Promise<Float32Array[]> {
  refuseOtherPooling(encoder);
  if (spans.length === 0) return [];
  const settings = embedSettings(encoder.manifest, { pooling: "mean", ...omitUndefined({ prompt }) });
  const { promptText, poolPrompt, batchTokens, maxTokens } = settings;
  const output = vectorOutput(encoder, "none").name;
  const whole = { maxTokens: Number.POSITIVE_INFINITY, truncate: "cut", prompt: promptText } as const;
  const [encoding] = await encodeTexts(encoder.tokenizer, [text], whole, signal);
  if (encoding === undefined) return [];
  const all = tokenWindows(encoding, 0, encoder.tokenizer.frame, { maxTokens, ...omitUndefined({ stride }) });
  const [{ head, promptTokens } = { head: 0, promptTokens: 0 }] = all;
  const count = all.at(-1)?.to ?? 0;
  const ranges = tokenRanges(encoding, head, count, promptText.length, spans);
  const last = ranges.reduce((max, { to }) => Math.max(max, to), 0);
  const windows = all.filter(({ firstNew }) => firstNew === 0 || firstNew < last);
  const sums = spans.map((): Sum => ({ values: new Float64Array(), rows: 0 }));
  let length = 0;
  const run = { output, batchTokens, signal };
  await runEncodings(encoder, windows, run, ({ encoding: window, data, offset, shape }) => {
    const dimensions = shape.at(-1) ?? 0;
    length = dimensions;
    const { from, to, firstNew, ids } = window;
    const add = (sum: Sum | undefined, first: number, end: number): void =>
      addRows(sum, data, dimensions, offset + first * dimensions, end - first);
    for (const [index, range] of ranges.entries()) {
      const [first, end] = [Math.max(range.from, firstNew), Math.min(range.to, to)];
      if (first < end) add(sums[index], head + first - from, head + end - from);
      if (firstNew === 0 && spans[index]?.start === 0) add(sums[index], poolPrompt ? 0 : promptTokens, head);
      if (to === count && spans[index]?.end === text.length) add(sums[index], head + to - from, ids.length);
    }
  });
  const modules = await getPostPooling(encoder);
  return sums.map(({ values, rows }) => {
    if (rows === 0) return new Float32Array(modules?.dimensions ?? length);
    const mean = Float32Array.from(values, (value) => value / rows);
    return truncateAndNormalize(modules === undefined ? mean : modules.apply(mean), settings, 0);
  });
}

interface Sum {
  values: Float64Array;
  rows: number;
}

function addRows(sum: Sum | undefined, data: Float32Array, dimensions: number, offset: number, rows: number): void {
  if (sum === undefined) return;
  if (sum.values.length === 0) sum.values = new Float64Array(dimensions);
  for (let index = 0; index < rows * dimensions; index += 1) {
    const axis = index % dimensions;
    sum.values[axis] = (sum.values[axis] ?? 0) + (data[offset + index] ?? Number.NaN);
  }
  sum.rows += rows;
}

interface TokenRange {
  readonly from: number;
  readonly to: number;
}

/**
 * The tokens of each span: those whose last character lies in it, since a token often includes the space before its word. A span in which no
 * token ends has the tokens that overlap it.
 */
function tokenRanges(
  { offsets }: Encoding,
  head: number,
  count: number,
  promptLength: number,
  spans: readonly TextSpan[],
): TokenRange[] {
  const starts: number[] = [];
  const lasts: number[] = [];
  for (let token = 0; token < count; token += 1) {
    const start = (offsets[2 * (head + token)] ?? 0) - promptLength;
    const end = (offsets[2 * (head + token) + 1] ?? 0) - promptLength;
    starts.push(Math.max(0, start, starts.at(-1) ?? 0));
    lasts.push(Math.max(0, start, end - 1, lasts.at(-1) ?? 0));
  }
  return spans.map(({ start, end }) => {
    const [from, to] = [findLowerBound(lasts, (last) => last >= start), findLowerBound(lasts, (last) => last >= end)];
    return from < to
      ? { from, to }
      : {
          from,
          to: Math.max(
            from,
            findLowerBound(starts, (first) => first >= end),
          ),
        };
  });
}

function refuseOtherPooling({ manifest: { name, tasks, text }, outputs }: Encoder): void {
  const remedy = `use a model with token vectors and mean pooling (a GGUF model has them on ${quoteOption("target", "native")}), or embed the chunks of another strategy`;
  if (!outputs.some(({ shape }) => shape.length === 3))
    throw unsupportedModel(`${name} returns one vector per text, and late chunking needs token vectors`, remedy);
  const isEmbedder = tasks.length === 0 || tasks.includes("feature-extraction") || tasks.includes("sentence-similarity");
  // Label scores and vocabulary logits have rank 3, too.
  if (text?.pooling === undefined && !isEmbedder)
    throw unsupportedModel(`${name} is a model for ${tasks.join(", ")}, not for embeddings`, remedy);
  const pooling = text?.pooling ?? "mean";
  if (pooling === "mean" || pooling === "none") return;
  throw unsupportedModel(`${name} has pooling "${pooling}", and late chunking needs "mean"`, remedy);
}
