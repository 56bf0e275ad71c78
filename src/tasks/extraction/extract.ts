/** Fields by schema out of texts: names by a token-classification model, answers by a question-answering model. */
import { InferyardError } from "../../errors.ts";
import type { Manifest } from "../../models/manifest.ts";
import { refuseUnlisted } from "../../runtime/options/options.ts";
import { type OffsetUnit, convertOffsets, offsetUnits } from "../../tokenizers/index.ts";
import { type Answer, answer } from "../question-answering/answer.ts";
import { isGlinerSpanModel } from "../token-classification/gliner/recognize-with-gliner.ts";
import type { Encoder } from "../batching/run-encodings.ts";
import { type Aggregation, entityTypeOf } from "../token-classification/entities.ts";
import {
  type ExtractSchema,
  type ParsedQuestionField,
  type ParsedEntityField,
  emptySchemaError,
  parseSchema,
} from "./extract-schema.ts";
import { labelHeadOf } from "../shared/label-head.ts";
import type { Entity } from "../token-classification/entities.ts";
import { type RecognizeOptions, recognize } from "../token-classification/recognize.ts";
import { type TextTaskOptions, textTaskOptionNames } from "../shared/task-options.ts";

export interface ExtractOptions extends TextTaskOptions {
  /** The fields, by name. */
  readonly schema: ExtractSchema;
  /** What is less sure than this, from 0 to 1, counts as not found. Default: 0; of a model that is told what to look for 0.5. */
  readonly minScore?: number;
  /** How tokens become names. Default: "first", so that names are whole words. Nothing for models that score whole names (GLiNER). */
  readonly aggregation?: Exclude<Aggregation, "none">;
  /** What positions count: UTF-16 units as JavaScript strings do, code points, or UTF-8 bytes. Default: "utf16". */
  readonly offsets?: OffsetUnit;
  /** Tokens by which the windows of a text that is longer than a model reads overlap. Default: a quarter of a window. */
  readonly stride?: number;
}

export const extractOptionNames: readonly (keyof ExtractOptions)[] = [
  ...textTaskOptionNames,
  "schema",
  "minScore",
  "aggregation",
  "offsets",
  "stride",
];

/** A piece of the text. */
export interface ExtractedValue {
  /** As it stands in the text. */
  readonly value: string;
  readonly start: number;
  readonly end: number;
  readonly score: number;
  /** Of a name: its label, "PER". */
  readonly label?: string;
}

/** By the names of the fields: the value, null where nothing was found; with `many` a list. */
export type ExtractedFields = Readonly<Record<string, ExtractedValue | readonly ExtractedValue[] | null>>;

/** What one model found: for each text, in order, the fields it was asked for. */
export interface FoundFields {
  readonly results: readonly ExtractedFields[];
}

/** What is asked of one model. */
export interface ExtractPart<Model> {
  readonly model: Model;
  readonly work: (encoder: Encoder, texts: readonly string[]) => Promise<FoundFields>;
}

/** Names first, then answers. INPUT_INVALID for a schema or an option that means nothing, and for a model that is missing or not needed. */
export function extractParts<Model>(
  options: ExtractOptions,
  { model, questionModel }: { readonly model: Model | undefined; readonly questionModel: Model | undefined },
): readonly [ExtractPart<Model>, ...ExtractPart<Model>[]] {
  const { minScore } = options;
  if (minScore !== undefined && !(minScore >= 0 && minScore <= 1)) {
    throw new InferyardError("INPUT_INVALID", `minScore is ${minScore}, and must be a number from 0 to 1`, {
      remedy: "correct minScore, or leave it out",
    });
  }
  const { entities, answers } = parseSchema(options.schema);
  const uses: readonly ModelUse[] = [
    { option: "model", flag: "--model", model, field: entities[0]?.name, by: "entity", task: "token-classification" },
    {
      option: "questionModel",
      flag: "--question-model",
      model: questionModel,
      field: answers[0]?.name,
      by: "question",
      task: "question-answering",
    },
  ];
  for (const use of uses) refuseMissing(use);
  for (const use of uses) refuseNeedless(use);
  const parts: ExtractPart<Model>[] = [];
  if (model !== undefined) parts.push({ model, work: (encoder, texts) => extractEntities(encoder, texts, entities, options) });
  if (questionModel !== undefined)
    parts.push({ model: questionModel, work: (encoder, texts) => extractAnswers(encoder, texts, answers, options) });
  const [first, ...others] = parts;
  if (first === undefined) throw emptySchemaError();
  return [first, ...others];
}

interface ModelUse {
  readonly option: string;
  /** The same on the command line. */
  readonly flag: string;
  readonly model: unknown;
  /** The first field that needs the model. */
  readonly field: string | undefined;
  readonly by: string;
  readonly task: string;
}

function refuseMissing({ option, flag, model, field, by, task }: ModelUse): void {
  if (field === undefined || model !== undefined) return;
  const message = `the field ${JSON.stringify(field)} is found by its ${by}, and no model for that was given`;
  throw new InferyardError("INPUT_INVALID", message, {
    remedy: `give a ${task} model as \`${option}\`: ${flag}`,
    data: { field, option },
  });
}

