/** Requests of Anthropic's messages. */
import { z } from "@hono/zod-openapi";
import type { ChatRequest } from "../../../api/task-requests.ts";
import { jsonText } from "../../../formats/json/exact-json.ts";
import type { ChatMessage, Tool, ToolCall } from "../../../tasks/generation/chat/messages.ts";
import { conversation, isObject, listOf, members, name, requestObject } from "../../http/field-schemas.ts";
import { responseFormat } from "../generation/constraint-fields.ts";
import { invalidField } from "../generation/request-errors.ts";

type Block = Readonly<Record<string, unknown>>;

/** A validated request. */
export interface MessagesRequest {
  readonly model?: string;
  readonly max_tokens: number;
  readonly messages: readonly { readonly role: "user" | "assistant"; readonly content: string | readonly Block[] }[];
  readonly system?: string | readonly Block[];
  readonly stop_sequences?: readonly string[];
  readonly stream?: boolean;
  readonly temperature?: number;
  readonly top_p?: number;
  readonly top_k?: number;
  readonly tools?: readonly Block[];
  readonly tool_choice?: Block;
  readonly thinking?: Block;
  readonly output_format?: Block;
  readonly output_config?: Block;
}

const block = members();
const content = z.union([z.string(), listOf(block)]);

const fields = {
  model: name().optional().openapi({ description: "Name of a model. Default: the server's default model" }),
  messages: conversation(z.looseObject({ role: z.enum(["user", "assistant"]), content })),
  system: content.optional(),
  tools: listOf(block).optional(),
  tool_choice: block.optional().openapi({ description: 'Of the type "auto", "none", "any", or "tool" with a name' }),
  output_format: block.optional().openapi({ description: 'Of the type "json_schema", with a schema: what the text must be' }),
  output_config: block
    .optional()
    .openapi({ description: "`format`: as `output_format`; `effort` is given to the model's chat template" }),
  thinking: block.optional().openapi({ description: "Type disabled turns thinking off, where the model's chat template can" }),
};

/** Schema of a request for a message. */
export const messagesRequestSchema: z.ZodType<MessagesRequest> = requestObject({
  ...fields,
  max_tokens: z.int().positive(),
  stop_sequences: listOf(z.string()).optional(),
  stream: z.boolean().optional(),
  temperature: z.number().min(0).max(100).optional(),
  top_p: z.number().min(0).max(1).optional(),
  top_k: z.int().nonnegative().optional(),
  metadata: members().optional(),
  service_tier: z.string().optional(),
  betas: listOf(z.string()).optional(),
}).openapi("AnthropicMessagesRequest") as never;

/** Schema of a request to count tokens. */
export const countRequestSchema: z.ZodType<Omit<MessagesRequest, "max_tokens">> = requestObject({
  ...fields,
  betas: listOf(z.string()).optional(),
}).openapi("AnthropicCountTokensRequest") as never;

/** The conversation of a request. Throws INPUT_INVALID for blocks that are not read. */
export function conversationOf({ messages, system }: Pick<MessagesRequest, "messages" | "system">): readonly ChatMessage[] {
  const before: ChatMessage[] = system === undefined ? [] : [{ role: "system", content: textsOf(system, "system") }];
  return [...before, ...messages.flatMap(({ role, content }, index) => messagesFrom(role, content, `messages.${index}.content`))];
}

