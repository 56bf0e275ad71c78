/** Messages and tools of LangChain, as `runtime.chat` takes and gives them. */
import { AIMessage, type BaseMessage, type OpenAIToolCall, type ToolMessage, type UsageMetadata } from "@langchain/core/messages";
import type { ToolCall as LangChainCall, ToolCallChunk } from "@langchain/core/messages/tool";
import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
import type { BindToolsInput, ToolChoice as LangChainChoice } from "@langchain/core/language_models/chat_models";
import { omitUndefined } from "../contract/checked.ts";
import { parseObject } from "../formats/json/complete-json.ts";
import { isTextOf, jsonText } from "../formats/json/exact-json.ts";
import { type InferyardError, invalidInput } from "../contract/errors.ts";
import type { ChatAnswer } from "../tasks/generation/chat/chat.ts";
import type { ToolChoice } from "../tasks/generation/chat/constrained-answer.ts";
import type { ChatMessage, ChatRole, Tool, ToolCall } from "../tasks/generation/chat/messages.ts";

const roles: Readonly<Record<string, ChatRole>> = { system: "system", human: "user", ai: "assistant", tool: "tool" };

/** A message of a conversation. Throws INPUT_INVALID for parts that are not text. */
export function messageFrom(message: BaseMessage): ChatMessage {
  const type = message.getType();
  const role = roles[type];
  if (role === undefined) throw notRead(`a message of type "${type}"`);
  const { content } = message;
  const other = typeof content === "string" ? undefined : content.find((part) => !readParts.has(part.type));
  if (other !== undefined) throw notRead(`a part of type "${other.type}"`);
  const text = { role, content: message.text };
  if (role === "tool") return { ...text, toolCallId: (message as ToolMessage).tool_call_id };
  if (role !== "assistant") return text;
  const { tool_calls: calls = [], additional_kwargs: extra } = message as AIMessage;
  const { reasoning_content: reasoning } = extra;
  const texts = argumentTexts(message);
  return {
    ...text,
    ...(typeof reasoning === "string" ? { reasoning } : {}),
    ...(calls.length === 0
      ? {}
      : {
          toolCalls: calls.map(({ id = "", name, args }) => {
            const text = texts.get(id);
            return { id, name, arguments: isTextOf(text, args) ? text : jsonText(args) };
          }),
        }),
  };
}

/** What the model wrote as arguments, by the id of the call: of a whole answer in `additional_kwargs`, as LangChain's OpenAI package has it, and of a streamed one in its chunks. */
function argumentTexts({
  additional_kwargs: { tool_calls: written = [] },
  ...message
}: Pick<AIMessage, "additional_kwargs"> & { readonly tool_call_chunks?: readonly ToolCallChunk[] }): ReadonlyMap<
  string,
  unknown
> {
  const { tool_call_chunks: chunks = [] } = message;
  return new Map([
    ...chunks.map(({ id = "", args }) => [id, args] as const),
    ...(Array.isArray(written) ? written : []).map((call) => [call.id, call.function?.arguments] as const),
  ]);
}

/** Content that repeats other fields of a message is left out. */
const readParts: ReadonlySet<string> = new Set(["text", "reasoning", "tool_call", "tool_use"]);

function notRead(what: string): InferyardError {
  return invalidInput(`${what} is not read: models here read text`, "send text");
}

/** Converts any kind of LangChain tool. */
export function toolFrom(tool: BindToolsInput): Tool {
  const { function: given } = convertToOpenAITool(tool as Parameters<typeof convertToOpenAITool>[0]);
  return {
    name: given.name,
    ...omitUndefined({ description: given.description, parameters: given.parameters }),
  };
}

/** Converts LangChain's tool choice: "any" requires some call; another text, or a function, is the name of a tool. */
export function toolChoiceFrom(choice: LangChainChoice): ToolChoice {
  if (choice === "any" || choice === "required") return "required";
  if (choice === "auto" || choice === "none") return choice;
  if (typeof choice === "string") return { name: choice };
  const given = choice["function"] as { readonly name?: unknown } | undefined;
  const name = given?.name ?? choice["name"];
  if (typeof name === "string") return { name };
  throw invalidInput('tool_choice must be "auto", "any", "none" or the name of a tool');
}

/** An answer as a message. */
export function messageTo(answer: ChatAnswer, model: string): AIMessage {
  const { content, reasoning, toolCalls = [] } = answer.message;
  const message = new AIMessage({
    content,
    tool_calls: toolCalls.map(callTo),
    additional_kwargs: {
      ...omitUndefined({ reasoning_content: reasoning }),
      ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls.map(writtenCall) }),
    },
    response_metadata: toMetadata(answer, model),
  });
  return Object.assign(message, { usage_metadata: toUsageMetadata(answer) });
}

function callTo({ id, name, arguments: given }: ToolCall): LangChainCall {
  return { type: "tool_call", id, name, args: parseObject(given) as Record<string, unknown> };
}

/** The call with the text of its arguments: `args` has the numbers and the order of keys of JavaScript. */
function writtenCall({ id, name, arguments: written }: ToolCall): OpenAIToolCall {
  return { id, type: "function", function: { name, arguments: written } };
}

/** Numbers of tokens. */
export function toUsageMetadata({ promptTokens, tokens, cachedTokens }: ChatAnswer): UsageMetadata {
  return {
    input_tokens: promptTokens,
    output_tokens: tokens.length,
    total_tokens: promptTokens + tokens.length,
    input_token_details: { cache_read: cachedTokens },
  };
}

/** Why an answer ends, and which model gave it. */
export function toMetadata({ finishReason }: ChatAnswer, model: string): Record<string, string> {
  return { finish_reason: finishReason === "toolCalls" ? "tool_calls" : finishReason, model_name: model };
}
