/** Tools of OpenAI's chat completions, the older `functions` among them, and the form in which their calls are answered. */
import { z } from "@hono/zod-openapi";
import { omitUndefined } from "../../../contract/checked.ts";
import type { ChatRequest } from "../../../api/task-requests.ts";
import type { Tool, ToolCall } from "../../../tasks/generation/chat/messages.ts";
import { isObject } from "../../../contract/shapes/shape.ts";
import { listField, requestObject } from "../../http/field-schemas.ts";
import { toToolChoice } from "../generation/constraint-fields.ts";
import { invalidField } from "../generation/request-errors.ts";
import { chosenToolList, textOfArguments, textTool, toolList } from "../generation/tool-lists.ts";

/** A function that a model may call. */
export interface FunctionField {
  readonly name: string;
  readonly description?: string | undefined;
  readonly parameters?: unknown;
}

/** A tool of a request. */
export type ToolField =
  | { readonly type: "function"; readonly function: FunctionField }
  | { readonly type: "custom"; readonly custom: { readonly name: string; readonly description?: string | undefined } };

/** The fields of a request about tools. */
export interface ToolsRequest {
  readonly tools?: readonly ToolField[] | undefined;
  readonly tool_choice?: unknown;
  readonly functions?: readonly FunctionField[] | undefined;
  readonly function_call?: unknown;
}

const functionFields = {
  name: z.string(),
  description: z.string().optional(),
  parameters: z.unknown().optional(),
  strict: z.boolean().optional(),
};

/** Schema of the field `tools`. */
export const toolsField: z.ZodType<ToolField[]> = toolList<ToolField>({
  function: requestObject({ type: z.literal("function"), function: requestObject(functionFields) }).openapi("ChatTool"),
  custom: requestObject({
    type: z.literal("custom"),
    custom: requestObject({ name: z.string(), description: z.string().optional() }),
  }),
});

/** Schemas of the fields of `ToolsRequest`. */
export const toolFields: { readonly [Name in keyof ToolsRequest]-?: z.ZodType<ToolsRequest[Name]> } & {
  readonly parallel_tool_calls: z.ZodType;
} = {
  tools: toolsField.optional(),
  tool_choice: z.unknown().optional().openapi({
    description:
      '"auto", "none", "required", a function by its name, or "allowed_tools" of some: what is then called fits its schema',
  }),
  parallel_tool_calls: z.boolean().optional(),
  functions: listField(requestObject(functionFields)).optional().openapi({ description: "The older form of `tools`" }),
  function_call: z.unknown().optional().openapi({ description: "The older form of `tool_choice`" }),
};

/** Form of the tool calls in an answer. */
export interface ToolCallForm {
  /** Names of the tools that take free text. */
  readonly custom: ReadonlySet<string>;
  /** Whether a call is written as the older field `function_call`; a message has at most one. */
  readonly isOlder: boolean;
}

/** The form that a request asks for. */
export function getToolCallForm({ tools = [], functions = [] }: ToolsRequest): ToolCallForm {
  const custom = tools.flatMap((tool) => (tool.type === "custom" ? [tool.custom.name] : []));
  return { custom: new Set(custom), isOlder: tools.length === 0 && functions.length > 0 };
}

/** The tools of a request, and whether the model may or must call them. */
export function toTools(request: ToolsRequest): Pick<ChatRequest, "tools" | "toolChoice"> {
  const { tools = [], functions = [], tool_choice: choice, function_call: older } = request;
  const list = [
    ...tools.map((tool, index) =>
      tool.type === "custom"
        ? textTool(tool.custom.name, tool.custom.description)
        : functionTool(tool.function, `tools.${index}.function`),
    ),
    ...functions.map((each, index) => functionTool(each, `functions.${index}`)),
  ];
  return chosenToolList(list, toToolChoice(choice ?? (isObject(older) ? { type: "function", function: older } : older)));
}

/** A function as a tool. Throws INPUT_INVALID for parameters that are no JSON Schema. */
export function functionTool({ name, description, parameters }: FunctionField, path: string): Tool {
  if (parameters !== undefined && parameters !== null && !isObject(parameters))
    throw invalidField(`${path}.parameters`, "must be a JSON Schema");
  return {
    name,
    ...omitUndefined({ description }),
    ...(isObject(parameters) ? { parameters } : {}),
  };
}

/** The calls of an answer, as fields of its message. */
export function callFields(calls: readonly ToolCall[] | undefined, form: ToolCallForm): object {
  const [first] = calls ?? [];
  if (calls === undefined || first === undefined) return {};
  if (form.isOlder) return { function_call: { name: first.name, arguments: first.arguments } };
  return { tool_calls: calls.map((call) => writtenCall(call, form)) };
}

/** The call at a position, as fields of a chunk. */
export function callDelta(call: ToolCall, index: number, form: ToolCallForm): object {
  if (form.isOlder) return index === 0 ? { function_call: { name: call.name, arguments: call.arguments } } : {};
  return { tool_calls: [{ index, ...writtenCall(call, form) }] };
}

function writtenCall({ id, name, arguments: given }: ToolCall, { custom }: ToolCallForm): object {
  return custom.has(name)
    ? { id: `call_${id}`, type: "custom", custom: { name, input: textOfArguments(given) } }
    : { id: `call_${id}`, type: "function", function: { name, arguments: given } };
}