function refuseNeedless({ option, model, field, by }: ModelUse): void {
  if (field !== undefined || model === undefined) return;
  throw new InferyardError("INPUT_INVALID", `\`${option}\` was given, and no field is found by its ${by}`, {
    remedy: `leave \`${option}\` out, or add such a field`,
  });
}

/** The fields that are names. INPUT_INVALID for a label the model does not have; one that is told what to look for (GLiNER) has any. */
export async function extractEntities(
  encoder: Encoder,
  texts: readonly string[],
  fields: readonly ParsedEntityField[],
  { schema: _schema, minScore, aggregation, offsets = "utf16", ...options }: ExtractOptions,
): Promise<FoundFields> {
  refuseUnlisted("aggregation", aggregation, ["simple", "first", "average", "max"]);
  refuseUnlisted("offsets", offsets, offsetUnits);
  const { results } = await recognize(encoder, texts, {
    ...options,
    ...recognizeOptionsFor(encoder, fields, aggregation, minScore),
  });
  return {
    results: texts.map((text, index) => {
      const values = valuesOf(results[index] ?? [], text, offsets).filter(({ score }) => score >= (minScore ?? 0));
      return Object.fromEntries(fields.map((field) => [field.name, chosen(values, field)]));
    }),
  };
}

/** How the model is asked for its names. */
function recognizeOptionsFor(
  { manifest, inputs }: Encoder,
  fields: readonly ParsedEntityField[],
  aggregation: ExtractOptions["aggregation"],
  minScore: number | undefined,
): RecognizeOptions {
  if (!isGlinerSpanModel(manifest, inputs)) {
    refuseOtherLabels(manifest, fields);
    return { aggregation: aggregation ?? "first" };
  }
  return {
    labels: [...new Set(fields.flatMap(({ labels }) => labels))],
    ...(aggregation === undefined ? {} : { aggregation }),
    ...(minScore === undefined ? {} : { threshold: minScore }),
  };
}

/** The fields that are answers: the best one, null where "no answer" is more probable. */
export async function extractAnswers(
  encoder: Encoder,
  texts: readonly string[],
  fields: readonly ParsedQuestionField[],
  { schema: _schema, minScore = 0, aggregation: _aggregation, ...options }: ExtractOptions,
): Promise<FoundFields> {
  const pairs = texts.flatMap((context) => fields.map(({ question }) => ({ question, context })));
  const { results } = await answer(encoder, pairs, { ...options, noAnswer: true });
  return {
    results: texts.map((_text, index) =>
      Object.fromEntries(
        fields.map(({ name }, place) => [name, answered(results[index * fields.length + place]?.[0], minScore)]),
      ),
    ),
  };
}

/** The fields of each text from all models, in the order of the schema. */
export function mergeFields(schema: ExtractSchema, found: readonly FoundFields[], texts: number): ExtractedFields[] {
  return Array.from({ length: texts }, (_text, index) => {
    const own = found.flatMap(({ results }) => Object.entries(results[index] ?? {}));
    const fields = new Map(own);
    return Object.fromEntries(Object.keys(schema).map((name) => [name, fields.get(name) ?? null]));
  });
}

function refuseOtherLabels(manifest: Manifest, fields: readonly ParsedEntityField[]): void {
  const known = [...new Set(labelHeadOf(manifest).labels.map(entityTypeOf))].filter((label) => label !== "O");
  for (const { name, labels } of fields) {
    const unknown = labels.find((label) => !known.includes(label));
    if (unknown === undefined) continue;
    const message = `${manifest.name} has no label ${JSON.stringify(unknown)}, which the field ${JSON.stringify(name)} asks for`;
    throw new InferyardError("INPUT_INVALID", message, {
      remedy: `it has ${known.join(", ")}`,
      data: { field: name, label: unknown, labels: known },
    });
  }
}

function valuesOf(entities: readonly Entity[], text: string, offsets: OffsetUnit): Required<ExtractedValue>[] {
  const places = convertOffsets(Int32Array.from(entities.flatMap(({ start, end }) => [start, end])), text, offsets);
  return entities.map(({ entityGroup = "", score, start, end }, index) => ({
    value: text.slice(start, end),
    start: places[2 * index] ?? 0,
    end: places[2 * index + 1] ?? 0,
    score,
    label: entityGroup,
  }));
}

function chosen(
  values: readonly Required<ExtractedValue>[],
  { labels, many }: ParsedEntityField,
): ExtractedValue | ExtractedValue[] | null {
  const own = values.filter(({ label }) => labels.includes(label));
  if (many) return own;
  const [first, ...others] = own;
  return others.reduce((surest, value) => (surest !== undefined && value.score > surest.score ? value : surest), first) ?? null;
}

function answered(best: Answer | undefined, minScore: number): ExtractedValue | null {
  if (best === undefined || best.answer === "" || best.score < minScore) return null;
  const { answer: value, start, end, score } = best;
  return { value, start, end, score };
}
