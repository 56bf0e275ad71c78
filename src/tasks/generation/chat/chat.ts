/** Answers a conversation with a language model. */
import { omitUndefined } from "../../../contract/checked.ts";
import { invalidInput, unsupportedModel } from "../../../contract/errors.ts";
import type { Manifest } from "../../../models/manifest.ts";
import { refuseUnlisted } from "../../../runtime/options/option.ts";
import type { GeneratedLogprob, GeneratedText, GenerationEvent } from "../generated-text.ts";
import { getTurnEnd } from "../sampling/end-of-turn.ts";
import type { GenerateCall, PrepareCall, PreparedPrompts, TextGenerator } from "../text-generator.ts";
import { type AnswerFormat, getAnswerFormat, getMarkers, opensReasoning } from "./answer-format.ts";
import { finalChannel } from "./forms/channels.ts";
import { callForms } from "./forms/known-forms.ts";
import { type AnswerPart, AnswerReader, type AnswerReaderOptions } from "./answer-reader.ts";
import type { ChatOptions } from "./generated-chat-options.ts";
import { ChatTemplate, type TemplateConversation, type TemplateWorkers } from "./chat-template.ts";
import { chosenTools, constrainedAnswer, forcedCall } from "./constrained-answer.ts";
import { type ChatMessage, type ToolCall, checkConversation } from "./messages.ts";

/** Tokens of an answer at most if the model states no context length, and nothing else does. */
const maxAnswerTokens = 4096;

/** The model's message in a conversation. */
export interface ChatAnswerMessage extends ChatMessage {
  readonly role: "assistant";
  readonly content: string;
}

/** One answer. */
export interface ChatAnswer extends Omit<GeneratedText, "text" | "finishReason"> {
  /** The message to add to the conversation. */
  readonly message: ChatAnswerMessage;
  /** As for texts; "toolCalls" if the model calls tools. */
  readonly finishReason: GeneratedText["finishReason"] | "toolCalls";
}

/** One part of an answer while it is generated. `index`: position of the answer in the results. */
export type ChatEvent = (
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "reasoning"; readonly text: string }
  | { readonly type: "toolCall"; readonly call: ToolCall }
  | { readonly type: "finish"; readonly result: ChatAnswer }
) & {
  readonly index: number;
  /** Log probabilities of the tokens since the last event, if they were requested. */
  readonly logprobs?: readonly GeneratedLogprob[];
};

/** A conversation that is ready to be answered. */
export interface PreparedChat extends AnswerReaderOptions {
  readonly prepared: PreparedPrompts;
  /** Beginning of each answer, which the model does not write. */
  readonly opening: string;
  readonly isConstrained: boolean;
}

/** A conversation to answer, and for whom. */
export interface Conversation {
  readonly messages: readonly ChatMessage[];
  readonly options: ChatOptions;
  readonly call: PrepareCall;
}

/**
 * Renders a conversation and checks it. Throws INPUT_INVALID, MODEL_UNSUPPORTED for a model without a chat template or for tools that its template has no
 * place for, and INPUT_TOO_LONG.
 */
export async function prepareChat(
  generator: TextGenerator,
  template: ChatTemplate,
  { messages, options, call }: Conversation,
): Promise<PreparedChat> {
  const { tools: offered = [], toolChoice = "auto", templateVariables: variables = {}, ...generation } = options;
  checkToolChoice(toolChoice);
  checkConversation(messages, offered);
  const tools = chosenTools(offered, toolChoice);
  const { constraint } = generation;
  const schemas = generator.schemaSettings(generation);
  const mustCall = toolChoice !== "auto" && toolChoice !== "none";
  const { tokenizer } = generator;
  const hasTools = tools.length > 0;
  const format = getAnswerFormat(template.source(hasTools), (text) => tokenizer?.tokenToId(text) !== undefined);
  if (hasTools) await checkToolUse(template, format);
  const rendered = await template.render({ messages, tools, variables });
  const end = tokenizer && getTurnEnd(await template.turnEnding(hasTools), tokenizer);
  const thinks = format.reasoning !== undefined && opensReasoning(rendered, format.reasoning);
  const forced = mustCall ? forcedCall(format, tools, schemas) : undefined;
  const thought = forced !== undefined && thinks ? `${format.reasoning.close}\n\n` : "";
  const prompt = `${rendered}${thought}${forced?.opening ?? ""}`;
  const answer =
    constraint === undefined || mustCall
      ? undefined
      : constrainedAnswer(constraint, {
          form: format.hasChannels ? undefined : format.calls,
          tools,
          kept: getMarkers(format),
          thinks,
          settings: schemas,
        });
  const given = {
    addSpecialTokens: false, // the template writes them
    startsText: true,
    maxNewTokens: generator.limits.contextLength === undefined ? maxAnswerTokens : Number.POSITIVE_INFINITY,
    ...omitUndefined({ grammar: forced?.grammar ?? answer, endTokens: end?.endTokens }),
    // A constrained text ends where it must, and may hold the words of the end.
    ...(forced === undefined && answer === undefined ? omitUndefined({ stop: end?.stop }) : {}),
    ...(answer === undefined
      ? {}
      : omitUndefined({ constrainedAfter: format.hasChannels ? finalChannel : thinks ? format.reasoning.close : undefined })),
  };
  const prepared = await generator.prepare([prompt], generation, given, call);
  const isConstrained = answer !== undefined || forced !== undefined;
  return {
    prepared,
    format,
    tools,
    startsInReasoning: thinks && forced === undefined,
    opening: forced?.opening ?? "",
    isConstrained,
  };
}

