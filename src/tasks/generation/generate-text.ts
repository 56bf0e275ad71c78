/** Generates one text token by token. */
import type { SequenceId } from "../../contract/backend.ts";
import { abortable } from "../../concurrency/abortable.ts";
import { omitUndefined } from "../../contract/checked.ts";
import type { Tokenizer } from "../../tokenizers/index.ts";
import type { EmitEvent, FinishReason, GeneratedLogprob, GeneratedText, PromptLogprob } from "./generated-text.ts";
import type { SamplingSettings } from "./sampling/sampling-settings.ts";
import { choiceLogprobs } from "./sampling/log-probabilities.ts";
import type { GenerationSettings } from "./sampling/resolve-settings.ts";
import { Random } from "./sampling/random.ts";
import { TokenSampler } from "./sampling/token-sampler.ts";
import type { DecodeScheduler } from "./decode-scheduler.ts";
import { DraftModel, type DraftModelParts } from "./speculation/draft-model.ts";
import { PromptLookup } from "./speculation/prompt-lookup.ts";
import { Speculation } from "./speculation/speculation.ts";
import { type ConstrainedPart, TokenConstraint } from "./constraints/token-constraint.ts";
import { StopStrings } from "./text/stop-strings.ts";
import { TokenText } from "./text/token-text.ts";

/** A prompt whose tokens the model has read. */
export interface ReadPrompt {
  readonly sequence: SequenceId;
  /** The decoder's tokens. */
  readonly tokens: readonly number[];
  /** The encoder's tokens; empty for models without one. */
  readonly source: readonly number[];
  /** Logits of the first token to generate. */
  readonly logits: Float32Array;
  readonly cachedTokens: number;
  /** Log probabilities of `tokens`; undefined unless they were requested. */
  readonly promptLogprobs?: readonly PromptLogprob[] | undefined;
}

/** One text to generate. */
export interface TextJob {
  readonly scheduler: Pick<DecodeScheduler, "append" | "truncate" | "chunkTokens">;
  /** Tokenizer that decodes the text. Undefined: the text stays empty. */
  readonly tokenizer: Tokenizer | undefined;
  readonly settings: GenerationSettings;
  readonly sampling: SamplingSettings;
  /** Position of the text in the results. */
  readonly index: number;
  /** Index of the text among the texts of its prompt, which selects its stream of random numbers. */
  readonly choice: number;
  /** Time of the call, as `performance.now()` gives it. */
  readonly started: number;
  readonly signal: AbortSignal | undefined;
  readonly emit: EmitEvent | undefined;
  /** Constraint on the text. Default: none. */
  readonly constraint?: ConstrainedPart | undefined;
  /** Special tokens that stay in the text where others are left out. Default: none. */
  readonly kept?: ReadonlySet<string> | undefined;
  /** The token of the prompt that the text continues, from `continuedToken`. Default: the text begins with its first token. */
  readonly before?: number | undefined;
  /** The model that drafts tokens. Default: none. */
  readonly draftModel?: DraftModelParts | undefined;
}

interface Ending {
  readonly reason: FinishReason;
  readonly stop?: string | number;
}

/** The text of a prompt after which nothing is to be generated. */
export async function endWithoutText({ emit, index, started }: TextJob, prompt: ReadPrompt): Promise<GeneratedText> {
  const { tokens, source, cachedTokens, promptLogprobs } = prompt;
  const totalMs = performance.now() - started;
  const result: GeneratedText = omitUndefined({
    text: "",
    tokens: [],
    finishReason: "length" as const,
    promptLogprobs,
    promptTokens: source.length > 0 ? source.length : tokens.length,
    cachedTokens,
    timings: { firstTokenMs: totalMs, totalMs },
  });
  await emit?.({ type: "finish", index, text: "", result });
  return result;
}

/** Generates the text that follows a prompt. Rejects with ABORTED, and with errors of the model. */
export async function generateText(job: TextJob, prompt: ReadPrompt): Promise<GeneratedText> {
  const { promptLookup, draftTokens } = job.settings;
  const lookup = promptLookup === 0 ? undefined : new PromptLookup(promptLookup, prompt.source);
  const draftModel = job.draftModel === undefined ? undefined : new DraftModel(job.draftModel, draftTokens);
  const constraint =
    job.constraint === undefined
      ? undefined
      : new TokenConstraint(job.constraint, job.sampling.endTokens, job.before !== undefined);
  try {
    return await write(job, prompt, { lookup, draftModel, constraint });
  } finally {
    constraint?.end();
    await draftModel?.end();
  }
}

/** What drafts the tokens of a text, and what it must be. */
interface TextParts {
  readonly constraint: TokenConstraint | undefined;
  readonly lookup: PromptLookup | undefined;
  readonly draftModel: DraftModel | undefined;
}

