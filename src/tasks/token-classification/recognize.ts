/** token-classification: the names in a text, with their places, as transformers' pipeline of that name gives them. */
import { InferyardError } from "../../errors.ts";
import type { Manifest } from "../../models/manifest.ts";
import { refuseUnlisted } from "../../runtime/options/options.ts";
import { type Encoding, type OffsetUnit, convertOffsets, offsetUnits } from "../../tokenizers/index.ts";
import { encodeTexts } from "../shared/encode-texts.ts";
import { type Encoder, runEncodings } from "../batching/run-encodings.ts";
import {
  type Aggregation,
  type Entities,
  type Entity,
  type EntitySpan,
  type TokenScores,
  aggregations,
  groupEntities,
  labelTokens,
  labelWords,
  resolveOverlaps,
} from "./entities.ts";
import { type GlinerOptions, recognizeWithGliner, isGlinerSpanModel } from "./gliner/recognize-with-gliner.ts";
import { applyActivation, labelHeadOf, logitsOutput, requireFinite } from "../shared/label-head.ts";
import { type TextTaskOptions, textTaskOptionNames, textTaskSettings } from "../shared/task-options.ts";

export interface RecognizeOptions extends TextTaskOptions {
  /** How tokens become entities. Default: "simple". */
  readonly aggregation?: Aggregation;
  /** What positions count: UTF-16 units as JavaScript strings do, code points, or UTF-8 bytes. Default: "utf16". */
  readonly offsets?: OffsetUnit;
  /** Labels that are no entity. Default: "O". */
  readonly ignoreLabels?: readonly string[];
  /** Tokens by which the windows of a text that is longer than the model reads overlap. Default: a quarter of a window. */
  readonly stride?: number;
  /** What to look for, in words of your own: for models that are made for that (GLiNER), which need it. Default: the model's own kinds. */
  readonly labels?: readonly string[];
  /** With `labels`: the least score of an entity, 0 to 1. Default: 0.5. */
  readonly threshold?: number;
  /** With `labels`: whether an entity may lie inside another. Default: false. */
  readonly nested?: boolean;
  /** With `labels`: whether one entity may have several labels. Default: false. */
  readonly multiLabel?: boolean;
}

export const recognizeOptionNames: readonly (keyof RecognizeOptions)[] = [
  ...textTaskOptionNames,
  "aggregation",
  "offsets",
  "ignoreLabels",
  "stride",
  "labels",
  "threshold",
  "nested",
  "multiLabel",
];

interface Window {
  readonly ids: readonly number[];
  readonly typeIds: readonly number[];
  readonly text: number;
  readonly encoding: Encoding;
}

/** Texts longer than the model reads are read in windows that overlap; `truncate: "error"` refuses them instead. */
export async function recognize(encoder: Encoder, texts: readonly string[], options: RecognizeOptions = {}): Promise<Entities> {
  if (isGlinerSpanModel(encoder.manifest, encoder.inputs))
    return recognizeWithGliner(encoder, texts, optionsByLabel(encoder.manifest, options));
  refuseLabels(encoder.manifest, options);
  const { aggregation = "simple", offsets = "utf16", ignoreLabels = ["O"], signal } = options;
  refuseUnlisted("aggregation", options.aggregation, aggregations);
  refuseUnlisted("offsets", options.offsets, offsetUnits);
  const settings = textTaskSettings(encoder.manifest, options);
  const { labels } = labelHeadOf(encoder.manifest);
  const output = logitsOutput(encoder.outputs, 3);
  const stride = options.stride ?? Math.floor(Math.min(settings.maxTokens, 4096) / 4);
  const encodings = await encodeTexts(encoder.tokenizer, texts, { ...settings, stride }, signal);
  const windows = encodings.flatMap((encoding, text): Window[] =>
    [encoding, ...encoding.overflowing].map((window) => ({ ids: window.ids, typeIds: window.typeIds, text, encoding: window })),
  );
  const scores: TokenScores[][] = Array.from({ length: windows.length }, () => []);
  const wanted = { output, batchTokens: settings.batchTokens, ...(signal === undefined ? {} : { signal }) };
  await runEncodings(encoder, windows, wanted, ({ index, encoding: window, data, offset, shape }) => {
    const size = shape[1] ?? 0;
    const logits = (token: number): Float32Array => data.slice(offset + token * size, offset + (token + 1) * size);
    scores[index] = tokensOf(window, texts[window.text] ?? "", encoder, logits);
  });
  const spans: EntitySpan[][] = texts.map(() => []);
  const counts = texts.map(() => 0);
  for (const [index, window] of windows.entries()) {
    counts[window.text] = (counts[window.text] ?? 0) + 1;
    spans[window.text]?.push(...entitiesOf(scores[index] ?? [], labels, aggregation, ignoreLabels));
  }
  return {
    results: texts.map((text, index) => {
      const own = spans[index] ?? [];
      const kept = (counts[index] ?? 0) > 1 ? resolveOverlaps(own) : own;
      const places = convertOffsets(Int32Array.from(kept.flatMap(({ start, end }) => [start, end])), text, offsets);
      return kept.map((span, number) => {
        const [start = 0, end = 0] = places.subarray(2 * number, 2 * number + 2);
        return { ...entityOf(span, aggregation, encoder), start, end };
      });
    }),
    tokens: encodings.map(({ wholeLength }) => wholeLength),
    windows: counts,
  };
}

