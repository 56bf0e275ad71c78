/** POST /v1/completions: what follows prompts. */
import { createRoute, z } from "@hono/zod-openapi";
import { omitUndefined } from "../../../contract/checked.ts";
import type { GeneratedText, PromptLogprob } from "../../../tasks/generation/generated-text.ts";
import type { GenerationStream } from "../../../tasks/generation/generation-stream.ts";
import type { Prompt } from "../../../tasks/generation/text/prompt-tokens.ts";
import type { Tokenizer } from "../../../tokenizers/index.ts";
import type { Context } from "hono";
import { type Env, type Routes, resultHeaders } from "../../http/context.ts";
import { listOf, name, requestObject, tokenIds } from "../../http/field-schemas.ts";
import type { Service } from "../../serving/service.ts";
import { invalidField } from "../generation/request-errors.ts";
import { type ConstraintRequest, constraintFields, toConstraint } from "../generation/constraint-fields.ts";
import { openStream } from "../generation/open-stream.ts";
import { modelOfAddress } from "./model-address.ts";
import { applyKeepAlive, ttlField } from "../ollama/keep-alive.ts";
import { eventStreamHeaders, serverSentEvent, streamedBody } from "../generation/streamed-body.ts";
import { type SamplingRequest, ineffectiveFields, samplingFields, toSampling, streamOptions } from "./chat-request.ts";
import { type ChatCompletion, newCompletion, toUsage } from "./chat-response.ts";
import { TokenTexts } from "../generation/token-texts.ts";
import { CompletionLogprobs, type LogprobLists } from "./completion-logprobs.ts";
import { documentedErrors, openAiErrorBody } from "./errors.ts";

/** Tokens of a completion at most if the request does not say, as OpenAI has it. */
const defaultMaxTokens = 16;

/** A validated request. */
interface CompletionsRequest extends SamplingRequest, ConstraintRequest {
  readonly model?: string | undefined;
  readonly prompt: Prompt | readonly Prompt[];
  readonly max_tokens?: number;
  readonly stream?: boolean;
  readonly stream_options?: { readonly include_usage?: boolean };
  readonly logprobs?: number;
  readonly echo?: boolean;
  readonly suffix?: string;
  readonly best_of?: number;
  readonly add_special_tokens?: boolean;
  readonly skip_special_tokens?: boolean;
  readonly ttl?: number;
}

/** Schema of the request. */
export const completionsRequest: z.ZodType<CompletionsRequest> = requestObject({
  model: name().optional().openapi({ description: "Name of a model. Default: the server's default model" }),
  prompt: z.union([z.string(), listOf(z.string(), { min: 1 }), tokenIds(), listOf(tokenIds(), { min: 1 })]),
  max_tokens: z.int().min(-1).optional().openapi({
    description:
      "Tokens to generate at most; 0: none, which with `echo` and `logprobs` scores the prompt; -1: up to the context. Default: 16",
  }),
  ...samplingFields,
  ...constraintFields,
  stream: z.boolean().optional(),
  stream_options: streamOptions.optional(),
  logprobs: z.int().min(0).max(20).optional(),
  echo: z.boolean().optional().openapi({ description: "Whether the prompt stands before each text" }),
  suffix: z
    .string()
    .optional()
    .openapi({ description: "Text that follows what is generated, for models with tokens for filling in the middle" }),
  best_of: z.int().positive().optional().openapi({ description: "Only the value of `n`" }),
  add_special_tokens: z.boolean().optional(),
  skip_special_tokens: z.boolean().optional(),
  ttl: ttlField,
  ...ineffectiveFields,
}).openapi("CompletionsRequest") as never;

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

const getRoute = (path: string, as: string) =>
  createRoute({
    method: "post",
    path,
    summary: `Generate what follows prompts, as ${as}`,
    request: { body: { required: true, content: { "application/json": { schema: completionsRequest } } } },
    responses: {
      200: {
        description: "The texts; with `stream`, chunks as server-sent events, the last one [DONE]",
        content: { "application/json": { schema: response }, "text/event-stream": { schema: z.string() } },
      },
      ...documentedErrors,
    },
  });

/** Adds `POST /v1/completions`, and the same under LM Studio's path. */
export function addCompletions(routes: Routes, service: Service): void {
  addCompletionsAt(routes, service, getRoute("/v1/completions", "OpenAI"));
  addCompletionsAt(routes, service, getRoute("/api/v0/completions", "LM Studio"));
}

