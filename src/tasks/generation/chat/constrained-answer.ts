/** What an answer must be: a call of a tool, or a text that fits a constraint. */
import { invalidInput, unsupportedModel } from "../../../contract/errors.ts";
import { type GrammarSource, sourceText } from "../constraints/grammar-source.ts";
import type { SchemaSettings } from "../constraints/schema/compile-schema.ts";
import type { TextConstraint } from "../constraints/text-constraint.ts";
import type { AnswerSpecification, CallSpecification, ForcedForm } from "./answer-grammar.ts";
import { type AnswerFormat, getMarkers } from "./answer-format.ts";
import type { CallForm, WrittenCall } from "./forms/call-form.ts";
import type { Tool } from "./messages.ts";

/** Which tools an answer may or must call. */
export type ToolChoice = "auto" | "none" | "required" | { readonly name: string };

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
    throw invalidInput("toolChoice asks for a call, and there are no tools", "give tools");
  }
  if (typeof toolChoice === "string") return tools;
  const chosen = tools.filter(({ name }) => name === toolChoice.name);
  if (chosen.length > 0) return chosen;
  throw invalidInput(
    `toolChoice names "${toolChoice.name}", and no tool has that name`,
    `the tools are ${tools.map(({ name }) => name).join(", ")}`,
  );
}

/** The constraint of an answer that calls one of the tools, in the form of the model. The model does not think first. Throws MODEL_UNSUPPORTED for a form in which none can be forced. */
export function forcedCall(format: AnswerFormat, tools: readonly Tool[], settings: SchemaSettings): ForcedCall {
  const form = format.calls === undefined ? undefined : forcedForm(format.calls);
  if (form === undefined) {
    throw unsupportedModel(
      `toolChoice asks for a call, and calls in the model's form (${format.calls?.name ?? "unknown"}) cannot be forced`,
      'leave the choice to the model (toolChoice "auto")',
    );
  }
  const { opening, beforeArguments } = getOpening(form.written, getMarkers(format), tools);
  const specification: CallSpecification = { kind: "call", form, beforeArguments, tools, settings };
  return { opening, grammar: { text: sourceText(specification), kept: getMarkers(format) } };
}

/**
 * The beginning of a forced call that is part of the prompt. With one tool it reaches to the last special token before the arguments: in the prompt it is one token,
 * where a model could spell it in a text that the grammar allows.
 */
function getOpening(
  { open, name, isJsonName }: WrittenCall,
  markers: ReadonlySet<string>,
  [tool, ...others]: readonly Tool[],
): { readonly opening: string; readonly beforeArguments?: string } {
  if (tool === undefined || others.length > 0) return { opening: open };
  const text = open + name[0] + (isJsonName ? JSON.stringify(tool.name) : tool.name) + name[1];
  const end = Math.max(
    0,
    ...[...markers].flatMap((marker) => (text.includes(marker) ? [text.lastIndexOf(marker) + marker.length] : [])),
  );
  return end > open.length ? { opening: text.slice(0, end), beforeArguments: text.slice(end) } : { opening: open };
}

/** What the grammar of a form needs. Undefined: it has none. */
function forcedForm({ syntax, written }: CallForm): ForcedForm | undefined {
  return written === undefined ? undefined : { syntax, written };
}

/** The form of answers that fit a constraint. */
export interface ConstrainedForm {
  readonly form: CallForm | undefined;
  /** Tools that may be called instead. */
  readonly tools: readonly Tool[];
  /** Special tokens that stay in the text. */
  readonly kept: ReadonlySet<string>;
  /** Whether thoughts precede the answer, and white space after them. */
  readonly thinks: boolean;
  /** Settings of compiling schemas. */
  readonly settings: SchemaSettings;
}

/** The constraint of an answer that fits a constraint or calls one of the tools. */
export function constrainedAnswer(
  constraint: TextConstraint,
  { form, tools, kept, thinks, settings }: ConstrainedForm,
): GrammarSource {
  const specification: AnswerSpecification = {
    kind: "answer",
    constraint,
    form: form && forcedForm(form),
    tools,
    thinks,
    settings,
  };
  return { text: sourceText(specification), kept };
}
