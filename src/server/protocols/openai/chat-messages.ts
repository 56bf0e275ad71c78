/** Messages of OpenAI's chat completions, with the fields that others add. */
import { z } from "@hono/zod-openapi";
import { omitUndefined } from "../../../contract/checked.ts";
import { jsonText } from "../../../formats/json/exact-json.ts";
import { type ChatMessage, type ToolCall, contentOfTexts } from "../../../tasks/generation/chat/messages.ts";
import { isObject } from "../../../contract/shapes/shape.ts";
import {
  conversation,
  arrayAlternative,
  isText,
  listField,
  members,
  oneOfFields,
  requestObject,
  textField,
} from "../../http/field-schemas.ts";
import { unreadPart } from "../generation/request-errors.ts";
import { argumentsOfText } from "../generation/tool-lists.ts";

const string = z.string();
/** What a part that is not read holds, by its type: such a part is refused as a whole. */
const unread = z.unknown().optional();
const unreadFields = {
  image_url: unread,
  input_audio: unread,
  video_url: unread,
  audio_url: unread,
  image: unread,
  file: unread,
};
const part = requestObject({ type: string, text: string.optional(), refusal: string.optional(), ...unreadFields });
const content = oneOfFields<ContentField>("a text or parts of it", [textField, arrayAlternative(listField(part), () => true)]);
const written = requestObject({
  name: string,
  arguments: oneOfFields<string | Readonly<Record<string, unknown>>>("a JSON text or an object", [
    textField,
    { schema: members(), fits: isObject },
  ]).optional(),
});
const callFields = { id: string.optional(), index: z.int().optional() };
const toolCall = oneOfFields<CallField>("a call of a function or of a custom tool", [
  {
    schema: requestObject({
      ...callFields,
      type: z.literal("custom"),
      custom: requestObject({ name: string, input: string.optional() }),
    }),
    fits: (call) => isObject(call) && call["type"] === "custom",
  },
  {
    schema: requestObject({ ...callFields, type: z.literal("function").optional(), function: written }),
    fits: isObject,
  },
]);

const message = requestObject({
  role: z.enum(["system", "developer", "user", "assistant", "tool", "function"]),
  content: content.optional(),
  name: string.optional(),
  tool_calls: listField(toolCall).optional(),
  tool_call_id: string.optional(),
  function_call: written.optional().openapi({ description: "The older form of `tool_calls`" }),
  reasoning_content: string.optional(),
  reasoning: string.optional(),
  // Fields of answers that clients send back.
  refusal: string.optional(),
  annotations: z.unknown().optional(),
  audio: z.unknown().optional(),
}).openapi("ChatMessage");

/** Schema of the field `messages`. */
export const messagesField: z.ZodType<MessageField[]> = conversation(message);

/** Content of a message: a text, or parts. */
export type ContentField =
  | string
  | readonly { readonly type: string; readonly text?: string | undefined; readonly refusal?: string | undefined }[];

interface WrittenCall {
  readonly name: string;
  readonly arguments?: string | Readonly<Record<string, unknown>> | undefined;
}

type CallField =
  | { readonly id?: string | undefined; readonly type?: "function" | undefined; readonly function: WrittenCall }
  | {
      readonly id?: string | undefined;
      readonly type: "custom";
      readonly custom: { readonly name: string; readonly input?: string | undefined };
    };

/** A message of a request. */
export interface MessageField {
  readonly role: ChatMessage["role"] | "function";
  readonly content?: ContentField | undefined;
  readonly name?: string | undefined;
  readonly tool_calls?: readonly CallField[] | undefined;
  readonly tool_call_id?: string | undefined;
  readonly function_call?: WrittenCall | undefined;
  readonly reasoning_content?: string | undefined;
  readonly reasoning?: string | undefined;
}

/** The conversation of a request. Throws INPUT_INVALID for parts that are not text. */
export function toMessages(messages: readonly MessageField[]): readonly ChatMessage[] {
  return messages.map((each, index) => {
    const reasoning = each.reasoning_content ?? each.reasoning;
    const older = each.function_call === undefined ? [] : [functionCall("", each.function_call)];
    const calls = [...(each.tool_calls ?? []).map(getCall), ...older];
    return {
      role: each.role === "function" ? "tool" : each.role,
      content: contentFrom(each.content ?? "", `messages.${index}.content`),
      ...omitUndefined({ name: each.name, toolCallId: each.tool_call_id }),
      ...(each.role !== "assistant" || reasoning === undefined ? {} : { reasoning }),
      ...(calls.length === 0 ? {} : { toolCalls: calls }),
    };
  });
}

function getCall(call: CallField): ToolCall {
  const { id = "" } = call;
  if (!("custom" in call)) return functionCall(id, call.function);
  return { id, name: call.custom.name, arguments: argumentsOfText(call.custom.input ?? "") };
}

function functionCall(id: string, { name, arguments: given = "" }: WrittenCall): ToolCall {
  return { id, name, arguments: typeof given === "string" ? (given === "" ? "{}" : given) : jsonText(given) };
}

/** A message's content. Throws INPUT_INVALID for parts that are not text. */
export function contentFrom(given: ContentField, path: string): ChatMessage["content"] & {} {
  if (isText(given)) return given;
  const texts = given.map((each, index) => {
    const found = each.text ?? each.refusal;
    const media = Object.keys(unreadFields).find((field) => Object.hasOwn(each, field));
    if (media === undefined && /^(?:input_|output_)?text$|^refusal$/.test(each.type)) return found ?? "";
    throw unreadPart(`${path}.${index}`, each.type === "text" && media !== undefined ? media : each.type);
  });
  return contentOfTexts(texts);
}