/** Throws MODEL_UNSUPPORTED for a model whose calls would not be read. */
async function checkToolUse(template: ChatTemplate, { calls }: AnswerFormat): Promise<void> {
  await template.checkTools();
  if (calls !== undefined) return;
  throw unsupportedModel(
    "tools are given, and the form in which the model calls them is not known",
    `leave tools out, or use a model whose chat template teaches one of the known forms: ${callForms.map(({ name }) => name).join(", ")}`,
  );
}

function checkToolChoice(toolChoice: unknown): void {
  if (typeof toolChoice === "string") refuseUnlisted("toolChoice", toolChoice, ["auto", "none", "required"]);
  else if (typeof toolChoice !== "object" || toolChoice === null || typeof Reflect.get(toolChoice, "name") !== "string") {
    throw invalidInput('toolChoice must be "auto", "none", "required" or { name }');
  }
}

/** Generates the answers of a conversation. */
export async function answerChat(
  generator: TextGenerator,
  { prepared, format, tools, startsInReasoning, opening, isConstrained }: PreparedChat,
  call: Omit<GenerateCall, "emit" | "kept"> & { readonly emit?: (event: ChatEvent) => Promise<void> },
): Promise<readonly ChatAnswer[]> {
  const answers = Array.from(
    { length: prepared.settings.n },
    () => new Answer(new AnswerReader({ format, tools, startsInReasoning, isConstrained }), opening),
  );
  const emit = async (event: GenerationEvent): Promise<void> => {
    for (const each of answers[event.index]?.take(event) ?? []) await call.emit?.({ ...each, index: event.index } as ChatEvent);
  };
  const texts = await generator.generate(prepared, { ...call, emit, kept: getMarkers(format) });
  return texts.flatMap((_, index) => answers[index]?.result ?? []);
}

/** The prompt of a conversation, as `chat` gives it to the model. Throws as `ChatTemplate.render` does, and MODEL_UNSUPPORTED for tools that the template has no place for. */
export async function renderPrompt(
  template: ChatTemplate,
  { continues, ...conversation }: TemplateConversation & { readonly continues: boolean },
): Promise<string> {
  if (conversation.tools.length > 0) await template.checkTools();
  return continues ? template.renderToContinue(conversation) : template.render(conversation);
}

/** The chat template of a model, which runs in `workers`. Throws MODEL_UNSUPPORTED if it has none. */
export function getChatTemplate({ name, chatTemplates, text }: Manifest, workers: TemplateWorkers): ChatTemplate {
  if (chatTemplates !== undefined) return new ChatTemplate(chatTemplates, text?.tokenizerConfig ?? {}, workers);
  throw unsupportedModel(
    `${name} has no chat template, so it was not made for conversations`,
    "use `generate`, or add chat_template.jinja to the model's folder",
  );
}

/** One answer, as far as it is known. */
class Answer {
  result: ChatAnswer | undefined;
  readonly #reader: AnswerReader;
  #content = "";
  #reasoning = "";
  readonly #calls: ToolCall[] = [];
  #logprobs: GeneratedLogprob[] = [];

  /** `opening`: what the answer begins with before the first event. */
  constructor(reader: AnswerReader, opening: string) {
    this.#reader = reader;
    this.#events(reader.push(opening));
  }

  /** Adds an event of the text, and returns the events of the answer. */
  take(event: GenerationEvent): readonly object[] {
    if (event.type === "text") {
      if (event.logprob !== undefined) this.#logprobs.push(event.logprob);
      return this.#events(this.#reader.push(event.text));
    }
    const events = this.#events([...this.#reader.push(event.text), ...this.#reader.end(event.result.finishReason === "length")]);
    const { text: _text, finishReason, ...rest } = event.result;
    const calls = this.#calls;
    const message = omitUndefined({
      role: "assistant" as const,
      content: this.#content,
      reasoning: this.#reasoning === "" ? undefined : this.#reasoning,
      toolCalls: calls.length === 0 ? undefined : calls,
    });
    this.result = { message, ...rest, finishReason: calls.length > 0 && finishReason === "stop" ? "toolCalls" : finishReason };
    return [...events, this.#withLogprobs({ type: "finish", result: this.result })];
  }

  #events(parts: readonly AnswerPart[]): readonly object[] {
    return parts.map((part) => {
      if (part.type === "text") this.#content += part.text;
      else if (part.type === "reasoning") this.#reasoning += part.text;
      else this.#calls.push(part.call);
      return this.#withLogprobs(part);
    });
  }

  #withLogprobs(event: object): object {
    if (this.#logprobs.length === 0) return event;
    const logprobs = this.#logprobs;
    this.#logprobs = [];
    return { ...event, logprobs };
  }
}
