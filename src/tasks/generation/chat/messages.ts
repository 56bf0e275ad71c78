/** Messages of a conversation, and the tools that a model may call. */
import { type InferyardError, invalidInput } from "../../../contract/errors.ts";
import { isObject } from "../../../contract/shapes/shape.ts";

/** Who a message is from. "developer" counts as "system". */
export type ChatRole = "system" | "developer" | "user" | "assistant" | "tool";

/** A part of a message. */
export interface TextPart {
  readonly type: "text";
  readonly text: string;
}

/** A call of a tool, as a model wrote it. */
export interface ToolCall {
  /** Identifies the call; the message with its result names it. Nine letters and digits. */
  readonly id: string;
  /** Name of the tool. */
  readonly name: string;
  /**
   * The arguments as JSON text: an object. Truncated arguments of a truncated answer may be sent back unchanged: the chat template gets their complete members,
   * or the text itself if it is not the beginning of an object.
   */
  readonly arguments: string;
}

/** A message of a conversation. */
export interface ChatMessage {
  readonly role: ChatRole;
  /** Text, or parts of it. Default: none, for messages that only call tools. */
  readonly content?: string | readonly TextPart[];
  /** The model's thoughts before its answer. Only for "assistant". */
  readonly reasoning?: string;
  /** Calls of tools. Only for "assistant". */
  readonly toolCalls?: readonly ToolCall[];
  /** The call whose result this is. Only for "tool". */
  readonly toolCallId?: string;
  /** Name of the tool whose result this is, or of who speaks. */
  readonly name?: string;
}

/** A tool that a model may call. */
export interface Tool {
  readonly name: string;
  /** Description of the tool for the model. */
  readonly description?: string;
  /** JSON Schema of its arguments. Default: it has none. */
  readonly parameters?: Readonly<Record<string, unknown>>;
}

const roles: ReadonlySet<unknown> = new Set<ChatRole>(["system", "developer", "user", "assistant", "tool"]);

/** Throws INPUT_INVALID for the first message or tool that does not conform to its type, with its position. */
export function checkConversation(messages: readonly ChatMessage[], tools: readonly Tool[]): void {
  if (!Array.isArray(messages) || messages.length === 0) throw invalidInput("messages must be a list of at least one message");
  for (const [index, message] of messages.entries()) checkMessage(message, `message ${index}`);
  if (!Array.isArray(tools)) throw invalidInput("tools must be a list");
  const names = new Set<string>();
  for (const [index, tool] of tools.entries()) {
    checkTool(tool, `tool ${index}`);
    if (names.has(tool.name)) throw invalidInput(`two tools have the name "${tool.name}"`);
    names.add(tool.name);
  }
}

/** The text of a message; parts are joined by line ends. */
export function getMessageText({ content = "" }: Pick<ChatMessage, "content">): string {
  return typeof content === "string" ? content : content.map(({ text }) => text).join("\n");
}

/** Content that was given in parts. The template gets it in the form that it reads. */
export function contentOfTexts(texts: readonly string[]): ChatMessage["content"] & {} {
  return texts.length === 0 ? "" : texts.map((text) => ({ type: "text", text }));
}

function checkMessage(message: unknown, place: string): void {
  if (!isObject(message)) throw wrong(place, "must be an object with role and content");
  const { role, content, reasoning, toolCalls, toolCallId, name } = message;
  if (!roles.has(role)) throw wrong(place, `has the role ${JSON.stringify(role)}, and must have one of ${[...roles].join(", ")}`);
  if (content !== undefined && typeof content !== "string" && !isParts(content))
    throw wrong(place, 'has content that is neither a text nor a list of parts { type: "text", text }');
  if (content === undefined && (role !== "assistant" || toolCalls === undefined)) throw wrong(place, "has no content");
  for (const [field, value] of Object.entries({ reasoning, toolCallId, name })) {
    if (value !== undefined && typeof value !== "string") throw wrong(place, `has a ${field} that is not a text`);
  }
  if (role !== "assistant" && (toolCalls !== undefined || reasoning !== undefined))
    throw wrong(place, "has toolCalls or reasoning, which only messages of the assistant have");
  if (toolCalls === undefined) return;
  if (!Array.isArray(toolCalls)) throw wrong(place, "has toolCalls that are not a list");
  for (const call of toolCalls as readonly unknown[]) {
    if (
      !isObject(call) ||
      typeof call["name"] !== "string" ||
      typeof call["id"] !== "string" ||
      typeof call["arguments"] !== "string"
    )
      throw wrong(place, "has a tool call without id, name, or arguments that are a JSON text");
  }
}

function checkTool(tool: unknown, place: string): void {
  if (!isObject(tool) || typeof tool["name"] !== "string" || tool["name"] === "")
    throw wrong(place, "must be an object with a name");
  const { description, parameters } = tool;
  if (description !== undefined && typeof description !== "string") throw wrong(place, "has a description that is not a text");
  if (parameters !== undefined && !isObject(parameters)) throw wrong(place, "has parameters that are not a JSON Schema");
}

function isParts(content: unknown): boolean {
  return (
    Array.isArray(content) &&
    content.every((part) => isObject(part) && part["type"] === "text" && typeof part["text"] === "string")
  );
}

function wrong(place: string, problem: string): InferyardError {
  return invalidInput(`${place} ${problem}`, "correct the message, or leave the field out");
}
