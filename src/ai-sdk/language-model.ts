/** A language model of the AI SDK on `runtime.chat`. */
import type { ChatRequest } from "../api/task-requests.ts";
import type { Runtime } from "../api/runtime.ts";
import { omitUndefined } from "../contract/checked.ts";
import { isChanged, isTextOf, jsonText } from "../formats/json/exact-json.ts";
import { InferyardError, invalidInput } from "../contract/errors.ts";
import type { ChatAnswer, ChatEvent } from "../tasks/generation/chat/chat.ts";
import type { ToolChoice } from "../tasks/generation/chat/constrained-answer.ts";
import type { ChatMessage, Tool, ToolCall } from "../tasks/generation/chat/messages.ts";
import type { TextConstraint } from "../tasks/generation/constraints/text-constraint.ts";
import type { GenerationStream } from "../tasks/generation/generation-stream.ts";
import type {
  ModelCallOptions,
  Content,
  FinishReason,
  LanguageModelV3,
  PromptMessage,
  PromptPart,
  StreamPart,
  ToolCallContent,
  ModelUsage,
} from "./model-types.ts";

/** A language model. `modelId`: a reference. */
export function languageModel(runtime: Runtime, modelId: string): LanguageModelV3 {
  return {
    specificationVersion: "v3",
    provider: "inferyard",
    modelId,
    supportedUrls: {},
    async doGenerate(options) {
      const { results } = await runtime.chat(toMessages(options.prompt), { ...toOptions(options), model: modelId });
      const [answer] = results as readonly [ChatAnswer, ...ChatAnswer[]];
      const { reasoning = "", content, toolCalls = [] } = answer.message;
      const parts: Content[] = [
        ...(reasoning === "" ? [] : [{ type: "reasoning" as const, text: reasoning }]),
        ...(content === "" ? [] : [{ type: "text" as const, text: content }]),
        ...toolCalls.map(callTo),
      ];
      return { content: parts, finishReason: toFinishReason(answer), usage: toUsage(answer), warnings: [] };
    },
    async doStream(options) {
      const stream = await runtime.chat(toMessages(options.prompt), { ...toOptions(options), model: modelId, stream: true });
      return { stream: getParts(stream) };
    },
  };
}

