/** Requests of Anthropic's messages. */
import { z } from "@hono/zod-openapi";
import { omitUndefined } from "../../../contract/checked.ts";
import { jsonText } from "../../../formats/json/exact-json.ts";
import type { ChatRequest } from "../../../api/task-requests.ts";
import { type ChatMessage, type Tool, type ToolCall, contentOfTexts } from "../../../tasks/generation/chat/messages.ts";
import type { IgnorePart } from "../../http/fields/take-fields.ts";
import { isObject } from "../../../contract/shapes/shape.ts";
import { type RequestForm, requestForm } from "../../http/routes/request-form.ts";
import {
  conversation,
  isText,
  listField,
  members,
  modelField,
  oneOfFields,
  requestObject,
  textField,
} from "../../http/field-schemas.ts";
import { responseFormat } from "../generation/constraint-fields.ts";
import { invalidField, unreadPart, unsupportedField } from "../generation/request-errors.ts";
import type { ChatCall } from "../generation/chat-call.ts";
import { readSampling } from "../generation/sampling.ts";
import { thinkingFields } from "../generation/thinking-fields.ts";
import { toolList } from "../generation/tool-lists.ts";
import { clientTools } from "./client-tools.ts";

type Block = Readonly<Record<string, unknown>>;
type Content = string | readonly Block[];

interface ToolField {
  readonly type?: string | undefined;
  readonly name: string;
  readonly description?: string | undefined;
  readonly input_schema?: Readonly<Record<string, unknown>> | undefined;
}

const block = members();
const content = oneOfFields<Content>("a text or a list of blocks", [
  textField,
  { schema: listField(block), fits: Array.isArray },
]);

/** "bash_20250124" is a "bash". */
const getKind = (type: unknown): string => (isText(type) ? type.replace(/_\d{8}$/, "") : "custom");
const cacheControl = z.unknown().optional();
const named = { name: z.string(), cache_control: cacheControl, defer_loading: z.boolean().optional() };
const clientTool = requestObject({ ...named, type: z.string() });
const tools = toolList<ToolField>(
  {
    custom: requestObject({
      ...named,
      type: z.string().optional(),
      description: z.string().optional(),
      input_schema: members(),
      strict: z.boolean().optional(),
    }),
    ...Object.fromEntries(Object.keys(clientTools).map((kind) => [kind, clientTool])),
  },
  getKind,
);

const fields = {
  model: modelField,
  messages: conversation(requestObject({ role: z.enum(["user", "assistant", "system"]), content: content.optional() })),
  system: content.optional(),
  tools: tools.optional(),
  tool_choice: requestObject({
    type: z.string(),
    name: z.string().optional(),
    disable_parallel_tool_use: z.boolean().optional(),
  })
    .optional()
    .openapi({ description: 'Of the type "auto", "none", "any", or "tool" with a name' }),
  output_format: block.optional().openapi({ description: 'Of the type "json_schema", with a schema: what the text must be' }),
  output_config: requestObject({ format: z.unknown().optional(), effort: z.string().optional() })
    .optional()
    .openapi({ description: "`format`: as `output_format`; `effort` is given to the model's chat template" }),
  thinking: requestObject({ type: z.string().optional(), budget_tokens: z.int().optional(), display: z.string().optional() })
    .optional()
    .openapi({ description: "Type disabled turns thinking off, where the model's chat template can" }),
  betas: listField(z.string()).optional(),
  chat_template_kwargs: thinkingFields.chat_template_kwargs,
  cache_control: cacheControl,
  mcp_servers: listField(z.unknown())
    .optional()
    .openapi({ description: "Not connected to: left out where there are tools, and refused where there are none" }),
  thread: requestObject({ type: z.string().optional(), previous_message_id: z.string().optional() })
    .optional()
    .openapi({ description: "Nothing is kept: the type continue is refused, upon which clients send the whole conversation" }),
};

const messagesSchema = requestObject({
  ...fields,
  max_tokens: z.int().min(-1),
  stop_sequences: listField(z.string()).optional(),
  stream: z.boolean().optional(),
  temperature: z.number().min(0).max(100).optional(),
  top_p: z.number().min(0).max(1).optional(),
  top_k: z.int().min(-1).optional(),
  metadata: members().optional(),
  service_tier: z.string().optional(),
}).openapi("AnthropicMessagesRequest");

const countSchema = requestObject(fields).openapi("AnthropicCountTokensRequest");

/** Requests for a message. */
export const messagesForm: RequestForm<ChatCall> = requestForm(messagesSchema, (request, ignore) => {
  const {
    model,
    stream = false,
    temperature,
    top_p: topP,
    top_k: topK,
    max_tokens: maxNewTokens,
    stop_sequences: stop,
  } = request;
  const messages = toConversation(request, ignore);
  const sampling = { temperature, topP, topK: topK && Math.max(topK, 0), maxNewTokens, stop };
  return { model, messages, options: { ...readSampling(sampling), ...toChatOptions(request, ignore) }, isStreamed: stream };
});

/** Requests to count tokens. Clients send the fields of a request for a message too, which change no count. */
export const countForm: RequestForm<Omit<ChatCall, "isStreamed">> = requestForm(countSchema, (request, ignore) => ({
  model: request.model,
  messages: toConversation(request, ignore),
  options: toChatOptions(request, ignore),
}));

type Fields = z.infer<typeof countSchema>;

/**
 * The conversation of a request. Blocks of tools that run on Anthropic's servers are left out. Throws INPUT_INVALID for blocks that are not text, thoughts,
 * calls or their results.
 */
