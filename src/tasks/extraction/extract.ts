/**
 * Task `extraction` (ours; Hugging Face has none): fills the fields of a schema from each text, entities with a token-classification model,
 * answers with a question-answering model.
 */
import { at, omitUndefined } from "../../contract/checked.ts";
import { quoteOption, invalidInput } from "../../contract/errors.ts";
import type { Manifest } from "../../models/manifest.ts";
import { type OffsetUnit, convertSpans } from "../../tokenizers/index.ts";
import { type QuestionAnswer, answer } from "../question-answering/answer.ts";
import { isGlinerSpanModel } from "../token-classification/gliner/recognize-with-gliner.ts";
import type { Encoder } from "../batching/run-encodings.ts";
import { getEntityType } from "../token-classification/entities.ts";
import {
  type ExtractSchema,
  type ParsedQuestionField,
  type ParsedEntityField,
  emptySchemaError,
  parseSchema,
} from "./extract-schema.ts";
import { getLabelHead } from "../encoding/label-head.ts";
import type { Entity } from "../token-classification/entities.ts";
import { recognize } from "../token-classification/recognize.ts";
import type { RecognizeOptions } from "../token-classification/generated-recognize-options.ts";
import { checkOptions } from "../../runtime/options/option.ts";
import { extractOptions } from "./extract-options.ts";
import type { ExtractOptions } from "./generated-extract-options.ts";

/** The value of a field: a span of the text. */
export interface ExtractedValue {
  /** The span as it is written in the text. */
  readonly value: string;
  /** Range in the text, in the unit of the option `offsets`: start included, end excluded. */
  readonly start: number;
  readonly end: number;
  /** Probability, 0 to 1. */
  readonly score: number;
  /** For entity fields: the entity type, "PER". */
  readonly label?: string;
}

/** Values by field name; null if nothing was found. Fields with `many` have a list, empty if nothing was found. */
export type ExtractedFields = Readonly<Record<string, ExtractedValue | readonly ExtractedValue[] | null>>;

/** The fields that one model found, one entry per text. */
export interface FoundFields {
  readonly results: readonly ExtractedFields[];
}

/** The share of an extraction that one model does. `Model`: a reference or a handle. */
export interface ExtractPart<Model> {
  readonly model: Model;
  /** Extracts this model's fields from texts. */
  readonly work: (encoder: Encoder, texts: readonly string[]) => Promise<FoundFields>;
}

/**
 * Splits an extraction by model: entity fields first, then question fields. Throws INPUT_INVALID for an invalid schema or option, for a field
 * without the model it needs, and for a model that no field needs.
 */
export function extractParts<Model>(
  options: ExtractOptions,
  { model, questionModel }: { readonly model: Model | undefined; readonly questionModel: Model | undefined },
): readonly [ExtractPart<Model>, ...ExtractPart<Model>[]] {
  const { minScore } = options;
  checkOptions(extractOptions, options);
  if (minScore !== undefined && !(minScore >= 0 && minScore <= 1)) {
    throw invalidInput(`minScore is ${minScore}, and must be a number from 0 to 1`, "correct minScore, or leave it out");
  }
  const { entities, answers } = parseSchema(options.schema);
  const uses: readonly ModelUse[] = [
    { option: "model", model, field: entities[0]?.name, by: "entity", task: "token-classification" },
    {
      option: "questionModel",
      model: questionModel,
      field: answers[0]?.name,
      by: "question",
      task: "question-answering",
    },
  ];
  for (const use of uses) requireModel(use);
  for (const use of uses) refuseUnusedModel(use);
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
  readonly model: unknown;
  /** The first field that needs the model. */
  readonly field: string | undefined;
  readonly by: string;
  readonly task: string;
}

function requireModel({ option, model, field, by, task }: ModelUse): void {
  if (field === undefined || model !== undefined) return;
  const message = `the field ${JSON.stringify(field)} is found by its ${by}, and no model for that was given`;
  throw invalidInput(message, `give a ${task} model as ${quoteOption(option)}`, { field, option });
}

