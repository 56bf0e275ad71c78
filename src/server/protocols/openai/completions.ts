/** POST /v1/completions: what follows prompts. */
import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { GeneratedText, PromptLogprob } from "../../../tasks/generation/generated-text.ts";
import type { GenerationStream } from "../../../tasks/generation/generation-stream.ts";
import type { Env } from "../../http/context.ts";
import { partIgnorer } from "../../http/fields/take-fields.ts";
import { type Route, post } from "../../http/routes/route.ts";
import type { Service } from "../../serving/service.ts";
import { type Answered, answerGeneration } from "../generation/answer.ts";
import type { StartedCall } from "../generation/open-stream.ts";
import { serverSentEvent } from "../generation/streamed-body.ts";
import { TokenTexts } from "../generation/token-texts.ts";
import { type CompletionsCall, completionsForm } from "./chat-request.ts";
import { newCompletion, openAiFailure, toUsage } from "./chat-response.ts";
import { CompletionLogprobs, type LogprobLists } from "./completion-logprobs.ts";
import { modelOfAddress } from "./model-address.ts";

const response = z
  .object({
    id: z.string(),
    object: z.literal("text_completion"),
    created: z.int(),
    model: z.string(),
    choices: z.array(z.unknown()),
    usage: z.unknown(),
  })
  .openapi("Completion");

const locations = { "/v1/completions": "OpenAI", "/api/v0/completions": "LM Studio" };

/** `POST /v1/completions`, and the same under LM Studio's path. */
export function completionRoutes(service: Service): Route[] {
  return Object.entries(locations).map(([path, as]) =>
    post({
      path,
      summary: `Generate what follows prompts, as ${as}`,
      schema: completionsForm.schema,
      description: "The texts; with `stream`, chunks as server-sent events, the last one [DONE]",
      response,
      media: { "text/event-stream": z.string() },
      answer: (request, context) => {
        const call = completionsForm.read(request, partIgnorer(context));
        return answerCompletions(service, context, { ...call, model: modelOfAddress(context, call.model) });
      },
    }),
  );
}

/** The texts of a request. */
interface CompletionsResult {
  readonly results: readonly GeneratedText[];
}

/** Answers a request. */
export function answerCompletions(service: Service, context: Context<Env>, call: CompletionsCall): Promise<Response> {
  const { prompts, options } = call;
  const start = (on: StartedCall) => service.runtime.generate(prompts, { ...options, ...on, stream: true });
  return answerGeneration(
    service,
    context,
    { ...call, start },
    {
      whole: ({ results }, about) => JSON.stringify(completion(results, getShown(call, about))),
      parts: (stream, about) => chunks(stream, getShown(call, about)),
      failure: openAiFailure,
      end: serverSentEvent("[DONE]"),
    },
  );
}

/** What is shown of the texts of a request. */
interface Shown extends Pick<CompletionsCall, "echo" | "skipsSpecial" | "includeUsage" | "n"> {
  /** What each body has besides its choices. */
  readonly about: object;
  /** The text of the prompt that the text with this position continues. */
  readonly prompt: (index: number) => string;
  readonly tokenTexts: TokenTexts;
}

function getShown(call: CompletionsCall, { model, tokenizer }: Answered): Shown {
  const prompt = (index: number): string => {
    const given = call.prompts[Math.floor(index / call.n)] ?? "";
    return typeof given === "string" ? given : (tokenizer?.decode(given) ?? "");
  };
  return { ...call, about: newCompletion("cmpl-", model), prompt, tokenTexts: new TokenTexts(tokenizer) };
}

function completion(results: readonly GeneratedText[], shown: Shown): object {
  const logprobsOf = logprobsByText(shown);
  const choices = results.map(({ text, finishReason, logprobs, promptLogprobs }, index) => {
    const scored = [...(promptLogprobs ?? []), ...(logprobs ?? [])];
    return {
      text: (shown.echo ? shown.prompt(index) : "") + text,
      index,
      logprobs: promptLogprobs === undefined && logprobs === undefined ? null : logprobsOf(index, scored),
      finish_reason: finishReason,
    };
  });
  return { ...shown.about, object: "text_completion", choices, usage: usageOfAll(results, shown.n) };
}

/** Shows log probabilities of the text with a position; those of one text may be shown a few at a time. */
function logprobsByText({ prompt, echo, skipsSpecial, tokenTexts: texts }: Shown) {
  const known = new Map<number, CompletionLogprobs>();
  return (index: number, logprobs: readonly PromptLogprob[]): LogprobLists => {
    const startsText = echo || prompt(index) === "";
    const own = known.get(index) ?? new CompletionLogprobs(texts, { startsText, skipsSpecial });
    known.set(index, own);
    return own.next(logprobs);
  };
}

async function* chunks(stream: GenerationStream<CompletionsResult>, shown: Shown): AsyncGenerator<string, void> {
  const { about } = shown;
  const logprobsOf = logprobsByText(shown);
  const begun = new Set<number>();
  for await (const event of stream) {
    const { index } = event;
    const isBegun = begun.has(index);
    const text = (isBegun || !shown.echo ? "" : shown.prompt(index)) + event.text;
    const isEnd = event.type === "finish";
    // A text without tokens has the log probabilities of its prompt in its only event.
    const ofPrompt = isEnd ? (isBegun ? undefined : event.result.promptLogprobs) : event.promptLogprobs;
    const ofToken = event.type === "text" && event.logprob !== undefined ? [event.logprob] : [];
    const scored = [...(ofPrompt ?? []), ...ofToken];
    begun.add(index);
    if (text === "" && !isEnd && scored.length === 0) continue;
    const choice = {
      text,
      index,
      logprobs: scored.length === 0 ? null : logprobsOf(index, scored),
      finish_reason: isEnd ? event.result.finishReason : null,
    };
    yield serverSentEvent({
      ...about,
      object: "text_completion",
      choices: [choice],
      ...(shown.includeUsage ? { usage: null } : {}),
    });
  }
  if (!shown.includeUsage) return;
  const { results } = await stream.result;
  yield serverSentEvent({ ...about, object: "text_completion", choices: [], usage: usageOfAll(results, shown.n) });
}

/** The sum over prompts; each counts once, however many texts it has. */
function usageOfAll(results: readonly GeneratedText[], n: number) {
  const firsts = results.filter((_, index) => index % n === 0);
  const prompt = firsts.reduce((sum, { promptTokens }) => sum + promptTokens, 0);
  const cached = firsts.reduce((sum, { cachedTokens }) => sum + cachedTokens, 0);
  const { completion_tokens: generated } = toUsage(results);
  return {
    prompt_tokens: prompt,
    completion_tokens: generated,
    total_tokens: prompt + generated,
    prompt_tokens_details: { cached_tokens: cached },
  };
}
