/**
 * Zero-shot entity recognition with GLiNER (Zaratiana et al. 2023, "GLiNER: Generalist Model for Named Entity Recognition using Bidirectional
 * Transformer"): every span of up to `max_width` words is scored against every label. Supported are span-level exports, with the inputs
 * `span_idx` and `span_mask` (span_mode "markerV0").
 */
import { at } from "../../../contract/checked.ts";
import { type InferyardError, invalidInput, unsupportedModel } from "../../../contract/errors.ts";
import type { Manifest } from "../../../models/manifest.ts";
import type { TensorInfo } from "../../../contract/tensor.ts";
import { convertSpans } from "../../../tokenizers/index.ts";
import { type Encoder, runEncodings } from "../../batching/run-encodings.ts";
import { requireFinite } from "../../encoding/require-finite.ts";
import type { Entities } from "../entities.ts";
import type { RecognizeOptions } from "../generated-recognize-options.ts";
import { textTaskSettings } from "../../definition/task-options.ts";
import { type LabelledSpan, selectSpans, scoredSpans } from "./spans.ts";
import { type GlinerConfig, type WordWindow, encodeGlinerWindows, glinerInputs } from "./windows.ts";

/** Options of `recognizeWithGliner`. */
export interface GlinerOptions extends Omit<RecognizeOptions, "labels" | "aggregation" | "ignoreLabels"> {
  /** Entity types to look for, at least one. */
  readonly labels: readonly string[];
}

/** Whether a model is a span-level GLiNER export. Throws MODEL_UNSUPPORTED for a token-level one. */
export function isGlinerSpanModel({ name }: Manifest, inputs: readonly TensorInfo[]): boolean {
  const names = new Set(inputs.map((input) => input.name));
  if (names.has("span_idx") && names.has("words_mask")) return true;
  if (!names.has("words_mask")) return false;
  throw unsupportedModel(
    `${name} is a token-level GLiNER model, and only span-level ones are supported`,
    'use an export with the inputs span_idx and span_mask (span_mode "markerV0")',
  );
}

const spanInputs: ReadonlySet<string> = new Set([
  "input_ids",
  "attention_mask",
  "words_mask",
  "text_lengths",
  "span_idx",
  "span_mask",
]);

/** Finds entities of the given types in texts; long texts are read in overlapping windows. `word` is the text as it is written. */
export async function recognizeWithGliner(encoder: Encoder, texts: readonly string[], options: GlinerOptions): Promise<Entities> {
  const { threshold = 0.5, nested = false, multiLabel = false, offsets = "utf16", signal } = options;
  const labels = [...new Set(options.labels)];
  checkLabels(options);
  const { name } = encoder.manifest;
  const unknown = encoder.inputs.find((input) => !spanInputs.has(input.name));
  if (unknown !== undefined)
    throw unsupportedModel(`${name} has the input "${unknown.name}", which a span-level GLiNER model does not have`);
  const config = spanModelConfig(encoder.manifest);
  const settings = textTaskSettings(encoder.manifest, options);
  const stride = options.stride ?? Math.floor(Math.min(settings.maxTokens, 2048) / 4);
  const windows = await encodeGlinerWindows(encoder.tokenizer, texts, labels, config, { ...settings, stride }, signal);
  const spans: LabelledSpan[][] = texts.map(() => []);
  const run = {
    output: "logits",
    batchKey: `spans ${config.maxWidth} wide, ${labels.length} labels`,
    batchTokens: settings.batchTokens,
    tensors: (rows: readonly WordWindow[], length: number) =>
      glinerInputs(rows, length, encoder.tokenizer.padId, config.maxWidth),
    signal,
  };
  await runEncodings(encoder, windows, run, ({ encoding: { words, text }, data, offset, shape }) => {
    const [rows = 0, width = 0, classes = 0] = shape;
    if (shape.length !== 3 || rows < words.length || classes < labels.length) throw unexpectedShape(name, shape);
    requireFinite(data.subarray(offset, offset + words.length * width * classes), text);
    at(spans, text).push(...scoredSpans(words, { data, offset, width, labels: classes }, threshold));
  });
  const counts = texts.map((_text, index) => windows.filter((window) => window.text === index));
  return {
    results: texts.map((text, index) => {
      const chosen = selectSpans(
        at(spans, index).filter(({ label }) => label < labels.length),
        { nested, multiLabel },
      );
      const ranges = convertSpans(chosen, text, offsets);
      return chosen.map(({ label, score, start, end }, number) => ({
        entityGroup: at(labels, label),
        score,
        word: text.slice(start, end),
        ...at(ranges, number),
      }));
    }),
    tokens: counts.map((own) => own.reduce((sum, { ids }) => sum + ids.length, 0)),
    windows: counts.map((own) => own.length),
  };
}

function checkLabels({ labels, threshold = 0.5 }: GlinerOptions): void {
  if (!Array.isArray(labels) || labels.length === 0 || labels.some((label) => typeof label !== "string" || label.trim() === "")) {
    throw invalidInput("labels must be an array of at least one word", 'for example ["person", "company"]');
  }
  if (!(threshold >= 0 && threshold < 1)) {
    throw invalidInput(`threshold is ${String(threshold)}, and must be from 0 to below 1`, "correct threshold, or leave it out");
  }
}

/** Reads gliner_config.json. Throws MODEL_UNSUPPORTED for a value of the wrong type or out of range. */
function spanModelConfig({ name, variants }: Manifest): GlinerConfig {
  const config = variants[0]?.config ?? {};
  const {
    max_width: maxWidth = 12,
    max_len: maxWords = 384,
    ent_token: classToken = "<<ENT>>",
    sep_token: separator = "<<SEP>>",
  } = config;
  const counts = [maxWidth, maxWords].every(
    (count) => Number.isSafeInteger(count) && Number(count) > 0 && Number(count) <= 100_000,
  );
  const tokens = [classToken, separator].every((token) => typeof token === "string" && token !== "");
  if (!counts || !tokens)
    throw unsupportedModel(
      `${name}: gliner_config.json needs max_width and max_len from 1 to 100000, and ent_token and sep_token that are not empty`,
    );
  return { maxWidth: Number(maxWidth), maxWords: Number(maxWords), classToken: String(classToken), separator: String(separator) };
}

function unexpectedShape(name: string, shape: readonly number[]): InferyardError {
  return unsupportedModel(
    `${name} gave logits of shape [${shape.join(", ")}] for a text, and [words, width, labels] was expected`,
    "use a span-level GLiNER export",
  );
}