function addCompletionsAt(routes: Routes, service: Service, route: ReturnType<typeof getRoute>): void {
  routes.openapi(route, async (context) => {
    const request = context.req.valid("json");
    return answerCompletions(service, context, { ...request, model: modelOfAddress(context, request.model) });
  });
}

/** Answers a validated request. */
export async function answerCompletions(service: Service, context: Context<Env>, request: CompletionsRequest): Promise<never> {
  const prompts = toPrompts(request.prompt);
  const options = toOptions(request);
  const texts = prompts.length * (request.n ?? 1);
  let tokenizer: Tokenizer | undefined;
  const { stream, outcome, model } = await openStream(service, context, { model: request.model, texts }, async (call) => {
    tokenizer = await service.runtime.tokenizer(call.model);
    return service.runtime.generate(prompts, { ...options, ...call, stream: true });
  });
  await applyKeepAlive(service, context, { model: request.model, runsLanguageModel: true }, request.ttl);
  const about = newCompletion("cmpl-", model);
  const prompt = (index: number): string => {
    const given = prompts[Math.floor(index / (request.n ?? 1))] ?? "";
    return typeof given === "string" ? given : (tokenizer?.decode(given) ?? "");
  };
  const { echo = false, skip_special_tokens: skipsSpecial = true, n = 1 } = request;
  const shown = (): Shown => ({ prompt, echo, skipsSpecial, tokenizer, n });
  if (request.stream !== true) {
    void stream.finish();
    const done = await outcome;
    const body = completion(about, done.result.results, shown());
    return context.json(body, 200, resultHeaders(done)) as never;
  }
  const includeUsage = request.stream_options?.include_usage ?? false;
  async function* parts(): AsyncGenerator<string, void> {
    try {
      yield* chunks(about, stream, { ...shown(), includeUsage });
    } catch (error) {
      yield serverSentEvent({ error: openAiErrorBody(error) });
    } finally {
      await stream.cancel();
    }
    yield serverSentEvent("[DONE]");
  }
  return context.body(streamedBody(parts(), ": still here\n\n"), 200, eventStreamHeaders) as never;
}

/** The prompts as a list: a text, texts, token ids, or lists of these. */
export function toPrompts(prompt: Prompt | readonly Prompt[]): readonly Prompt[] {
  if (typeof prompt === "string") return [prompt];
  return prompt.every((each): each is number => typeof each === "number") ? [prompt] : prompt;
}

function toOptions(request: CompletionsRequest) {
  const { max_tokens: maxNewTokens = defaultMaxTokens, logprobs, suffix, best_of: bestOf, n = 1 } = request;
  if (bestOf !== undefined && bestOf !== n) throw invalidField("best_of", `is ${bestOf}, and only n, ${n}, is possible`);
  return {
    ...toSampling(request),
    ...toConstraint(request),
    maxNewTokens: maxNewTokens === -1 ? Number.MAX_SAFE_INTEGER : maxNewTokens,
    ...omitUndefined({ logprobs }),
    ...(logprobs === undefined || request.echo !== true ? {} : { promptLogprobs: logprobs }),
    ...(suffix === undefined || suffix === "" ? {} : { suffix }),
    ...omitUndefined({ addSpecialTokens: request.add_special_tokens, skipSpecialTokens: request.skip_special_tokens }),
  };
}

interface Shown {
  /** The text of the prompt that the text with this position continues. */
  readonly prompt: (index: number) => string;
  /** Whether texts begin with their prompts. */
  readonly echo: boolean;
  readonly skipsSpecial: boolean;
  readonly tokenizer: Tokenizer | undefined;
  readonly n: number;
}

function completion(about: ChatCompletion, results: readonly GeneratedText[], shown: Shown): object {
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
  return { ...about, object: "text_completion", choices, usage: usageOfAll(results, shown.n) };
}

/** Shows log probabilities of the text with a position; those of one text may be shown a few at a time. */
function logprobsByText({ prompt, echo, skipsSpecial, tokenizer }: Shown) {
  const texts = new TokenTexts(tokenizer);
  const known = new Map<number, CompletionLogprobs>();
  return (index: number, logprobs: readonly PromptLogprob[]): LogprobLists => {
    const startsText = echo || prompt(index) === "";
    const own = known.get(index) ?? new CompletionLogprobs(texts, { startsText, skipsSpecial });
    known.set(index, own);
    return own.next(logprobs);
  };
}

async function* chunks(
  about: ChatCompletion,
  stream: GenerationStream<{ readonly results: readonly GeneratedText[] }>,
  shown: Shown & { readonly includeUsage: boolean },
): AsyncGenerator<string, void> {
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