async function write(job: TextJob, prompt: ReadPrompt, { lookup, draftModel, constraint }: TextParts): Promise<GeneratedText> {
  const { scheduler, settings, sampling, signal, emit, index } = job;
  // A constrained text that is cut must not look as if it had ended.
  const choosing = constraint === undefined ? sampling : { ...sampling, forcedEndTokens: [] };
  const sampler = new TokenSampler(choosing, Random.seeded(settings.seed, job.choice));
  const writer = new TextWriter(job);
  const tokens = [...prompt.tokens];
  const promptLength = tokens.length;
  const logprobs: GeneratedLogprob[] = [];
  const { sequence, source } = prompt;
  // What is written next, from the text itself first: that costs nothing.
  const drafters = [lookup, draftModel].filter((drafter) => drafter !== undefined);
  const isPlain = constraint === undefined && settings.logprobs === undefined && drafters.length === 0;
  const candidates = isPlain ? sampler.candidates : undefined;
  const speculation = new Speculation({ scheduler, sequence, drafters, candidates });
  let { logits } = prompt;
  let firstTokenMs = 0;
  for (;;) {
    // A first token that the model's files force, such as the token of a language, is not part of the text.
    const isForced = tokens.length === 1 && sampling.forcedFirstToken !== undefined;
    const allowed = isForced || constraint === undefined ? undefined : await abortable(constraint.allowed(), signal);
    const text = { tokens, promptLength, source };
    let token = sampler.choose(logits, text, allowed);
    if (speculation.isUnsure(sampler.lead)) {
      logits = await speculation.again(tokens, signal);
      token = sampler.chooseAgain(logits, text, allowed);
    }
    const logprob = settings.logprobs === undefined ? undefined : { token, ...choiceLogprobs(logits, token, settings.logprobs) };
    if (logprob !== undefined) logprobs.push(logprob);
    tokens.push(token);
    if (tokens.length === promptLength + 1) firstTokenMs = performance.now() - job.started;
    const isEnd = sampling.endTokens.includes(token);
    const stop = isEnd ? token : writer.push(token);
    if (!isEnd && !isForced && constraint !== undefined) await abortable(constraint.push(token, writer.text), signal);
    const ending: Ending | undefined =
      stop !== undefined
        ? { reason: "stop", stop }
        : constraint?.isDone === true
          ? { reason: "stop" }
          : tokens.length >= sampling.maxLength
            ? { reason: "length" }
            : undefined;
    if (ending === undefined) constraint?.prepare();
    else writer.end(typeof ending.stop === "string");
    const promptLogprobs = tokens.length === promptLength + 1 ? prompt.promptLogprobs : undefined;
    await emit?.(omitUndefined({ type: "text" as const, index, text: writer.take(), token, logprob, promptLogprobs }));
    if (ending !== undefined) {
      const timings = { firstTokenMs, totalMs: performance.now() - job.started };
      const result: GeneratedText = omitUndefined({
        text: writer.text,
        tokens: tokens.slice(promptLength),
        finishReason: ending.reason,
        stop: ending.stop,
        logprobs: settings.logprobs === undefined ? undefined : logprobs,
        promptLogprobs: prompt.promptLogprobs,
        promptTokens: source.length > 0 ? source.length : promptLength,
        cachedTokens: prompt.cachedTokens,
        seed: sampling.doSample ? settings.seed : undefined,
        promptLookup: lookup && speculation.getCounts(lookup),
        draftModel: draftModel && speculation.getCounts(draftModel),
        timings,
      });
      await emit?.({ type: "finish", index, text: "", result });
      return result;
    }
    logits = await speculation.after(tokens, sampling.maxLength - tokens.length - 1, signal);
  }
}

/** The text of the tokens so far, as far as it can be shown. */
class TextWriter {
  readonly #tokenText: TokenText | undefined;
  readonly #stops: StopStrings;
  readonly #hidden: ReadonlySet<number>;
  #fresh = "";
  #text = "";

  constructor({ tokenizer, settings, kept, before }: TextJob) {
    const { skipSpecialTokens, hiddenTokens, stop } = settings;
    this.#tokenText = tokenizer === undefined ? undefined : new TokenText(tokenizer, skipSpecialTokens, { kept, before });
    this.#stops = new StopStrings(stop);
    this.#hidden = hiddenTokens;
  }

  /** All of the text. */
  get text(): string {
    return this.#text;
  }

  /** Adds a token. Returns the stop string that ends the text with it. */
  push(token: number): string | undefined {
    if (this.#hidden.has(token)) return undefined;
    return this.#add(this.#tokenText?.push(token) ?? "");
  }

  /** Adds what was held back, once no token follows. */
  end(hasStopped: boolean): void {
    if (hasStopped) return;
    const stop = this.#add(this.#tokenText?.end() ?? "");
    if (stop === undefined) this.#write(this.#stops.end());
  }

  /** The text since the last call. */
  take(): string {
    const fresh = this.#fresh;
    this.#fresh = "";
    return fresh;
  }

  #add(part: string): string | undefined {
    const { text, stop } = this.#stops.push(part);
    this.#write(text);
    return stop;
  }

  #write(text: string): void {
    this.#fresh += text;
    this.#text += text;
  }
}
