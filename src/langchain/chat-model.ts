/** A chat model of LangChain on `runtime.chat`. */
import type { CallbackManagerForLLMRun } from "@langchain/core/callbacks/manager";
import type { BaseLanguageModelInput, StructuredOutputMethodOptions } from "@langchain/core/language_models/base";
import {
  BaseChatModel,
  type BaseChatModelCallOptions,
  type BaseChatModelParams,
  type BindToolsInput,
} from "@langchain/core/language_models/chat_models";
import { assembleStructuredOutputPipeline, createContentParser } from "@langchain/core/language_models/structured_output";
import { AIMessageChunk, type BaseMessage } from "@langchain/core/messages";
import { ChatGenerationChunk, type ChatResult } from "@langchain/core/outputs";
import type { Runnable } from "@langchain/core/runnables";
import { toJsonSchema } from "@langchain/core/utils/json_schema";
import { type SerializableSchema, isSerializableSchema } from "@langchain/core/utils/standard_schema";
import { type InteropZodType, isInteropZodSchema } from "@langchain/core/utils/types";
import type { Runtime } from "../api/runtime.ts";
import type { ChatRequest } from "../api/task-requests.ts";
import { omitUndefined } from "../contract/checked.ts";
import type { ChatEvent } from "../tasks/generation/chat/chat.ts";
import type { ChatOptions } from "../tasks/generation/chat/generated-chat-options.ts";
import { messageFrom, messageTo, toMetadata, toolChoiceFrom, toolFrom, toUsageMetadata } from "./messages.ts";

/** Options of `runtime.chat`, for all calls of a model or for one; LangChain's own fields cover the other options. */
export type ChatInferyardOptions = Omit<ChatOptions, "tools" | "toolChoice" | "stream" | "stop" | "signal" | "n">;

/** Constructor fields of the model. */
export interface ChatInferyardFields extends BaseChatModelParams, ChatInferyardOptions {
  /** Runs the model. The caller disposes of it. */
  readonly runtime: Runtime;
  /** Reference of a language model with a chat template. It is loaded at the first call, and stays for the runtime's `keepAlive`. */
  readonly model: string;
}

/** Options of a call. `tool_choice`: "auto", "any", "none", or the name of a tool. */
export interface ChatInferyardCallOptions extends BaseChatModelCallOptions, ChatInferyardOptions {
  readonly tools?: readonly BindToolsInput[];
}

/** Fields of calls that are LangChain's own. */
const ownFields: ReadonlySet<string> = new Set(["ls_structured_output_format", "outputVersion", "promptIndex", "timeout"]);

/** What an answer with structure is described by: a schema of zod, of another library by Standard Schema, or a JSON Schema. */
type Schema<Output extends Fields> = SerializableSchema<Output> | InteropZodType<Output> | Fields;
type Fields = Record<string, any>; // oxlint-disable-line typescript/no-explicit-any -- as LangChain has it

/** A chat model that runs in this program. */
export class ChatInferyard extends BaseChatModel<ChatInferyardCallOptions> {
  /** Reference of the model. */
  readonly model: string;
  readonly #runtime: Runtime;
  readonly #options: ChatInferyardOptions;

  constructor(fields: ChatInferyardFields) {
    super(fields);
    const {
      runtime,
      model,
      // LangChain's own
      cache: _cache,
      callbacks: _callbacks,
      callbackManager: _callbackManager,
      maxConcurrency: _maxConcurrency,
      maxRetries: _maxRetries,
      metadata: _metadata,
      onFailedAttempt: _onFailedAttempt,
      tags: _tags,
      verbose: _verbose,
      disableStreaming: _disableStreaming,
      outputVersion: _outputVersion,
      ...options
    } = fields;
    this.model = model;
    this.#runtime = runtime;
    this.#options = options;
  }

  /** Name of the class, for LangChain. */
  static override lc_name(): string {
    return "ChatInferyard";
  }

  override _llmType(): string {
    return "inferyard";
  }

