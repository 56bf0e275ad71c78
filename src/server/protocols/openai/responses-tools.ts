/** Tools of OpenAI's responses: functions, tools that take free text, and namespaces of both; and the items that call them. */
import { z } from "@hono/zod-openapi";
import { omitUndefined } from "../../../contract/checked.ts";
import { jsonText } from "../../../formats/json/exact-json.ts";
import type { Tool, ToolCall } from "../../../tasks/generation/chat/messages.ts";
import { requestObject } from "../../http/field-schemas.ts";
import { argumentsOfText, textOfArguments, textTool, toolList } from "../generation/tool-lists.ts";
import { functionTool } from "./chat-tools.ts";

interface NamedTool {
  readonly name: string;
  readonly description?: string | undefined;
}

type SingleTool = NamedTool & ({ readonly type: "function"; readonly parameters?: unknown } | { readonly type: "custom" });

/** A tool of a request, with its fields in addition to the type. */
export type ResponseTool = SingleTool | (NamedTool & { readonly type: "namespace"; readonly tools: readonly SingleTool[] });

const described = { name: z.string(), description: z.string().optional() };
const single = {
  function: requestObject({
    ...described,
    type: z.literal("function"),
    parameters: z.unknown().optional(),
    strict: z.boolean().optional(),
  }),
  custom: requestObject({ ...described, type: z.literal("custom") }),
};

/** Schema of the field `tools`. */
export const responseTools: z.ZodType<ResponseTool[]> = toolList<ResponseTool>({
  ...single,
  namespace: requestObject({ ...described, type: z.literal("namespace"), tools: toolList<SingleTool>(single) }),
});

/** What a name that the model calls stands for. */
interface CalledTool {
  readonly name: string;
  readonly namespace?: string;
  /** Whether it takes free text. */
  readonly isCustom: boolean;
}

/** The tools of a request, under the names by which the model calls them. */
export class CallableTools {
  /** For the model. */
  readonly tools: readonly Tool[];
  readonly #called = new Map<string, CalledTool>();

  constructor(given: readonly ResponseTool[]) {
    const tools: Tool[] = [];
    const add = (tool: SingleTool, path: string, namespace?: string): void => {
      const called = { name: tool.name, isCustom: tool.type === "custom", ...omitUndefined({ namespace }) };
      // Names of different namespaces may be the same.
      const name = namespace !== undefined && this.#called.has(tool.name) ? `${namespace}__${tool.name}` : tool.name;
      this.#called.set(name, called);
      tools.push(tool.type === "custom" ? textTool(name, tool.description) : functionTool({ ...tool, name }, path));
    };
    for (const [index, tool] of given.entries()) {
      if (tool.type !== "namespace") add(tool, `tools.${index}`);
      else for (const [place, each] of tool.tools.entries()) add(each, `tools.${index}.tools.${place}`, tool.name);
    }
    this.tools = tools;
  }

  /** The name by which the model calls a tool of a namespace. */
  nameFor(name: string, namespace: unknown): string {
    const own = typeof namespace === "string" ? `${namespace}__${name}` : name;
    return this.#called.has(own) ? own : name;
  }

  /** The fields of the item that a call is, and the names of the events that tell of its input. */
  getItem({ id, name: written, arguments: given }: ToolCall): WrittenToolCall {
    const { name, namespace, isCustom } = this.#called.get(written) ?? { name: written, isCustom: false };
    const fields = { call_id: `call_${id}`, name, ...omitUndefined({ namespace }) };
    return isCustom
      ? { type: "custom_tool_call", prefix: "ctc", fields, inputField: "input", input: textOfArguments(given) }
      : { type: "function_call", prefix: "fc", fields, inputField: "arguments", input: given };
  }
}

/** A call as an item of a response. */
export interface WrittenToolCall {
  readonly type: "function_call" | "custom_tool_call";
  /** Of the item's id. */
  readonly prefix: string;
  readonly fields: { readonly call_id: string; readonly name: string; readonly namespace?: string };
  /** The field that has the input. */
  readonly inputField: "arguments" | "input";
  readonly input: string;
}

type Item = Readonly<Record<string, unknown>>;

/** The call that an item of a request is; undefined for an item that is none. Calls of a provider's own tools have an action in place of arguments. */
export function callOfItem(item: Item, tools: CallableTools): Omit<ToolCall, "id"> | undefined {
  const { type, name, namespace, arguments: given, input, action, operation } = item;
  if (type === "function_call" && typeof name === "string")
    return { name: tools.nameFor(name, namespace), arguments: typeof given === "string" && given !== "" ? given : "{}" };
  if (type === "custom_tool_call" && typeof name === "string")
    return { name: tools.nameFor(name, namespace), arguments: argumentsOfText(typeof input === "string" ? input : "") };
  const own = typeof type === "string" ? /^(?<tool>\w+)_call$/.exec(type)?.groups?.["tool"] : undefined;
  if (own === undefined || own === "function" || own === "custom_tool") return undefined;
  return { name: own, arguments: jsonText(action ?? operation ?? {}) };
}
