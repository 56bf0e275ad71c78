/** What an answer must be: a call of a tool, or a text that fits a constraint. */
import { InferyardError } from "../../../contract/errors.ts";
import { type GrammarNode, choice, choiceOf, literal, sequence } from "../constraints/grammar/grammar.ts";
import type { GrammarSource } from "../constraints/grammar-cache.ts";
import { SchemasCompiler } from "../constraints/schema/compile-schema.ts";
import { whitespace } from "../constraints/schema/whitespace.ts";
import { type TextConstraint, compileConstraint } from "../constraints/text-constraint.ts";
import { refusingDepth } from "../constraints/refusal.ts";
import type { ToolForm } from "./answer-format.ts";
import type { Tool } from "./messages.ts";

/** Which tools an answer may or must call. */
export type ToolChoice = "auto" | "none" | "required" | { readonly name: string };

/** How a call of a tool is written. */
interface CallText {
  /** Up to the call itself. */
  readonly open: string;
  readonly call: GrammarNode;
  /** Behind the call. Nothing follows it. */
  readonly close: string;
}

/** An answer that must call a tool. */
export interface ForcedCall {
  /** Beginning of the answer, which the model does not write. */
  readonly opening: string;
  readonly grammar: GrammarSource;
}

/** The tools that a choice leaves. Throws INPUT_INVALID for a tool that does not exist. */
export function chosenTools(tools: readonly Tool[], toolChoice: ToolChoice): readonly Tool[] {
  if (toolChoice === "none") return [];
  if (tools.length === 0 && toolChoice !== "auto") {
    throw new InferyardError("INPUT_INVALID", "toolChoice asks for a call, and there are no tools", { remedy: "give tools" });
  }
  if (typeof toolChoice === "string") return tools;
  const chosen = tools.filter(({ name }) => name === toolChoice.name);
  if (chosen.length > 0) return chosen;
  throw new InferyardError("INPUT_INVALID", `toolChoice names "${toolChoice.name}", and no tool has that name`, {
    remedy: `the tools are ${tools.map(({ name }) => name).join(", ")}`,
  });
}

/** The constraint of an answer that calls one of the tools, in the form of the model. The model does not think first. */
export function forcedCall(form: ToolForm, tools: readonly Tool[]): ForcedCall {
  const { open } = delimitersOf(form);
  const compile = (): GrammarNode => callOf(form, tools).call;
  return { opening: open, grammar: { key: keyOf("call", form, tools), compile } };
}

/** The form of answers that fit a constraint. */
export interface ConstrainedForm {
  readonly form: ToolForm | undefined;
  /** Tools that may be called instead. */
  readonly tools: readonly Tool[];
  /** Special tokens that stay in the text. */
  readonly kept: ReadonlySet<string>;
  /** Whether thoughts precede the answer, and white space behind them. */
  readonly thinks: boolean;
}

/** The constraint of an answer that fits a constraint or calls one of the tools. */
export function constrainedAnswer(constraint: TextConstraint, { form, tools, kept, thinks }: ConstrainedForm): GrammarSource {
  const compile = (): GrammarNode => {
    const text = compileConstraint(constraint);
    const answer = thinks ? sequence(whitespace, text) : text;
    if (tools.length === 0 || form === undefined) return answer;
    const { open, call, close } = callOf(form, tools);
    return choice(answer, sequence(whitespace, literal(open), call, literal(close)));
  };
  return { key: keyOf("answer", constraint, form, tools, thinks), compile, kept };
}

function keyOf(...parts: readonly unknown[]): string {
  return refusingDepth(() => JSON.stringify(parts));
}

function callOf(form: ToolForm, tools: readonly Tool[]): CallText {
  const key = form.kind === "json" ? "parameters" : "arguments";
  const schemas = new SchemasCompiler();
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

function delimitersOf(form: ToolForm): Pick<CallText, "open" | "close"> {
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