  /** The model, with tools that it may call. */
  override bindTools(
    tools: BindToolsInput[],
    options: Partial<ChatInferyardCallOptions> = {},
  ): Runnable<BaseLanguageModelInput, AIMessageChunk, ChatInferyardCallOptions> {
    return this.withConfig({ ...options, tools });
  }

  /**
   * The model, with answers that fit a schema and are parsed. The text of the answer is always constrained to the schema; `method` has no effect. Throws
   * INPUT_INVALID, at the first call, for a schema with keywords that are not supported.
   */
  override withStructuredOutput<Output extends Fields = Fields>(
    outputSchema: Schema<Output>,
    config?: StructuredOutputMethodOptions,
  ): Runnable<BaseLanguageModelInput, Output>;
  override withStructuredOutput<Output extends Fields = Fields>(
    outputSchema: Schema<Output>,
    config?: StructuredOutputMethodOptions<true>,
  ): Runnable<BaseLanguageModelInput, { raw: BaseMessage; parsed: Output }>;
  override withStructuredOutput<Output extends Fields = Fields>(
    outputSchema: Schema<Output>,
    config?: StructuredOutputMethodOptions<boolean>,
  ): Runnable<BaseLanguageModelInput, Output> | Runnable<BaseLanguageModelInput, { raw: BaseMessage; parsed: Output }> {
    const isTyped = isInteropZodSchema(outputSchema) || isSerializableSchema(outputSchema);
    const schema = isTyped ? toJsonSchema(outputSchema) : outputSchema;
    const model = this.withConfig({ constraint: { type: "schema", schema } });
    return assembleStructuredOutputPipeline<Output>(model, createContentParser<Output>(outputSchema), config?.includeRaw);
  }

  override async _generate(messages: BaseMessage[], options: this["ParsedCallOptions"]): Promise<ChatResult> {
    const { results } = await this.#runtime.chat(messages.map(messageFrom), this.#toRequest(options));
    const generations = results.map((answer) => ({
      text: answer.message.content,
      message: messageTo(answer, this.model),
      generationInfo: toMetadata(answer, this.model),
    }));
    return { generations };
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    options: this["ParsedCallOptions"],
    runManager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    const stream = await this.#runtime.chat(messages.map(messageFrom), { ...this.#toRequest(options), stream: true });
    let calls = 0;
    try {
      for await (const event of stream) {
        const message = this.#getChunk(event, calls);
        if (event.type === "toolCall") calls += 1;
        const text = event.type === "text" ? event.text : "";
        const chunk = new ChatGenerationChunk({ text, message });
        yield chunk;
        await runManager?.handleLLMNewToken(text, undefined, undefined, undefined, undefined, { chunk });
      }
    } finally {
      await stream.cancel();
    }
  }

  /** `calls`: number of calls before the event. */
  #getChunk(event: ChatEvent, calls: number): AIMessageChunk {
    if (event.type === "text") return new AIMessageChunk(event.text);
    if (event.type === "reasoning")
      return new AIMessageChunk({ content: "", additional_kwargs: { reasoning_content: event.text } });
    if (event.type === "finish") {
      const { result } = event;
      const message = new AIMessageChunk({ content: "", response_metadata: toMetadata(result, this.model) });
      return Object.assign(message, { usage_metadata: toUsageMetadata(result) });
    }
    const { id, name, arguments: args } = event.call;
    return new AIMessageChunk({
      content: "",
      tool_call_chunks: [{ type: "tool_call_chunk", id, name, args, index: calls }],
    });
  }

  #toRequest({ tools = [], tool_choice: choice, stop = [], signal, ...given }: this["ParsedCallOptions"]): ChatRequest {
    const options = Object.fromEntries(Object.entries(omitUndefined(given)).filter(([name]) => !ownFields.has(name)));
    return {
      ...this.#options,
      ...(options as ChatInferyardOptions),
      model: this.model,
      ...(tools.length === 0 ? {} : { tools: tools.map(toolFrom) }),
      ...(choice === undefined ? {} : { toolChoice: toolChoiceFrom(choice) }),
      ...(stop.length === 0 ? {} : { stop }),
      ...omitUndefined({ signal }),
    };
  }
}
