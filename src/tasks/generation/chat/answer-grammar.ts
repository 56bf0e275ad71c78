/** Grammars of texts, of calls of tools, and of answers that are one or the other. */
import { omitUndefined } from "../../../contract/checked.ts";
import { InferyardError, invalidInput } from "../../../contract/errors.ts";
import { parseExactJson } from "../../../formats/json/exact-json.ts";
import { chargeSteps } from "../constraints/constraint-budget.ts";
import { type GrammarNode, choiceNode, choiceOf, literalNode, sequenceNode, textNode } from "../constraints/grammar/grammar.ts";
import { regularExpressionDfa } from "../constraints/automata/regular-expression.ts";
import { type SchemaSettings, SchemasCompiler } from "../constraints/schema/compile-schema.ts";
import { type TextConstraint, type TextSpecification, compileConstraint } from "../constraints/text-constraint.ts";
import type { CallForm, TaggedSyntax, WrittenCall } from "./forms/call-form.ts";
import type { Tool } from "./messages.ts";

/** White space that may precede and follow a value, as models write it between the parts of an answer. */
const whitespace: GrammarNode = textNode(regularExpressionDfa(String.raw`[ ]?(?:\r?\n){0,2}`, { whole: true }));

/** A form whose calls can be written by a grammar. */
export type ForcedForm = Pick<CallForm, "syntax"> & { readonly written: WrittenCall };

/** Source of the grammar for an answer that must call a tool. */
export interface CallSpecification {
  readonly kind: "call";
  readonly form: ForcedForm;
  /** Text before the arguments, if the answer's beginning has the name of the only tool. */
  readonly beforeArguments?: string | undefined;
  readonly tools: readonly Tool[];
  readonly settings: SchemaSettings;
}

/** Source of the grammar for an answer that fits a constraint or calls a tool. */
export interface AnswerSpecification {
  readonly kind: "answer";
  readonly constraint: TextConstraint;
  readonly form?: ForcedForm | undefined;
  readonly tools: readonly Tool[];
  /** Whether white space may precede the answer, since thoughts do. */
  readonly thinks: boolean;
  readonly settings: SchemaSettings;
}

/** White space between the tag of a call and its arguments: a line end at most. */
const tagSpace: GrammarNode = textNode(regularExpressionDfa(String.raw`[ \t]{0,2}\n?`, { whole: true }));

/** Characters of JSON that are parsed in the time of one step. */
const charactersPerStep = 16;

/** The grammar of a source. Throws INPUT_INVALID for a constraint that is invalid or not supported. */
export function compileSource(text: string): GrammarNode {
  chargeSteps(Math.ceil(text.length / charactersPerStep));
  const specification = parseExactJson(text) as TextSpecification | CallSpecification | AnswerSpecification;
  switch (specification.kind) {
    case "text":
      return compileConstraint(specification.constraint, specification.settings);
    case "call":
      return getCall(specification.form, specification);
    case "answer":
      return toAnswer(specification);
    default:
      return specification satisfies never;
  }
}

function toAnswer({ constraint, form, tools, thinks, settings }: AnswerSpecification): GrammarNode {
  const constrained = compileConstraint(constraint, settings);
  const answer = thinks ? sequenceNode(whitespace, constrained) : constrained;
  if (tools.length === 0 || form === undefined) return answer;
  const { open, close } = form.written;
  return choiceNode(answer, sequenceNode(whitespace, literalNode(open), getCall(form, { tools, settings }), literalNode(close)));
}

/** One call, without what stands before and after calls. */
function getCall(
  { syntax, written }: ForcedForm,
  { tools, settings, beforeArguments }: Pick<CallSpecification, "tools" | "settings" | "beforeArguments">,
): GrammarNode {
  const { name, afterArguments, isJsonName } = written;
  const [before, after] = name;
  const schemas = new SchemasCompiler(settings);
  const space = isJsonName ? whitespace : literalNode("");
  const calls = tools.map((tool, index) => {
    const toolName = isJsonName ? JSON.stringify(tool.name) : tool.name;
    const values = getArguments(schemas, syntax.kind === "tagged" ? syntax : undefined, tool, index);
    return sequenceNode(
      literalNode(beforeArguments ?? before + toolName + after),
      space,
      values,
      space,
      literalNode(afterArguments),
    );
  });
  return choiceOf(calls);
}

/** `tags`: what arguments are written between. Undefined: they are JSON. */
function getArguments(
  schemas: SchemasCompiler,
  tags: TaggedSyntax | undefined,
  { name, parameters }: Tool,
  index: number,
): GrammarNode {
  const type = parameters?.["type"];
  if (type !== undefined && type !== "object") {
    throw invalidInput(`tool ${index}, "${name}", has parameters that are no object`, 'give its parameters the type "object"');
  }
  const schema = parameters === undefined ? { type: "object", additionalProperties: false } : { ...parameters, type: "object" };
  try {
    if (tags === undefined) return schemas.compile(schema);
    const { key, valueClose, lines } = tags;
    return sequenceNode(tagSpace, schemas.compileParameters(schema, { key, valueClose, hasLines: lines === "both" }));
  } catch (error) {
    if (!(error instanceof InferyardError)) throw error;
    const { data, remedy } = error;
    throw new InferyardError(error.code, `the parameters of tool ${index}, "${name}": ${error.message}`, {
      data: { ...data, tool: name },
      ...omitUndefined({ remedy }),
    });
  }
}