function refuseUnusedModel({ option, model, field, by }: ModelUse): void {
  if (field !== undefined || model === undefined) return;
  throw invalidInput(
    `\`${option}\` was given, and no field is found by its ${by}`,
    `leave \`${option}\` out, or add such a field`,
  );
}

/** Extracts the entity fields of texts. Throws INPUT_INVALID for a label the model does not have; a GLiNER model has any. */
export async function extractEntities(
  encoder: Encoder,
  texts: readonly string[],
  fields: readonly ParsedEntityField[],
  { schema: _schema, minScore, aggregation, offsets = "utf16", ...options }: ExtractOptions,
): Promise<FoundFields> {
  const { results } = await recognize(encoder, texts, {
    ...options,
    ...recognizeOptionsFor(encoder, fields, aggregation, minScore),
  });
  return {
    results: texts.map((text, index) => {
      const values = getValues(at(results, index), text, offsets).filter(({ score }) => score >= (minScore ?? 0));
      return Object.fromEntries(fields.map((field) => [field.name, fieldValue(values, field)]));
    }),
  };
}

/** Options of `recognize` for this model: the labels to look for if it is a GLiNER model, otherwise the aggregation. */
function recognizeOptionsFor(
  { manifest, inputs }: Encoder,
  fields: readonly ParsedEntityField[],
  aggregation: ExtractOptions["aggregation"],
  minScore: number | undefined,
): RecognizeOptions {
  if (!isGlinerSpanModel(manifest, inputs)) {
    requireKnownLabels(manifest, fields);
    return { aggregation: aggregation ?? "first" };
  }
  return {
    labels: [...new Set(fields.flatMap(({ labels }) => labels))],
    ...omitUndefined({ aggregation, threshold: minScore }),
  };
}

/** Extracts the question fields of texts: the answer with the highest score, null if "no answer" is more probable. */
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
        fields.map(({ name }, field) => [name, answerValue(at(results, index * fields.length + field)[0], minScore)]),
      ),
    ),
  };
}

/** Merges the fields that all models found, for each of `texts` texts, in the order of the schema. */
export function mergeFields(schema: ExtractSchema, found: readonly FoundFields[], texts: number): ExtractedFields[] {
  return Array.from({ length: texts }, (_text, index) => {
    const values = found.flatMap(({ results }) => Object.entries(at(results, index)));
    const fields = new Map(values);
    return Object.fromEntries(Object.keys(schema).map((name) => [name, fields.get(name) ?? null]));
  });
}

function requireKnownLabels(manifest: Manifest, fields: readonly ParsedEntityField[]): void {
  const known = [...new Set(getLabelHead(manifest).labels.map(getEntityType))].filter((label) => label !== "O");
  for (const { name, labels } of fields) {
    const unknown = labels.find((label) => !known.includes(label));
    if (unknown === undefined) continue;
    const message = `${manifest.name} has no label ${JSON.stringify(unknown)}, which the field ${JSON.stringify(name)} asks for`;
    throw invalidInput(message, `it has ${known.join(", ")}`, { field: name, label: unknown, labels: known });
  }
}

function getValues(entities: readonly Entity[], text: string, offsets: OffsetUnit): Required<ExtractedValue>[] {
  const ranges = convertSpans(entities, text, offsets);
  return entities.map(({ entityGroup = "", score, start, end }, index) => ({
    value: text.slice(start, end),
    ...at(ranges, index),
    score,
    label: entityGroup,
  }));
}

/** The value of an entity field: all matching values with `many`, otherwise the one with the highest score, null for none. */
function fieldValue(
  values: readonly Required<ExtractedValue>[],
  { labels, many }: ParsedEntityField,
): ExtractedValue | ExtractedValue[] | null {
  const matching = values.filter(({ label }) => labels.includes(label));
  if (many) return matching;
  const [first, ...others] = matching;
  return others.reduce((best, value) => (best !== undefined && value.score > best.score ? value : best), first) ?? null;
}

function answerValue(best: QuestionAnswer | undefined, minScore: number): ExtractedValue | null {
  if (best === undefined || best.answer === "" || best.score < minScore) return null;
  const { answer: value, start, end, score } = best;
  return { value, start, end, score };
}
