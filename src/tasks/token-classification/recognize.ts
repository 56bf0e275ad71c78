/** Task `token-classification` (Hugging Face, "ner"): the entities of a text with their offsets, equal to transformers' pipeline of that name. */
import { type EncodingWindow, encodingWindows } from "../encoding/encoding-windows.ts";
import { at } from "../../contract/checked.ts";
import { quoteOption, invalidInput, unsupportedModel } from "../../contract/errors.ts";
import type { Manifest } from "../../models/manifest.ts";
import { convertSpans } from "../../tokenizers/index.ts";
import { encodeTexts } from "../encoding/encode-texts.ts";
import { type Encoder, runEncodings } from "../batching/run-encodings.ts";
import {
  type Aggregation,
  type Entities,
  type Entity,
  type EntitySpan,
  type TokenScores,
  groupEntities,
  labelTokens,
  labelWords,
  resolveOverlaps,
} from "./entities.ts";
import { type GlinerOptions, recognizeWithGliner, isGlinerSpanModel } from "./gliner/recognize-with-gliner.ts";
import { applyActivation, getLabelHead, logitsOutput } from "../encoding/label-head.ts";
import { requireFinite } from "../encoding/require-finite.ts";
import { checkOptions } from "../../runtime/options/option.ts";
import { textTaskSettings } from "../definition/task-options.ts";
import { recognizeOptions } from "./recognize-options.ts";
import type { RecognizeOptions } from "./generated-recognize-options.ts";

/**
 * Finds the entities of each text. Texts longer than the model's limit are read in overlapping windows; with `truncate: "error"` they throw
 * INPUT_TOO_LONG. Throws MODEL_UNSUPPORTED for a model without a token-classification head.
 */
export async function recognize(encoder: Encoder, texts: readonly string[], options: RecognizeOptions = {}): Promise<Entities> {
  checkOptions(recognizeOptions, options);
  if (isGlinerSpanModel(encoder.manifest, encoder.inputs))
    return recognizeWithGliner(encoder, texts, optionsByLabel(encoder.manifest, options));
  refuseLabels(encoder.manifest, options);
  const { aggregation = "simple", offsets = "utf16", ignoreLabels = ["O"], signal } = options;
  const settings = textTaskSettings(encoder.manifest, options);
  const { labels } = getLabelHead(encoder.manifest);
  const output = logitsOutput(encoder.outputs, 3);
  const stride = options.stride ?? Math.floor(Math.min(settings.maxTokens, 4096) / 4);
  const encodings = await encodeTexts(encoder.tokenizer, texts, { ...settings, stride }, signal);
  const windows = encodingWindows(encodings);
  const scores: TokenScores[][] = Array.from({ length: windows.length }, () => []);
  const run = { output, batchTokens: settings.batchTokens, signal };
  await runEncodings(encoder, windows, run, ({ index, encoding: window, data, offset, shape }) => {
    const size = at(shape, 1);
    const logits = (token: number): Float32Array => data.slice(offset + token * size, offset + (token + 1) * size);
    scores[index] = getTokens(window, at(texts, window.text), encoder, logits);
  });
  const spans: EntitySpan[][] = texts.map(() => []);
  const counts = texts.map(() => 0);
  for (const [index, window] of windows.entries()) {
    counts[window.text] = at(counts, window.text) + 1;
    at(spans, window.text).push(...toEntities(at(scores, index), labels, aggregation, ignoreLabels));
  }
  return {
    results: texts.map((text, index) => {
      const found = at(spans, index);
      const kept = at(counts, index) > 1 ? resolveOverlaps(found) : found;
      const ranges = convertSpans(kept, text, offsets);
      return kept.map((span, number) => ({ ...toEntity(span, aggregation, encoder), ...at(ranges, number) }));
    }),
    tokens: encodings.map(({ wholeLength }) => wholeLength),
    windows: counts,
  };
}

/** A GLiNER model requires `labels`, and scores spans instead of tokens, so that options of token aggregation do not apply. */
function optionsByLabel({ name }: Manifest, options: RecognizeOptions): GlinerOptions {
  const { labels, aggregation, ignoreLabels, ...rest } = options;
  if (labels === undefined) {
    throw invalidInput(
      `${name} is a GLiNER model and was given no labels`,
      `give labels, for example ${quoteOption("labels", ["person", "company"])}`,
    );
  }
  const meaningless = aggregation === undefined ? (ignoreLabels === undefined ? undefined : "ignoreLabels") : "aggregation";
  if (meaningless === undefined) return { ...rest, labels };
  throw invalidInput(`"${meaningless}" has no effect on ${name}, which scores spans, not tokens`, `leave "${meaningless}" out`);
}

function refuseLabels(manifest: Manifest, options: RecognizeOptions): void {
  if (options.labels !== undefined) {
    const kinds = [...new Set(getLabelHead(manifest).labels)].slice(0, 8).join(", ");
    throw unsupportedModel(
      `${manifest.name} knows only the labels it was trained on (${kinds}), so \`labels\` cannot be set`,
      "leave `labels` out, or use a GLiNER model",
    );
  }
  const given = (["threshold", "nested", "multiLabel"] as const).find((name) => options[name] !== undefined);
  if (given === undefined) return;
  throw invalidInput(`"${given}" has no effect without \`labels\``, `leave "${given}" out`);
}

function getTokens(
  { encoding, text: number }: EncodingWindow,
  text: string,
  { tokenizer }: Encoder,
  logits: (token: number) => Float32Array,
): TokenScores[] {
  const tokens: TokenScores[] = [];
  const { ids, offsets, sequenceIds, wordIds, tokens: vocabularyTokens } = encoding;
  for (const [index, id] of ids.entries()) {
    if (sequenceIds[index] === null) continue;
    const row = logits(index);
    requireFinite(row, number);
    const [start, end] = [at(offsets, 2 * index), at(offsets, 2 * index + 1)];
    const isUnknown = id === tokenizer.unknownId;
    const previous = tokens.at(-1);
    const isSubword =
      !isUnknown && previous !== undefined && wordIds[index] !== null && wordIds[index] === wordIds[previous.index];
    const token = isUnknown ? text.slice(start, end) : at(vocabularyTokens, index);
    tokens.push({ id, token, scores: applyActivation(row, "softmax"), start, end, isSubword, index });
  }
  return tokens;
}

function toEntities(
  tokens: readonly TokenScores[],
  labels: readonly string[],
  aggregation: Aggregation,
  ignored: readonly string[],
): EntitySpan[] {
  if (aggregation === "none") {
    const parts = labelTokens(tokens, labels).filter(({ label }) => !ignored.includes(label));
    return parts.flatMap(({ label, score, tokens: [token] }) =>
      token === undefined ? [] : [{ kind: label, score, tokens: [token], start: token.start, end: token.end }],
    );
  }
  const parts = aggregation === "simple" ? labelTokens(tokens, labels) : labelWords(tokens, labels, aggregation);
  return groupEntities(parts).filter(({ kind }) => !ignored.includes(kind));
}

function toEntity(
  { kind, score, tokens }: EntitySpan,
  aggregation: Aggregation,
  { tokenizer }: Encoder,
): Omit<Entity, "start" | "end"> {
  const [first] = tokens;
  if (aggregation === "none") return { entity: kind, score, index: first?.index ?? 0, word: first?.token ?? "" };
  return { entityGroup: kind, score, word: tokenizer.decode(tokens.map(({ id }) => id)) };
}
