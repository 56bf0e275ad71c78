/** Schema of the task `extraction`: the fields to find in a text, each by an entity type or by a question. */
import { type InferyardError, invalidInput } from "../../contract/errors.ts";
import { isObject } from "../../contract/shapes/shape.ts";
import { refuseUnlisted } from "../../runtime/options/option.ts";
import { refuseUnknown } from "../../runtime/options/options.ts";

/** A field whose value is an entity of one of the given types, found by a token-classification model. */
export interface EntityField {
  /** Entity type or types, without the tag prefix: "PER", or ["ORG", "LOC"]. */
  readonly entity: string | readonly string[];
  /** true: all entities, from left to right. false: the one with the highest score. Default: false. */
  readonly many?: boolean;
}

/** A field whose value is the answer to a question about the text, found by a question-answering model. */
export interface QuestionField {
  readonly question: string;
}

/** The fields to extract, by name. At least one. */
export type ExtractSchema = Readonly<Record<string, EntityField | QuestionField>>;

/** An `EntityField` with its name and with defaults filled in. */
export interface ParsedEntityField {
  readonly name: string;
  readonly labels: readonly string[];
  readonly many: boolean;
}

/** A `QuestionField` with its name. */
export interface ParsedQuestionField {
  readonly name: string;
  readonly question: string;
}

/** A schema by kind of field, each list in the order of the schema. */
export interface ParsedSchema {
  readonly entities: readonly ParsedEntityField[];
  readonly answers: readonly ParsedQuestionField[];
}

/** Validates a schema. Throws INPUT_INVALID with the name of the field that is wrong. */
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
    "has an `entity` that is neither a label nor a list of labels",
    '{ entity: "PER" } or { entity: ["ORG", "LOC"] }',
  );
}

function questionField(name: string, field: Readonly<Record<string, unknown>>): ParsedQuestionField {
  refuseUnknown(field, ["question"], `the field ${JSON.stringify(name)}`);
  const { question } = field;
  if (typeof question === "string" && question.trim() !== "") return { name, question };
  throw wrongField(name, "has a `question` that is empty or not a string", '{ question: "Which city?" }');
}

/** Creates the error INPUT_INVALID of a schema without fields. */
export function emptySchemaError(): InferyardError {
  return invalidInput(
    "the schema must be an object with at least one field",
    'for example { person: { entity: "PER" }, city: { question: "Which city?" } }',
  );
}

function wrongField(name: string, problem: string, example: string): InferyardError {
  return invalidInput(`the field ${JSON.stringify(name)} ${problem}`, `for example ${example}`, { field: name });
}