/** The answer as a stream of the SDK's parts. Cancelling it ends the generation. */
function getParts(stream: GenerationStream<unknown, ChatEvent>): ReadableStream<StreamPart> {
  const parts = streamParts(stream);
  return new ReadableStream<StreamPart>(
    {
      async pull(controller) {
        const { done, value } = await parts.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
      cancel: () => stream.cancel(),
    },
    { highWaterMark: 0 },
  );
}

async function* streamParts(stream: GenerationStream<unknown, ChatEvent>): AsyncGenerator<StreamPart, void> {
  yield { type: "stream-start", warnings: [] };
  let open: "text" | "reasoning" | undefined;
  let blocks = 0;
  const end = (): StreamPart[] => {
    const ended: StreamPart[] = open === undefined ? [] : [{ type: `${open}-end`, id: String(blocks) }];
    open = undefined;
    return ended;
  };
  try {
    for await (const event of stream) {
      if (event.type === "finish") {
        yield* end();
        yield { type: "finish", finishReason: toFinishReason(event.result), usage: toUsage(event.result) };
      } else if (event.type === "toolCall") {
        yield* end();
        const { id, name: toolName, arguments: input } = event.call;
        yield { type: "tool-input-start", id, toolName };
        yield { type: "tool-input-delta", id, delta: input };
        yield { type: "tool-input-end", id };
        yield callTo(event.call);
      } else {
        if (open !== event.type) {
          yield* end();
          blocks += 1;
          open = event.type;
          yield { type: `${event.type}-start`, id: String(blocks) };
        }
        yield { type: `${event.type}-delta`, id: String(blocks), delta: event.text };
      }
    }
  } catch (error) {
    yield { type: "error", error };
  }
}

function toMessages(prompt: readonly PromptMessage[]): readonly ChatMessage[] {
  return prompt.flatMap((message): readonly ChatMessage[] => {
    if (message.role === "system") return [message];
    const { role, content } = message;
    if (role === "tool") return content.map(toResult);
    const texts = content.filter(({ type }) => type === "text").map(({ text = "" }) => text);
    const thoughts = content.filter(({ type }) => type === "reasoning").map(({ text = "" }) => text);
    const calls = content.filter(({ type }) => type === "tool-call");
    const other = content.find(({ type }) => !["text", "reasoning", "tool-call"].includes(type));
    if (other !== undefined) throw notRead(other.type);
    return [
      {
        role,
        content: texts.length === 0 ? "" : texts.map((text) => ({ type: "text" as const, text })),
        ...(thoughts.length === 0 ? {} : { reasoning: thoughts.join("\n") }),
        ...(calls.length === 0
          ? {}
          : {
              toolCalls: calls.map(callFrom),
            }),
      },
    ];
  });
}

/** A call. The SDK reads its input with JSON.parse, so that arguments which that changes are given in a second form, which comes back with the next prompt. */
function callTo({ id: toolCallId, name: toolName, arguments: input }: ToolCall): ToolCallContent {
  const metadata = isChanged(input) ? { providerMetadata: { inferyard: { arguments: input } } } : {};
  return { type: "tool-call", toolCallId, toolName, input, ...metadata };
}

function callFrom({ toolCallId: id = "", toolName: name = "", input = {}, providerOptions }: PromptPart): ToolCall {
  const written = providerOptions?.["inferyard"]?.["arguments"];
  const text = typeof input === "string" ? input : jsonText(input);
  return { id, name, arguments: isTextOf(written, input) ? written : text };
}

function toResult({ type, toolCallId, toolName, output }: PromptPart): ChatMessage {
  if (type !== "tool-result" || output === undefined) throw notRead(type);
  if (output.type === "content") throw notRead("tool-result with content");
  const { value = output.reason ?? "the call was denied" } = output;
  return {
    role: "tool",
    content: typeof value === "string" ? value : jsonText(value),
    ...omitUndefined({ toolCallId, name: toolName }),
  };
}

function notRead(type: string): InferyardError {
  return invalidInput(`a part of type "${type}" is not read: models here read text`, "send text");
}

function toOptions(options: ModelCallOptions): Omit<ChatRequest, "model"> {
  const { responseFormat, toolChoice, tools = [], topP, stopSequences = [] } = options;
  const given = tools.map(({ type, name, description, inputSchema }): Tool => {
    if (type !== "function")
      throw new InferyardError("NOT_BUILT", `the tool "${name}" of a provider is not built`, { remedy: "give functions" });
    return {
      name,
      parameters: inputSchema as NonNullable<Tool["parameters"]>,
      ...omitUndefined({ description }),
    };
  });
  const own = options.providerOptions?.["inferyard"] ?? {};
  return {
    ...omitUndefined({
      maxNewTokens: options.maxOutputTokens,
      temperature: options.temperature,
      topP: topP === 0 ? undefined : topP,
      topK: options.topK,
      presencePenalty: options.presencePenalty,
      frequencyPenalty: options.frequencyPenalty,
      seed: options.seed,
      signal: options.abortSignal,
    }),
    ...(stopSequences.length === 0 ? {} : { stop: stopSequences }),
    ...(given.length === 0 ? {} : { tools: given }),
    ...(toolChoice === undefined ? {} : { toolChoice: choiceOf(toolChoice) }),
    ...(responseFormat?.type === "json" ? { constraint: toConstraint(responseFormat.schema) } : {}),
    ...own,
  };
}

function choiceOf(choice: NonNullable<ModelCallOptions["toolChoice"]>): ToolChoice {
  return choice.type === "tool" ? { name: choice.toolName } : choice.type;
}

function toConstraint(schema: unknown): TextConstraint {
  return schema === undefined ? { type: "json", value: "object" } : { type: "schema", schema: schema as object };
}

function toFinishReason({ finishReason }: ChatAnswer): FinishReason {
  return { unified: finishReason === "toolCalls" ? "tool-calls" : finishReason, raw: finishReason };
}

function toUsage({ promptTokens: total, cachedTokens: cacheRead, tokens }: ChatAnswer): ModelUsage {
  return {
    inputTokens: { total, noCache: total - cacheRead, cacheRead, cacheWrite: undefined },
    outputTokens: { total: tokens.length, text: undefined, reasoning: undefined },
  };
}
