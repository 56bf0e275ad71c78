/** What is to be extracted, as a plain object: each field's name with how it is found. */
import { InferyardError } from "../../errors.ts";
import { refuseUnlisted, refuseUnknown } from "../../runtime/options/options.ts";

/** A field that is a name in the text: one the model gives this label, or one of these. */
export interface EntityField {
  /** "PER", or several: ["ORG", "LOC"]; without the letter that begins a label (B-PER). */
  readonly entity: string | readonly string[];
  /** true: every one that is found, from left to right. Default: false, the surest alone. */
  readonly many?: boolean;
}

/** A field that is the answer to a question about the text. */
export interface QuestionField {
  readonly question: string;
}

/** By the names of the fields. */
export type ExtractSchema = Readonly<Record<string, EntityField | QuestionField>>;

/** A field with its name, defaults filled in. */
export interface ParsedEntityField {
  readonly name: string;
  readonly labels: readonly string[];
  readonly many: boolean;
}

export interface ParsedQuestionField {
  readonly name: string;
  readonly question: string;
}

export interface ParsedSchema {
  readonly entities: readonly ParsedEntityField[];
  readonly answers: readonly ParsedQuestionField[];
}

/** Throws INPUT_INVALID for what is no schema, with the field it is about. */
export function parseSchema(schema: unknown): ParsedSchema {
  if (!isObject(schema) || Object.keys(schema).length === 0) throw emptySchemaError();
  const entities: ParsedEntityField[] = [];
  const answers: ParsedQuestionField[] = [];
  for (const [name, field] of Object.entries(schema)) {
    if (isObject(field) && "entity" in field && !("question" in field)) entities.push(entityField(name, field));
    else if (isObject(field) && "question" in field && !("entity" in field)) answers.push(questionField(name, field));
    else throw wrongField(name, "needs either `entity` or `question`", '{ entity: "PER" } or { question: "Which city?" }');
  }
  return { entities, answers };
}

function entityField(name: string, field: Readonly<Record<string, unknown>>): ParsedEntityField {
  refuseUnknown(field, ["entity", "many"], `the field ${JSON.stringify(name)}`);
  const { entity, many = false } = field;
  refuseUnlisted(`many of the field ${JSON.stringify(name)}`, many, [true, false]);
  const labels: unknown[] = Array.isArray(entity) ? entity : [entity];
  if (labels.length > 0 && labels.every((label) => typeof label === "string" && label !== ""))
    return { name, labels: labels as string[], many: many === true };
  throw wrongField(
    name,
    "has an `entity` that is no label and no list of labels",
    '{ entity: "PER" } or { entity: ["ORG", "LOC"] }',
  );
}

function questionField(name: string, field: Readonly<Record<string, unknown>>): ParsedQuestionField {
  refuseUnknown(field, ["question"], `the field ${JSON.stringify(name)}`);
  const { question } = field;
  if (typeof question === "string" && question.trim() !== "") return { name, question };
  throw wrongField(name, "has a `question` that asks nothing", '{ question: "Which city?" }');
}

export function emptySchemaError(): InferyardError {
  return new InferyardError("INPUT_INVALID", "the schema must be an object with at least one field", {
    remedy: 'for example { person: { entity: "PER" }, city: { question: "Which city?" } }',
  });
}

function wrongField(name: string, problem: string, example: string): InferyardError {
  return new InferyardError("INPUT_INVALID", `the field ${JSON.stringify(name)} ${problem}`, {
    remedy: `for example ${example}`,
    data: { field: name },
  });
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