/** A model that is told what to look for needs to be told, and has no tokens with labels to put together. */
function optionsByLabel({ name }: Manifest, options: RecognizeOptions): GlinerOptions {
  const { labels, aggregation, ignoreLabels, ...rest } = options;
  if (labels === undefined) {
    throw new InferyardError("INPUT_INVALID", `${name} finds what you name, and was given no labels`, {
      remedy: 'give `labels`, for example ["person", "company"]: --labels person,company',
    });
  }
  const meaningless = aggregation === undefined ? (ignoreLabels === undefined ? undefined : "ignoreLabels") : "aggregation";
  if (meaningless === undefined) return { ...rest, labels };
  throw new InferyardError("INPUT_INVALID", `"${meaningless}" says nothing for ${name}, which scores whole names`, {
    remedy: `leave "${meaningless}" out`,
  });
}

function refuseLabels(manifest: Manifest, options: RecognizeOptions): void {
  if (options.labels !== undefined) {
    const kinds = [...new Set(labelHeadOf(manifest).labels)].slice(0, 8).join(", ");
    throw new InferyardError(
      "MODEL_UNSUPPORTED",
      `${manifest.name} finds the kinds it was trained on (${kinds}), not labels of your own`,
      {
        remedy: "leave `labels` out, or use a GLiNER model",
      },
    );
  }
  const given = (["threshold", "nested", "multiLabel"] as const).find((name) => options[name] !== undefined);
  if (given === undefined) return;
  throw new InferyardError("INPUT_INVALID", `"${given}" says nothing without \`labels\``, { remedy: `leave "${given}" out` });
}

function tokensOf(
  { encoding, text: number }: Window,
  text: string,
  { tokenizer }: Encoder,
  logits: (token: number) => Float32Array,
): TokenScores[] {
  const tokens: TokenScores[] = [];
  for (const [index, id] of encoding.ids.entries()) {
    if (encoding.sequenceIds[index] === null) continue;
    const row = logits(index);
    requireFinite(row, number);
    const [start, end] = [encoding.offsets[2 * index] ?? 0, encoding.offsets[2 * index + 1] ?? 0];
    const isUnknown = id === tokenizer.unknownId;
    const previous = tokens.at(-1);
    const isSubword =
      !isUnknown &&
      previous !== undefined &&
      encoding.wordIds[index] !== null &&
      encoding.wordIds[index] === encoding.wordIds[previous.index];
    const token = isUnknown ? text.slice(start, end) : (encoding.tokens[index] ?? "");
    tokens.push({ id, token, scores: applyActivation(row, "softmax"), start, end, isSubword, index });
  }
  return tokens;
}

function entitiesOf(
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

function entityOf(
  { kind, score, tokens }: EntitySpan,
  aggregation: Aggregation,
  { tokenizer }: Encoder,
): Omit<Entity, "start" | "end"> {
  const [first] = tokens;
  if (aggregation === "none") return { entity: kind, score, index: first?.index ?? 0, word: first?.token ?? "" };
  return { entityGroup: kind, score, word: tokenizer.decode(tokens.map(({ id }) => id)) };
}