function toConversation({ messages, system }: Fields, ignore: IgnorePart): readonly ChatMessage[] {
  const before: ChatMessage[] = system === undefined ? [] : [{ role: "system", content: toTexts(system, ["system"], ignore) }];
  return [
    ...before,
    ...messages.flatMap(({ role, content: given = "" }, index) =>
      messagesFrom(role, given, ["messages", index, "content"], ignore),
    ),
  ];
}

/** The options of `chat` that both requests have. Throws INPUT_INVALID for what is not built. */
function toChatOptions(request: Fields, ignore: IgnorePart): ChatCall["options"] {
  const { tool_choice: choice, thinking, chat_template_kwargs: variables } = request;
  const { format, effort } = request.output_config ?? {};
  const constraint = responseFormat(request.output_format, "output_format") ?? responseFormat(format, "output_config.format");
  const tools = (request.tools ?? []).map(toTool);
  if ((request.mcp_servers ?? []).length > 0) {
    if (tools.length === 0)
      throw unsupportedField("mcp_servers", "connecting to servers of tools", "let the client connect, and give the tools");
    ignore(["mcp_servers"], "servers of tools are not connected to");
  }
  if (request.thread?.type === "continue")
    throw unsupportedField("thread", "keeping a conversation", "send the whole conversation in messages");
  if (request.thread !== undefined) ignore(["thread"], "no conversation is kept");
  const thinks = thinking && thinking.type !== "disabled";
  const templateVariables = { ...omitUndefined({ enable_thinking: thinks, reasoning_effort: effort }), ...variables };
  const hasVariables = thinking !== undefined || effort !== undefined || variables !== undefined;
  return {
    ...(tools.length === 0 ? {} : { tools }),
    ...omitUndefined({ constraint }),
    ...choiceOf(choice),
    ...(hasVariables ? { templateVariables } : {}),
  };
}

function choiceOf(
  { type, name: called }: NonNullable<Fields["tool_choice"]> = { type: "auto" },
): Pick<ChatRequest, "toolChoice"> {
  if (type === "auto") return {};
  if (type === "none") return { toolChoice: "none" };
  if (type === "any") return { toolChoice: "required" };
  if (type === "tool" && typeof called === "string") return { toolChoice: { name: called } };
  throw invalidField("tool_choice", 'must have the type "auto", "none", "any", or "tool" with a name');
}

function toTool({ type, name: called, description, input_schema: parameters }: ToolField): Tool {
  const own = clientTools[getKind(type)];
  if (own !== undefined) return { name: called, ...own };
  return {
    name: called,
    ...omitUndefined({ parameters, description }),
  };
}

/** Blocks of tools that run on Anthropic's servers, and what those keep for themselves: clients send them back. */
const ofServer =
  /^(?:server_tool_use|mcp_tool_use|mcp_tool_result|\w+_tool_result|container_upload|compaction|redacted_thinking|tool_reference)$/;

/** A message; results of tools in it become messages of their own, before its text. */
function messagesFrom(
  role: "user" | "assistant" | "system",
  given: Content,
  path: readonly PropertyKey[],
  ignore: IgnorePart,
): readonly ChatMessage[] {
  if (typeof given === "string") return [{ role, content: given }];
  const results: ChatMessage[] = [];
  const texts: string[] = [];
  const thoughts: string[] = [];
  const toolCalls: ToolCall[] = [];
  for (const [index, each] of given.entries()) {
    const place = [...path, index];
    const { type, id, name: called, input, tool_use_id: toolCallId, thinking } = each;
    if (type === "thinking" && role === "assistant") thoughts.push(typeof thinking === "string" ? thinking : "");
    else if (type === "tool_use" && role === "assistant" && typeof id === "string" && typeof called === "string")
      toolCalls.push({ id, name: called, arguments: jsonText(input ?? {}) });
    else if (type === "tool_result" && role === "user" && typeof toolCallId === "string")
      results.push({
        role: "tool",
        toolCallId,
        content: toTexts((each["content"] ?? "") as Content, [...place, "content"], ignore),
      });
    else texts.push(...textsOfBlock(each, place, ignore));
  }
  const own = {
    role,
    content: contentOfTexts(texts),
    ...(thoughts.length === 0 ? {} : { reasoning: thoughts.join("\n") }),
    ...(toolCalls.length === 0 ? {} : { toolCalls }),
  };
  const isEmpty = texts.length === 0 && toolCalls.length === 0 && results.length > 0;
  return isEmpty ? results : [...results, own];
}

function toTexts(given: Content, path: readonly PropertyKey[], ignore: IgnorePart): string {
  if (typeof given === "string") return given;
  if (!Array.isArray(given)) throw invalidField(path.join("."), "must be a text or a list of blocks");
  return given.flatMap((each: unknown, index) => textsOfBlock(isObject(each) ? each : {}, [...path, index], ignore)).join("\n");
}

/** The texts of a block: of a text, of a document that is one, and of what a search found. */
function textsOfBlock(each: Block, path: readonly PropertyKey[], ignore: IgnorePart): readonly string[] {
  const { type, text: own, source, content: inner, title } = each;
  if (type === "text") return [typeof own === "string" ? own : ""];
  const before = typeof title === "string" ? [title] : [];
  if (type === "document" && isObject(source)) {
    if (source["type"] === "text" && typeof source["data"] === "string") return [...before, source["data"]];
    if (source["type"] === "content")
      return [...before, toTexts((source["content"] ?? "") as Content, [...path, "source"], ignore)];
  }
  if (type === "search_result") return [...before, toTexts((inner ?? "") as Content, [...path, "content"], ignore)];
  if (typeof type === "string" && ofServer.test(type)) {
    if (type !== "redacted_thinking") ignore(path, `blocks of type ${JSON.stringify(type.slice(0, 80))} are not read`);
    return [];
  }
  throw unreadPart(path.join("."), type);
}
