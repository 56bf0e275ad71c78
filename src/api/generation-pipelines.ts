/** The pipelines of transformers.js for language models. Options may have its names (`max_new_tokens`) or ours (`maxNewTokens`). */
import { invalidInput } from "../contract/errors.ts";
import type { ModelHandle } from "../runtime/model-handle.ts";
import type { ChatMessage } from "../tasks/generation/chat/messages.ts";
import type { GenerateOptions } from "../tasks/generation/generated-generate-options.ts";
import type { GeneratedText, GenerationEvent } from "../tasks/generation/generated-text.ts";
import type { GenerationStream } from "../tasks/generation/generation-stream.ts";
import type { RewriteOptions } from "../tasks/generation/rewrite/generated-rewrite-options.ts";
import type { Streamer } from "../tasks/generation/text-streamer.ts";
import type { Runtime } from "./runtime.ts";
import type { Texts } from "./task-requests.ts";

/** An object whose names may be in snake case as well, as transformers.js has them. */
export type AcceptsSnakeCase<Options> = Options & {
  readonly [Name in keyof Options as SnakeCase<Name & string>]?: Options[Name];
};
type SnakeCase<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : Name;

/** Options of the pipelines that generate text. */
export type GenerationPipelineOptions = AcceptsSnakeCase<Omit<GenerateOptions, "stream">> & {
  /** Texts for each prompt; the name of transformers.js for `n`. */
  readonly num_return_sequences?: number;
  /** Whether each text begins with its prompt. Default: true. */
  readonly return_full_text?: boolean;
  /** Is given the tokens of a single prompt while they are generated. */
  readonly streamer?: Streamer;
};

/** Options of the pipelines that rewrite texts. */
export type RewritePipelineOptions = AcceptsSnakeCase<Omit<RewriteOptions, "stream">> & {
  readonly num_return_sequences?: number;
  /** NLLB and its like: the language of the texts, as transformers.js names the option. */
  readonly src_lang?: string;
  /** The language to translate into. */
  readonly tgt_lang?: string;
  readonly streamer?: Streamer;
};

/** Signatures of the pipelines. */
export interface GenerationPipelineCalls {
  /** One list of texts for each prompt; a conversation gives itself with the answer. */
  "text-generation": {
    (prompt: string, options?: GenerationPipelineOptions): Promise<{ generated_text: string }[]>;
    (prompts: readonly string[], options?: GenerationPipelineOptions): Promise<{ generated_text: string }[][]>;
    (messages: readonly ChatMessage[], options?: GenerationPipelineOptions): Promise<{ generated_text: ChatMessage[] }[]>;
  };
  "text2text-generation": (texts: Texts, options?: RewritePipelineOptions) => Promise<{ generated_text: string }[]>;
  summarization: (texts: Texts, options?: RewritePipelineOptions) => Promise<{ summary_text: string }[]>;
  translation: (texts: Texts, options?: RewritePipelineOptions) => Promise<{ translation_text: string }[]>;
}

/** Creates the pipeline `text-generation`. */
export function textGeneration(runtime: Runtime, model: ModelHandle): GenerationPipelineCalls["text-generation"] {
  async function generate(
    input: string | readonly string[] | readonly ChatMessage[],
    options: GenerationPipelineOptions = {},
  ): Promise<never> {
    const { streamer, returnFullText = true, ...rest } = camelCased(options);
    const given = { ...rest, model, stream: true } as const;
    if (isConversation(input)) {
      refuseStreamer(streamer, "a conversation; read `runtime.chat(messages, { stream: true })` instead");
      const { results } = await runtime.chat(input, { ...given, stream: false });
      return results.map(({ message }) => ({
        generated_text: returnFullText === true ? [...input, message] : [message],
      })) as never;
    }
    const prompts = typeof input === "string" ? [input] : input;
    const stream = await runtime.generate(prompts, given);
    const tokenizer = streamer === undefined ? undefined : await runtime.tokenizer(model);
    const results = await streamed(stream, streamer, prompts, tokenizer?.encode(prompts[0] ?? "").ids ?? []);
    const count = Math.max(1, results.length / Math.max(prompts.length, 1));
    const lists = prompts.map((prompt, place) =>
      results
        .slice(place * count, (place + 1) * count)
        .map(({ text }) => ({ generated_text: returnFullText === true ? prompt + text : text })),
    );
    return (typeof input === "string" ? lists[0] : lists) as never;
  }
  return generate;
}

/** Creates a pipeline that rewrites texts, and calls each `field`. */
export function rewriting<Field extends string>(
  runtime: Runtime,
  model: ModelHandle,
  field: Field,
): (texts: Texts, options?: RewritePipelineOptions) => Promise<{ [Name in Field]: string }[]> {
  return async (texts, options = {}) => {
    const { streamer, srcLang, tgtLang, ...rest } = camelCased(options);
    const languages = {
      ...(typeof srcLang === "string" ? { sourceLanguage: srcLang } : {}),
      ...(typeof tgtLang === "string" ? { targetLanguage: tgtLang } : {}),
    };
    const list = typeof texts === "string" ? [texts] : texts;
    const stream = await runtime.rewrite(list, { ...rest, ...languages, model, stream: true });
    const results = await streamed(stream, streamer, list, []);
    return results.map(({ text }) => ({ [field]: text })) as { [Name in Field]: string }[];
  };
}

/** Reads a stream to its end, and gives the tokens to the streamer. */
async function streamed(
  stream: GenerationStream<{ readonly results: readonly GeneratedText[] }>,
  streamer: Streamer | undefined,
  prompts: readonly string[],
  promptTokens: readonly number[],
): Promise<readonly GeneratedText[]> {
  if (streamer === undefined) return (await stream.finish()).results;
  if (prompts.length !== 1) {
    await stream.cancel();
    refuseStreamer(streamer, "several texts");
  }
  streamer.put([promptTokens.map(BigInt)]);
  for await (const event of stream as AsyncIterable<GenerationEvent>)
    if (event.type === "text") streamer.put([[BigInt(event.token)]]);
  streamer.end();
  return (await stream.finish()).results;
}

function refuseStreamer(streamer: Streamer | undefined, what: string): void {
  if (streamer === undefined) return;
  throw invalidInput(`a streamer cannot be given with ${what}`, "leave streamer out");
}

interface CamelCased {
  readonly streamer?: Streamer;
  readonly returnFullText?: unknown;
  readonly srcLang?: unknown;
  readonly tgtLang?: unknown;
}

/** The options with names in camel case, and `n` for `num_return_sequences`. */
function camelCased(options: object): CamelCased {
  const entries = Object.entries(options).map(([name, value]) => {
    const camel = name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    return [camel === "numReturnSequences" ? "n" : camel, value] as const;
  });
  return Object.fromEntries(entries);
}

function isConversation(input: string | readonly (string | ChatMessage)[]): input is readonly ChatMessage[] {
  return Array.isArray(input) && input.length > 0 && typeof input[0] === "object";
}
