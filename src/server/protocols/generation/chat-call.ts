/** Conversations, as the routes of all protocols have them continued or count their tokens. */
import type { Context } from "hono";
import type { ChatRequest } from "../../../api/task-requests.ts";
import { omitUndefined } from "../../../contract/checked.ts";
import type { ChatAnswer, ChatEvent } from "../../../tasks/generation/chat/chat.ts";
import type { ChatMessage } from "../../../tasks/generation/chat/messages.ts";
import { type Env, getCaller } from "../../http/context.ts";
import type { CallResult } from "../../serving/calls.ts";
import type { Service } from "../../serving/service.ts";
import { type AnswerForm, answerGeneration } from "./answer.ts";
import type { GenerationCall } from "./open-stream.ts";

/** A conversation that a request asks to continue. */
export interface ChatCall extends Omit<GenerationCall<ChatCallResult, ChatEvent>, "start"> {
  readonly messages: readonly ChatMessage[];
  /** Tools, sampling, constraint and variables of the chat template. */
  readonly options: Omit<ChatRequest, "model">;
}

/** The answers to a conversation. */
export interface ChatCallResult {
  readonly results: readonly ChatAnswer[];
}

/** How a protocol writes the answers to conversations. */
export type ChatForm = AnswerForm<ChatCallResult, ChatEvent>;

/** Answers a request to continue a conversation. */
export function answerChatCall(
  service: Service,
  context: Context<Env>,
  { messages, options, ...call }: ChatCall,
  form: ChatForm,
): Promise<Response> {
  const start: GenerationCall<ChatCallResult, ChatEvent>["start"] = (on) =>
    service.runtime.chat(messages, { ...options, ...on, stream: true });
  return answerGeneration(service, context, { ...call, start }, form);
}

/** The prompt that the chat template of a model makes of a conversation, as text and as tokens. */
type ChatPrompt = Awaited<ReturnType<Service["runtime"]["chatPrompt"]>>;

/** What `read` takes of the prompt that the model's chat template makes of a conversation. The model is not loaded. */
export function readChatPrompt<Result>(
  service: Service,
  context: Context<Env>,
  { model, messages, options }: Pick<ChatCall, "model" | "messages" | "options">,
  read: (prompt: ChatPrompt) => Result,
): Promise<CallResult<Result>> {
  const { tools, toolChoice, templateVariables } = options;
  const given = omitUndefined({ tools, toolChoice, templateVariables });
  return service.calls.runWithoutModel(getCaller(context), { model }, async ({ reference }, signal) =>
    read(await service.runtime.chatPrompt(messages, { ...given, model: reference, signal })),
  );
}
