/**
 * The runtime that users hold: it loads models, runs the tasks that read texts (`EncoderRuntime`) and those that write them. What writes texts is imported
 * at its first use, so that a browser page downloads only what it needs.
 */
import type { ChatEvent } from "../tasks/generation/chat/chat.ts";
import type { ChatMessage } from "../tasks/generation/chat/messages.ts";
import type { GenerationStream } from "../tasks/generation/generation-stream.ts";
import type { ConstraintCompiler, SequenceCounts } from "../tasks/generation/open-generator.ts";
import { parseSequenceSettings } from "../runtime/options/sequence-settings.ts";
import type { Prompt } from "../tasks/generation/text/prompt-tokens.ts";
import type { Backend } from "../contract/backend.ts";
import { refuseUnknown } from "../runtime/options/options.ts";
import type { RuntimeDisposeOptions, RuntimeSettings } from "../runtime/options/runtime-settings.ts";
import type { Platform } from "../runtime/platform.ts";
import type { TextWorkers } from "../tasks/text-threads/text-workers.ts";
import { EncoderRuntime } from "./encoder-runtime.ts";
import type { Generation, GenerationHost } from "./generation.ts";
import type {
  ChatPrompt,
  ChatPromptRequest,
  ChatRequest,
  ChatResult,
  GenerateRequest,
  GenerateResult,
  RewriteRequest,
  RewriteResult,
} from "./task-requests.ts";

/** Threads of a runtime. */
export interface RuntimeWorkers {
  readonly texts?: TextWorkers | undefined;
  readonly constraints?: ConstraintCompiler | undefined;
}

/**
 * Loads models and runs tasks on them. Every result says which target ran it and why. Dispose the runtime to free all models,
 * threads and processes.
 */
export class Runtime extends EncoderRuntime {
  #generation: Promise<Generation> | undefined;
  #sequences: () => readonly SequenceCounts[] = () => [];
  readonly #generationSettings: Omit<GenerationHost, "onModel" | "tokenizer">;

  /** `workers`: threads for texts and templates, and for constraints, ended with the runtime. Default: the calling thread does their work. */
  constructor(backends: readonly Backend[], settings: RuntimeSettings, platform: Platform, workers: RuntimeWorkers = {}) {
    super(backends, settings, platform, workers.texts);
    this.#generationSettings = {
      templates: workers.texts,
      compiler: workers.constraints,
      limits: parseSequenceSettings(settings),
      unlistedMembers: settings.unlistedMembers,
    };
  }

  /**
   * Generates what follows prompts, which are texts or lists of token ids (task `text-generation`). Prompts are generated together; each has the result
   * that it has alone. With `stream: true` the texts arrive token by token. Throws INPUT_INVALID, and INPUT_TOO_LONG for a prompt that fills the context.
   */
  generate(
    prompts: Prompt | readonly Prompt[],
    request: GenerateRequest & { readonly stream: true },
  ): Promise<GenerationStream<GenerateResult>>;
  /** Generates what follows prompts, and returns the texts when all are finished. */
  generate(prompts: Prompt | readonly Prompt[], request: GenerateRequest & { readonly stream?: false }): Promise<GenerateResult>;
  async generate(
    prompts: Prompt | readonly Prompt[],
    request: GenerateRequest & { readonly stream?: boolean },
  ): Promise<GenerateResult | GenerationStream<GenerateResult>> {
    const stream = await (await this.#generating()).generate(prompts, request);
    return request.stream === true ? stream : stream.finish();
  }

  /**
   * Answers a conversation with the model's own chat template (task `chat`): text, thoughts and calls of tools, each apart. With `stream: true` they arrive as
   * they are generated. Throws INPUT_INVALID, MODEL_UNSUPPORTED for a model without a chat template, and INPUT_TOO_LONG.
   */
  chat(
    messages: readonly ChatMessage[],
    request: ChatRequest & { readonly stream: true },
  ): Promise<GenerationStream<ChatResult, ChatEvent>>;
  /** Answers a conversation, and returns the message when it is finished. */
  chat(messages: readonly ChatMessage[], request: ChatRequest & { readonly stream?: false }): Promise<ChatResult>;
  async chat(
    messages: readonly ChatMessage[],
    request: ChatRequest & { readonly stream?: boolean },
  ): Promise<ChatResult | GenerationStream<ChatResult, ChatEvent>> {
    const stream = await (await this.#generating()).chat(messages, request);
    return request.stream === true ? stream : stream.finish();
  }

  /** The prompt that `chat` gives the model for a conversation. Reads the model's files, and does not load it. Throws as `chat` does. */
  async chatPrompt(messages: readonly ChatMessage[], request: ChatPromptRequest): Promise<ChatPrompt> {
    refuseUnknown(request, chatPromptFields, "chatPrompt");
    const { model, signal } = request;
    const options = signal === undefined ? {} : { signal };
    const manifest = typeof model === "string" ? await this.manifest(model, options) : model.manifest;
    const tokenizer = await this.getTokenizer(manifest);
    return (await this.#generating()).prompt(messages, manifest, tokenizer, request);
  }

  /** Texts that are generated now, and those that wait for their turn, by model. */
  sequences(): readonly SequenceCounts[] {
    return this.#sequences();
  }

  /** Summarizes, translates or otherwise rewrites texts with a model that has an encoder and a decoder (task `text2text-generation`). */
  rewrite(
    texts: string | readonly string[],
    request: RewriteRequest & { readonly stream: true },
  ): Promise<GenerationStream<RewriteResult>>;
  /** Rewrites texts, and returns them when all are finished. */
  rewrite(texts: string | readonly string[], request: RewriteRequest & { readonly stream?: false }): Promise<RewriteResult>;
  async rewrite(
    texts: string | readonly string[],
    request: RewriteRequest & { readonly stream?: boolean },
  ): Promise<RewriteResult | GenerationStream<RewriteResult>> {
    const stream = await (await this.#generating()).rewrite(texts, request);
    return request.stream === true ? stream : stream.finish();
  }

  override async dispose(options?: RuntimeDisposeOptions): Promise<void> {
    await Promise.all([super.dispose(options), this.#generationSettings.compiler?.host.dispose()]);
  }

  /** Imported on demand: a page that runs no language model does not load it. */
  #generating(): Promise<Generation> {
    this.#generation ??= import("./generation.ts").then(({ Generation }) => {
      const [onModel, tokenizer] = [this.onModel.bind(this), this.tokenizer.bind(this)];
      const made = new Generation({ onModel, tokenizer, ...this.#generationSettings });
      this.#sequences = () => made.sequences;
      return made;
    });
    return this.#generation;
  }
}

const chatPromptFields = [
  "model",
  "template",
  "date",
  "continueFinalMessage",
  "addSpecialTokens",
  "tools",
  "toolChoice",
  "templateVariables",
  "signal",
];

/** Loads the models that the settings name for preloading and returns the runtime. Disposes it if a load fails. */
export async function preloaded(runtime: Runtime): Promise<Runtime> {
  try {
    await runtime.preload();
    return runtime;
  } catch (error) {
    await runtime.dispose();
    throw error;
  }
}
