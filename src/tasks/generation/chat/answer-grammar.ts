/** Grammars of texts, of calls of tools, and of answers that are one or the other. */
import { InferyardError } from "../../../contract/errors.ts";
import { chargeSteps } from "../constraints/constraint-budget.ts";
import { type GrammarNode, choice, choiceOf, literal, sequence } from "../constraints/grammar/grammar.ts";
import { type SchemaSettings, SchemasCompiler } from "../constraints/schema/compile-schema.ts";
import { whitespace } from "../constraints/schema/whitespace.ts";
import { type TextConstraint, type TextSpecification, compileConstraint } from "../constraints/text-constraint.ts";
import type { ToolForm } from "./answer-format.ts";
import type { Tool } from "./messages.ts";

/** What is compiled where a tool must be called. */
export interface CallSpecification {
  readonly kind: "call";
  readonly form: ToolForm;
  readonly tools: readonly Tool[];
  readonly settings: SchemaSettings;
}

/** What is compiled where an answer fits a constraint or calls a tool. */
export interface AnswerSpecification {
  readonly kind: "answer";
  readonly constraint: TextConstraint;
  readonly form?: ToolForm | undefined;
  readonly tools: readonly Tool[];
  /** Whether white space may precede the answer, since thoughts do. */
  readonly thinks: boolean;
  readonly settings: SchemaSettings;
}

/** How a call of a tool is written. */
interface CallText {
  /** Up to the call itself. */
  readonly open: string;
  readonly call: GrammarNode;
  /** Behind the call. Nothing follows it. */
  readonly close: string;
}

/** Characters of JSON that are parsed in the time of one step. */
const charactersPerStep = 16;

/** The grammar of a source. Throws INPUT_INVALID for a constraint that is invalid or not supported. */
export function compileSource(text: string): GrammarNode {
  chargeSteps(Math.ceil(text.length / charactersPerStep));
  const specification = JSON.parse(text) as TextSpecification | CallSpecification | AnswerSpecification;
  switch (specification.kind) {
    case "text":
      return compileConstraint(specification.constraint, specification.settings);
    case "call":
      return callOf(specification.form, specification.tools, specification.settings).call;
    case "answer":
      return answerOf(specification);
    default:
      return specification satisfies never;
  }
}

function answerOf({ constraint, form, tools, thinks, settings }: AnswerSpecification): GrammarNode {
  const text = compileConstraint(constraint, settings);
  const answer = thinks ? sequence(whitespace, text) : text;
  if (tools.length === 0 || form === undefined) return answer;
  const { open, call, close } = callOf(form, tools, settings);
  return choice(answer, sequence(whitespace, literal(open), call, literal(close)));
}

function callOf(form: ToolForm, tools: readonly Tool[], settings: SchemaSettings): CallText {
  const key = form.kind === "json" ? "parameters" : "arguments";
  const schemas = new SchemasCompiler(settings);
  const calls = tools.map((tool, index) =>
    sequence(
      literal(`{"name": ${JSON.stringify(tool.name)}, "${key}":`),
      whitespace,
      argumentsOf(schemas, tool, index),
      whitespace,
      literal("}"),
    ),
  );
  const call = choiceOf(calls);
  const isList = form.kind === "mistral";
  return { ...delimitersOf(form), call: isList ? sequence(literal("["), call, literal("]")) : call };
}

/** What stands before and behind a call. */
export function delimitersOf(form: ToolForm): Pick<CallText, "open" | "close"> {
  switch (form.kind) {
    case "tagged":
      return { open: `${form.open}\n`, close: `\n${form.close}` };
    case "mistral":
      return { open: form.open, close: "" };
    case "json":
      return { open: "", close: "" };
    default:
      return form satisfies never;
  }
}

function argumentsOf(schemas: SchemasCompiler, { name, parameters }: Tool, index: number): GrammarNode {
  const type = parameters?.["type"];
  if (type !== undefined && type !== "object") {
    throw new InferyardError("INPUT_INVALID", `tool ${index}, "${name}", has parameters that are no object`, {
      remedy: 'give its parameters the type "object"',
    });
  }
  const schema = parameters === undefined ? { type: "object", additionalProperties: false } : { ...parameters, type: "object" };
  try {
    return schemas.compile(schema);
  } catch (error) {
    if (!(error instanceof InferyardError)) throw error;
    const { data, remedy } = error;
    throw new InferyardError(error.code, `the parameters of tool ${index}, "${name}": ${error.message}`, {
      data: { ...data, tool: name },
      ...(remedy === undefined ? {} : { remedy }),
    });
  }
}
