/**
 * The part of the AI SDK's model interfaces (version 3, `ai` 6) that this provider implements, declared here so that it needs no package of the SDK. The
 * SDK's own types accept it, which test/clients/generation-clients.long.test.ts checks with the real package.
 */

/** Options of providers, which this one ignores but for its own, `inferyard`. */
type ProviderOptions = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** A part of a message. */
export interface PromptPart {
  readonly type: string;
  readonly text?: string;
  readonly toolCallId?: string;
  readonly toolName?: string;
  readonly input?: unknown;
  readonly providerOptions?: ProviderOptions | undefined;
  readonly output?: { readonly type: string; readonly value?: unknown; readonly reason?: string };
}

/** A message of a prompt. */
export type PromptMessage =
  | { readonly role: "system"; readonly content: string }
  | { readonly role: "user" | "assistant" | "tool"; readonly content: readonly PromptPart[] };

/** Options of a call of a language model. */
export interface ModelCallOptions {
  readonly prompt: readonly PromptMessage[];
  readonly maxOutputTokens?: number | undefined;
  readonly temperature?: number | undefined;
  readonly stopSequences?: readonly string[] | undefined;
  readonly topP?: number | undefined;
  readonly topK?: number | undefined;
  readonly presencePenalty?: number | undefined;
  readonly frequencyPenalty?: number | undefined;
  readonly responseFormat?: { readonly type: "text" } | { readonly type: "json"; readonly schema?: unknown } | undefined;
  readonly seed?: number | undefined;
  readonly tools?:
    | readonly { readonly type: string; readonly name: string; readonly description?: string; readonly inputSchema?: unknown }[]
    | undefined;
  readonly toolChoice?:
    | { readonly type: "auto" | "none" | "required" }
    | { readonly type: "tool"; readonly toolName: string }
    | undefined;
  readonly abortSignal?: AbortSignal | undefined;
  readonly providerOptions?: ProviderOptions | undefined;
}

/** Numbers of tokens. */
export interface ModelUsage {
  readonly inputTokens: { total: number; noCache: number; cacheRead: number; cacheWrite: undefined };
  readonly outputTokens: { total: number; text: undefined; reasoning: undefined };
}

/** Why an answer ended. */
export interface FinishReason {
  readonly unified: "stop" | "length" | "tool-calls";
  readonly raw: string;
}

/** A part of an answer. */
export type Content = { type: "text"; text: string } | { type: "reasoning"; text: string } | ToolCallContent;

/** A call of a tool. `providerMetadata`: comes back as `providerOptions` of the part of the next prompt. */
export interface ToolCallContent {
  type: "tool-call";
  toolCallId: string;
  toolName: string;
  input: string;
  providerMetadata?: { inferyard: { arguments: string } };
}

/** One part of a stream. */
export type StreamPart =
  | { type: "stream-start"; warnings: never[] }
  | { type: "text-start" | "text-end" | "reasoning-start" | "reasoning-end"; id: string }
  | { type: "text-delta" | "reasoning-delta"; id: string; delta: string }
  | { type: "tool-input-start"; id: string; toolName: string }
  | { type: "tool-input-delta"; id: string; delta: string }
  | { type: "tool-input-end"; id: string }
  | ToolCallContent
  | { type: "finish"; finishReason: FinishReason; usage: ModelUsage }
  | { type: "error"; error: unknown };

/** A language model of the AI SDK. */
export interface LanguageModelV3 {
  readonly specificationVersion: "v3";
  readonly provider: string;
  readonly modelId: string;
  readonly supportedUrls: Record<string, RegExp[]>;
  doGenerate(
    options: ModelCallOptions,
  ): Promise<{ content: Content[]; finishReason: FinishReason; usage: ModelUsage; warnings: never[] }>;
  doStream(options: ModelCallOptions): Promise<{ stream: ReadableStream<StreamPart> }>;
}

/** An embedding model of the AI SDK. */
export interface EmbeddingModelV3 {
  readonly specificationVersion: "v3";
  readonly provider: string;
  readonly modelId: string;
  readonly maxEmbeddingsPerCall: number | undefined;
  readonly supportsParallelCalls: boolean;
  doEmbed(options: {
    values: string[];
    abortSignal?: AbortSignal | undefined;
  }): Promise<{ embeddings: number[][]; usage: { tokens: number }; warnings: never[] }>;
}

/** A reranking model of the AI SDK. */
export interface RerankingModelV3 {
  readonly specificationVersion: "v3";
  readonly provider: string;
  readonly modelId: string;
  doRerank(options: {
    documents: { type: "text"; values: string[] } | { type: "object"; values: object[] };
    query: string;
    topN?: number | undefined;
    abortSignal?: AbortSignal | undefined;
  }): Promise<{ ranking: { index: number; relevanceScore: number }[]; warnings: never[] }>;
}
