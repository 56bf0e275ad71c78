/** POST /completion and /infill of llama.cpp's server. */
import { createRoute, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { GeneratedLogprob, GeneratedText } from "../../../tasks/generation/generated-text.ts";
import type { GenerationStream } from "../../../tasks/generation/generation-stream.ts";
import type { Prompt } from "../../../tasks/generation/text/prompt-tokens.ts";
import type { Tokenizer } from "../../../tokenizers/index.ts";
import { type Env, type Routes, resultHeaders } from "../../http/context.ts";
import type { Service } from "../../serving/service.ts";
import { openStream } from "../generation/open-stream.ts";
import { eventStreamHeaders, serverSentEvent, streamedBody } from "../generation/streamed-body.ts";
import { TokenTexts } from "../generation/token-texts.ts";
import { getContextLength } from "../../../models/context-length.ts";
import { documentedErrors, openAiErrorBody } from "../openai/errors.ts";
import {
  type CompletionFields,
  type InfillRequest,
  completionRequest,
  hasSeveral,
  infillRequest,
  toOptions,
  toPrompt,
} from "./completion-request.ts";

const answer = z.looseObject({ content: z.string(), stop: z.boolean() }).openapi("LlamaCompletion");

const getRoute = <Request extends z.ZodType>(path: string, summary: string, schema: Request) =>
  createRoute({
    method: "post",
    path,
    summary,
    request: { body: { required: true, content: { "application/json": { schema } } } },
    responses: {
      200: {
        description: "The text, or a list where there are several prompts; with `stream`, parts as server-sent events",
        content: {
          "application/json": { schema: z.union([answer, z.array(answer)]) },
          "text/event-stream": { schema: z.string() },
        },
      },
      ...documentedErrors,
    },
  });

/** Adds POST /completion, its alias /completions, and /infill. */
export function addCompletion(routes: Routes, service: Service): void {
  for (const path of ["/completion", "/completions"]) {
    const route = getRoute(path, "Generate what follows prompts, as llama.cpp", completionRequest);
    routes.openapi(route, async (context) => {
      const request = context.req.valid("json");
      const given = hasSeveral(request.prompt) ? request.prompt : [request.prompt];
      const isList = hasSeveral(request.prompt);
      const prompts = (tokenizer: Tokenizer): Promise<Prompt[]> => Promise.all(given.map((each) => toPrompt(each, tokenizer)));
      return answerCompletion(service, context, { request, texts: given.length, isList, prompts });
    });
  }
  const infill = getRoute("/infill", "Generate what stands between a prefix and a suffix, as llama.cpp", infillRequest);
  routes.openapi(infill, async (context) => {
    const request = context.req.valid("json");
    const prompts = async (): Promise<Prompt[]> => [getPrefix(request)];
    const suffix = request.input_suffix ?? "";
    return answerCompletion(service, context, { request, texts: 1, isList: false, prompts, suffix });
  });
}

/** What stands before the middle: other files, the prefix, and the prompt. */
function getPrefix({ input_prefix: prefix = "", input_extra: extra = [], prompt = "" }: InfillRequest): string {
  const files = extra.map((file) => (typeof file["text"] === "string" ? `${file["text"]}\n` : ""));
  return `${files.join("")}${prefix}${prompt}`;
}

interface Asked {
  readonly request: CompletionFields;
  /** Number of prompts. */
  readonly texts: number;
  /** Whether the answer is a list. */
  readonly isList: boolean;
  readonly prompts: (tokenizer: Tokenizer) => Promise<readonly Prompt[]>;
  /** What follows the text. Default: nothing is known. */
  readonly suffix?: string;
}

/** What the answers of a request have in common. */
interface Shown {
  readonly model: string;
  readonly request: CompletionFields;
  readonly texts: TokenTexts;
  /** Texts of the prompts. */
  readonly prompts: readonly string[];
  readonly contextLength: number | undefined;
}

async function answerCompletion(
  service: Service,
  context: Context<Env>,
  { request, texts, isList, prompts, suffix }: Asked,
): Promise<Response> {
  const shown: { tokenizer?: Tokenizer; prompts: readonly string[]; contextLength?: number | undefined } = { prompts: [] };
  const { stream, outcome, model } = await openStream(service, context, { model: request.model, texts }, async (call) => {
    const tokenizer = await service.runtime.tokenizer(call.model);
    const list = await prompts(tokenizer);
    shown.tokenizer = tokenizer;
    shown.contextLength = getContextLength(call.model.manifest);
    shown.prompts = list.map((each) => (typeof each === "string" ? each : tokenizer.decode(each, { skipSpecialTokens: false })));
    const options = { ...toOptions(request, tokenizer), ...(suffix === undefined || suffix === "" ? {} : { suffix }) };
    return service.runtime.generate(list, { ...options, ...call, stream: true });
  });
  const about: Shown = { ...shown, contextLength: shown.contextLength, model, request, texts: new TokenTexts(shown.tokenizer) };
  if (request.stream === true) {
    const events = streamedBody(streamEvents(stream, about), ": still here\n\n");
    return context.body(events, 200, eventStreamHeaders);
  }
  void stream.finish();
  const done = await outcome;
  const answers = done.result.results.map((result, index) => finalAnswer(result, index, about, result.text));
  return context.json(isList ? answers : answers[0], 200, resultHeaders(done));
}

async function* streamEvents(
  stream: GenerationStream<{ readonly results: readonly GeneratedText[] }>,
  about: Shown,
): AsyncGenerator<string, void> {
  const { texts } = about;
  const counts = new Map<number, number>();
  try {
    for await (const event of stream) {
      const { index } = event;
      if (event.type === "finish") {
        yield serverSentEvent(finalAnswer(event.result, index, about, ""));
        continue;
      }
      const count = (counts.get(index) ?? 0) + 1;
      counts.set(index, count);
      const { logprob } = event;
      if (event.text === "" && logprob === undefined) continue;
      yield serverSentEvent({
        index,
        content: event.text,
        tokens: [event.token],
        stop: false,
        id_slot: -1,
        tokens_predicted: count,
        ...(logprob === undefined ? {} : { completion_probabilities: [probabilities(logprob, texts)] }),
      });
    }
  } catch (error) {
    yield serverSentEvent({ error: openAiErrorBody(error) });
  } finally {
    await stream.cancel();
  }
}

/** The whole answer, or the last of a stream, whose text was sent before. */
function finalAnswer(result: GeneratedText, index: number, about: Shown, content: string): object {
  const { tokens, stop, finishReason, promptTokens, cachedTokens, timings, logprobs = [] } = result;
  const { firstTokenMs, totalMs } = timings;
  const read = promptTokens - cachedTokens;
  const writtenMs = totalMs - firstTokenMs;
  const { return_tokens: withTokens = false, stream = false } = about.request;
  const settings = Object.fromEntries(Object.entries(about.request).filter(([name]) => !notSettings.has(name)));
  return {
    index,
    content,
    tokens: withTokens && !stream ? tokens : [],
    id_slot: -1,
    stop: true,
    model: about.model,
    tokens_predicted: tokens.length,
    tokens_evaluated: promptTokens,
    generation_settings: { ...settings, n_ctx: about.contextLength ?? 0, seed: result.seed ?? about.request.seed ?? -1, stream },
    prompt: about.prompts[index] ?? "",
    has_new_line: result.text.includes("\n"),
    truncated: false,
    stop_type: finishReason === "length" ? "limit" : typeof stop === "string" ? "word" : "eos",
    stopping_word: typeof stop === "string" ? stop : "",
    tokens_cached: promptTokens + tokens.length,
    timings: {
      cache_n: cachedTokens,
      prompt_n: read,
      prompt_ms: firstTokenMs,
      prompt_per_token_ms: ratio(firstTokenMs, read),
      prompt_per_second: ratio(read * 1000, firstTokenMs),
      predicted_n: tokens.length,
      predicted_ms: writtenMs,
      predicted_per_token_ms: ratio(writtenMs, tokens.length),
      predicted_per_second: ratio(tokens.length * 1000, writtenMs),
    },
    ...(logprobs.length === 0 || stream
      ? {}
      : { completion_probabilities: logprobs.map((each) => probabilities(each, about.texts)) }),
  };
}

/** Fields of requests that are no settings of generation. */
const notSettings: ReadonlySet<string> = new Set([
  "prompt",
  "model",
  "input_prefix",
  "input_suffix",
  "input_extra",
  "stream",
  "return_tokens",
]);

const ratio = (dividend: number, divisor: number): number => (divisor === 0 ? 0 : dividend / divisor);

function probabilities({ token, logprob, top }: GeneratedLogprob, texts: TokenTexts): object {
  const shown = (id: number, own: number): object => {
    const { text, bytes } = texts.shown(id);
    return { id, token: text, bytes: [...bytes], logprob: own };
  };
  return { ...shown(token, logprob), top_logprobs: top.map((each) => shown(each.token, each.logprob)) };
}
