/** POST /completion and /infill of llama.cpp's server. */
import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { getContextLength } from "../../../models/context-length.ts";
import type { GeneratedLogprob, GeneratedText, GenerationEvent } from "../../../tasks/generation/generated-text.ts";
import type { GenerationStream } from "../../../tasks/generation/generation-stream.ts";
import { required } from "../../../contract/checked.ts";
import type { Env } from "../../http/context.ts";
import { partIgnorer } from "../../http/fields/take-fields.ts";
import { type Route, post } from "../../http/routes/route.ts";
import type { Service } from "../../serving/service.ts";
import { type Answered, answerGeneration } from "../generation/answer.ts";
import type { GenerationCall } from "../generation/open-stream.ts";
import { serverSentEvent } from "../generation/streamed-body.ts";
import { TokenTexts } from "../generation/token-texts.ts";
import { openAiFailure } from "../openai/chat-response.ts";
import { type CompletionCall, completionForm, infillForm } from "./completion-request.ts";

const answer = z.looseObject({ content: z.string(), stop: z.boolean() }).openapi("LlamaCompletion");

const routes = [
  { path: "/completion", summary: "Generate what follows prompts, as llama.cpp", form: completionForm },
  { path: "/completions", summary: "Generate what follows prompts, as llama.cpp", form: completionForm },
  { path: "/infill", summary: "Generate what stands between a prefix and a suffix, as llama.cpp", form: infillForm },
];

/** POST /completion, its alias /completions, and /infill. */
export function llamacppCompletionRoutes(service: Service): Route[] {
  return routes.map(({ path, summary, form }) =>
    post({
      path,
      summary,
      schema: form.schema,
      description: "The text, or a list where there are several prompts; with `stream`, parts as server-sent events",
      response: z.union([answer, z.array(answer)]),
      media: { "text/event-stream": z.string() },
      answer: (request, context) => answerCompletion(service, context, form.read(request, partIgnorer(context))),
    }),
  );
}

/** The texts of a request. */
interface CompletionResult {
  readonly results: readonly GeneratedText[];
}

/** What the answers of a request have in common. */
interface Shown {
  readonly call: CompletionCall;
  readonly model: string;
  readonly texts: TokenTexts;
  /** Texts of the prompts. */
  readonly prompts: readonly string[];
  readonly contextLength: number | undefined;
}

function answerCompletion(service: Service, context: Context<Env>, call: CompletionCall): Promise<Response> {
  const { suffix } = call;
  let prompts: readonly string[] = [];
  let contextLength: number | undefined;
  const start: GenerationCall<CompletionResult, GenerationEvent>["start"] = async (on, given) => {
    const tokenizer = required(given, "the tokenizer of a call that shows tokens");
    const list = await call.prompts(tokenizer);
    contextLength = getContextLength(on.model.manifest);
    prompts = list.map((each) => (typeof each === "string" ? each : tokenizer.decode(each, { skipSpecialTokens: false })));
    const options = { ...call.options(tokenizer), ...(suffix === "" ? {} : { suffix }) };
    return service.runtime.generate(list, { ...options, ...on, stream: true });
  };
  const getShown = ({ model, tokenizer }: Answered): Shown => ({
    call,
    model,
    prompts,
    contextLength,
    texts: new TokenTexts(tokenizer),
  });
  return answerGeneration(
    service,
    context,
    { ...call, showsTokens: true, start },
    {
      whole: ({ results }, about) => {
        const shown = getShown(about);
        const answers = results.map((result, index) => finalAnswer(result, index, shown, result.text));
        return JSON.stringify(call.isList ? answers : answers[0]);
      },
      parts: (stream, about) => streamEvents(stream, getShown(about)),
      failure: openAiFailure,
    },
  );
}

async function* streamEvents(stream: GenerationStream<CompletionResult>, shown: Shown): AsyncGenerator<string, void> {
  const { texts } = shown;
  const counts = new Map<number, number>();
  for await (const event of stream) {
    const { index } = event;
    if (event.type === "finish") {
      yield serverSentEvent(finalAnswer(event.result, index, shown, ""));
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
}

/** The whole answer, or the last of a stream, whose text was sent before. */
function finalAnswer(result: GeneratedText, index: number, about: Shown, content: string): object {
  const { tokens, stop, finishReason, promptTokens, cachedTokens, timings, logprobs = [] } = result;
  const { firstTokenMs, totalMs } = timings;
  const read = promptTokens - cachedTokens;
  const writtenMs = totalMs - firstTokenMs;
  const { isStreamed, withTokens, settings } = about.call;
  return {
    index,
    content,
    tokens: withTokens && !isStreamed ? tokens : [],
    id_slot: -1,
    stop: true,
    model: about.model,
    tokens_predicted: tokens.length,
    tokens_evaluated: promptTokens,
    generation_settings: {
      ...settings,
      n_ctx: about.contextLength ?? 0,
      seed: result.seed ?? settings.seed ?? -1,
      stream: isStreamed,
    },
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
    ...(logprobs.length === 0 || isStreamed
      ? {}
      : { completion_probabilities: logprobs.map((each) => probabilities(each, about.texts)) }),
  };
}

const ratio = (dividend: number, divisor: number): number => (divisor === 0 ? 0 : dividend / divisor);

function probabilities({ token, logprob, top }: GeneratedLogprob, texts: TokenTexts): object {
  const shown = (id: number, own: number): object => {
    const { text, bytes } = texts.shown(id);
    return { id, token: text, bytes: [...bytes], logprob: own };
  };
  return { ...shown(token, logprob), top_logprobs: top.map((each) => shown(each.token, each.logprob)) };
}