/** The options of `chat` that a request asks for. Throws INPUT_INVALID for what is not built. */
export function chatOptionsOf(
  request: Omit<MessagesRequest, "max_tokens"> & { readonly max_tokens?: number },
): Omit<ChatRequest, "model"> {
  const {
    max_tokens: maxNewTokens,
    stop_sequences: stop,
    temperature,
    top_p: topP,
    top_k: topK,
    tool_choice: choice,
    thinking,
  } = request;
  const { format, effort } = request.output_config ?? {};
  const constraint = responseFormat(request.output_format, "output_format") ?? responseFormat(format, "output_config.format");
  const tools = (request.tools ?? []).map((tool, index) => toolOf(tool, `tools.${index}`));
  return {
    ...(maxNewTokens === undefined ? {} : { maxNewTokens }),
    ...(stop === undefined || stop.length === 0 ? {} : { stop }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : topP === 0 ? { temperature: 0 } : { topP }),
    ...(topK === undefined ? {} : { topK }),
    ...(tools.length === 0 ? {} : { tools }),
    ...(constraint === undefined ? {} : { constraint }),
    ...choiceOf(choice),
    ...(thinking === undefined && effort === undefined
      ? {}
      : {
          templateVariables: {
            ...(thinking === undefined ? {} : { enable_thinking: thinking["type"] !== "disabled" }),
            ...(effort === undefined ? {} : { reasoning_effort: effort }),
          },
        }),
  };
}

function choiceOf({ type, name: called }: Block = { type: "auto" }): Pick<ChatRequest, "toolChoice"> {
  if (type === "auto") return {};
  if (type === "none") return { toolChoice: "none" };
  if (type === "any") return { toolChoice: "required" };
  if (type === "tool" && typeof called === "string") return { toolChoice: { name: called } };
  throw invalidField("tool_choice", 'must have the type "auto", "none", "any", or "tool" with a name');
}

function toolOf({ name: called, description, input_schema: schema, type = "custom" }: Block, path: string): Tool {
  if (type !== "custom" || typeof called !== "string") throw invalidField(path, "must be a tool with a name and an input_schema");
  if (!isObject(schema)) throw invalidField(`${path}.input_schema`, "must be a JSON Schema");
  return { name: called, parameters: schema, ...(typeof description === "string" ? { description } : {}) };
}

/** A message; results of tools in it become messages of their own, before its text. */
function messagesFrom(role: "user" | "assistant", content: string | readonly Block[], path: string): readonly ChatMessage[] {
  if (typeof content === "string") return [{ role, content }];
  const results: ChatMessage[] = [];
  const texts: string[] = [];
  const thoughts: string[] = [];
  const toolCalls: ToolCall[] = [];
  for (const [index, block] of content.entries()) {
    const place = `${path}.${index}`;
    const { type, text, id, name: called, input, tool_use_id: toolCallId, thinking } = block;
    if (type === "text" && typeof text === "string") texts.push(text);
    else if (type === "thinking" && role === "assistant") thoughts.push(typeof thinking === "string" ? thinking : "");
    else if (type === "redacted_thinking" && role === "assistant") continue;
    else if (type === "tool_use" && role === "assistant" && typeof id === "string" && typeof called === "string")
      toolCalls.push({ id, name: called, arguments: jsonText(input ?? {}) });
    else if (type === "tool_result" && role === "user" && typeof toolCallId === "string")
      results.push({ role: "tool", toolCallId, content: textsOf((block["content"] ?? "") as string | readonly Block[], place) });
    else
      throw invalidField(place, `a block of type ${JSON.stringify(type)} is not read here: models here read text`, "send text");
  }
  const own = {
    role,
    content: texts.join("\n"),
    ...(thoughts.length === 0 ? {} : { reasoning: thoughts.join("\n") }),
    ...(toolCalls.length === 0 ? {} : { toolCalls }),
  };
  const isEmpty = texts.length === 0 && toolCalls.length === 0 && results.length > 0;
  return isEmpty ? results : [...results, own];
}

function textsOf(content: string | readonly Block[], path: string): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) throw invalidField(path, "must be a text or a list of blocks");
  return content
    .map(({ type, text }: Block, index) => {
      if (type === "text" && typeof text === "string") return text;
      throw invalidField(
        `${path}.${index}`,
        `a block of type ${JSON.stringify(type)} is not read here: models here read text`,
        "send text",
      );
    })
    .join("\n");
}
