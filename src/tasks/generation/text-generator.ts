/** Generates texts with one loaded language model. */
import type { SequenceId } from "../../contract/backend.ts";
import { omitUndefined } from "../../contract/checked.ts";
import { InferyardError, invalidInput } from "../../contract/errors.ts";
import type { TextSettings } from "../../models/manifest.ts";
import type { Tokenizer } from "../../tokenizers/index.ts";
import { type ReadPrompt, type TextJob, endWithoutText, generateText } from "./generate-text.ts";
import { type FillInMiddle, fillInMiddlePrompt } from "./text/fill-in-middle.ts";
import { PromptScorer } from "./sampling/prompt-scorer.ts";
import type { EmitEvent, GeneratedText } from "./generated-text.ts";
import type { GenerationConfig } from "./sampling/generation-config.ts";
import type { GenerationOptions } from "./sampling/generated-generation-options.ts";
import { type GenerationSettings, resolveSettings } from "./sampling/resolve-settings.ts";
import type { SamplingSettings } from "./sampling/sampling-settings.ts";
import type { DecodeScheduler, DecodingModel, EnteredTexts } from "./decode-scheduler.ts";
import type { SchedulerClient } from "./scheduling/sequence-group.ts";
import { GrammarCache, defaultGrammarCacheBytes } from "./constraints/grammar-cache.ts";
import { type GrammarHost, LocalGrammarHost } from "./constraints/grammar-host.ts";
import type { GrammarSource } from "./constraints/grammar-source.ts";
import type { SchemaSettings } from "./constraints/schema/compile-schema.ts";
import { constraintSource } from "./constraints/text-constraint.ts";
import type { ConstrainedPart } from "./constraints/token-constraint.ts";
import { PrefixCache } from "./prefix-cache.ts";
import type { DraftModelParts } from "./speculation/draft-model.ts";
import { requireSameTokens } from "./speculation/same-tokens.ts";
import { searchBeams } from "./search-beams.ts";
import { continuedToken } from "./text/continued-token.ts";
import { type Prompt, checkPrompt, requireDecoderStart, requireTokens } from "./text/prompt-tokens.ts";

/** Constructor arguments of a generator. */
export interface GeneratorParts {
  readonly limits: DecodingModel["limits"];
  readonly scheduler: DecodeScheduler;
  /** The model's tokenizer; undefined if it has none: prompts are then token ids. */
  readonly tokenizer: Tokenizer | undefined;
  readonly config: GenerationConfig;
  /** Settings from which another thread loads the tokenizer. Undefined: the calling thread reads it for constraints. */
  readonly tokenizerSettings?: TextSettings | undefined;
  /** Where constraints are compiled. Default: in the calling thread. */
  readonly grammarHost?: GrammarHost | undefined;
  /** Bytes of compiled constraints that are kept. Default: 32 MiB. */
  readonly maxGrammarBytes?: number | undefined;
  /** Default of the option `unlistedMembers`. Default: false. */
  readonly unlistedMembers?: boolean | undefined;
  /** Bytes of caches of prompts that are kept. Default: 256 MiB. */
  readonly maxPrefixBytes?: number;
}

/** How prompts are read, and the default length of texts. */
export interface PromptSettings {
  /** Grammar of the text, instead of the option `constraint`. */
  readonly grammar?: GrammarSource;
  /** The text after which the constrained part begins, such as the end of thoughts. */
  readonly constrainedAfter?: string;
  /** Whether the tokenizer adds its special tokens to texts. Default: as the model was trained. */
  readonly addSpecialTokens?: boolean;
  /** Whether the generated text is separate, such as an answer, and does not continue the prompt's text. Default: false. */
  readonly startsText?: boolean;
  /** Text that follows the generated one, and the tokens that mark it for the model. Default: none. */
  readonly fillIn?: { readonly suffix: string; readonly tokens: FillInMiddle };
  /** Maximum number of tokens to generate if neither the options nor the model's files state one. */
  readonly maxNewTokens?: number;
  /** The first token of the decoder's answer, instead of the model's own. */
  readonly forcedFirstToken?: number;
  /** The decoder's first token, for models with an encoder. Default: as the model's files say. */
  readonly decoderStartToken?: number;
  /** Further tokens that end the text, in addition to the end tokens of the model's files. Default: none. */
  readonly endTokens?: readonly number[];
  /** Further stop strings, in addition to the option `stop`. Default: none. */
  readonly stop?: readonly string[];
}

/** For whom prompts are prepared. */
export interface PrepareCall {
  readonly signal?: AbortSignal | undefined;
  /** Identifies the client. Default: one that names none. */
  readonly client?: string;
}

/** One call of generation for prepared prompts. */
export interface GenerateCall {
  readonly signal?: AbortSignal | undefined;
  readonly emit?: EmitEvent | undefined;
  /** Time of the call, as `performance.now()` gives it. */
  readonly started: number;
  /** Whose texts they are: clients share the model fairly. Default: the client of calls that name none. */
  readonly client?: SchedulerClient;
  /** Special tokens that stay in the text where others are left out. Default: none. */
  readonly kept?: ReadonlySet<string>;
  /** The model that drafts tokens, from `draftFor`. Default: none. */
  readonly draftModel?: DraftModelParts | undefined;
}

/** Prompts that were checked and tokenized. */
export interface PreparedPrompts {
  readonly settings: GenerationSettings;
  readonly prompts: readonly PreparedPrompt[];
  /** Constraint on the texts. Default: none. */
  readonly constraint?: ConstrainedPart;
}

/** Number of tokens of each prompt, as results state it. */
export function getPromptTokens({ prompts }: PreparedPrompts): readonly number[] {
  return prompts.map(({ tokens, source }) => (source.length > 0 ? source.length : tokens.length));
}

/** What the texts of one prompt have in common. */
type TextCall = Pick<TextJob, "index" | "signal" | "started" | "kept" | "constraint" | "draftModel"> & Pick<GenerateCall, "emit">;

interface PreparedPrompt {
  /** The decoder's tokens. */
  readonly tokens: readonly number[];
  /** The encoder's tokens; empty for models without one. */
  readonly source: readonly number[];
  /** The token that the text continues. */
  readonly before: number | undefined;
  readonly sampling: SamplingSettings;
}

/** Generates texts. */
export class TextGenerator {
  readonly #parts: GeneratorParts;
  readonly #prefixes: PrefixCache;
  readonly #grammars: GrammarCache;
  /** Generators whose models were found to have the same tokens. */
  readonly #sameTokens = new WeakSet<TextGenerator>();

  /** Settings of generation in the model's files. */
  get config(): GenerationConfig {
    return this.#parts.config;
  }

  /** Limits and abilities of the model. */
  get limits(): DecodingModel["limits"] {
    return this.#parts.limits;
  }

  /** Undefined if the model has none. */
  get tokenizer(): Tokenizer | undefined {
    return this.#parts.tokenizer;
  }

  /** Settings of compiling the schemas of a call. */
  schemaSettings({ unlistedMembers }: GenerationOptions): SchemaSettings {
    return { unlistedMembers: unlistedMembers ?? this.#parts.unlistedMembers ?? false };
  }

  constructor(parts: GeneratorParts) {
    this.#parts = parts;
    const { tokenizer, tokenizerSettings, grammarHost = new LocalGrammarHost() } = parts;
    this.#grammars = new GrammarCache({
      host: grammarHost,
      tokenizer: tokenizer && { tokenizer, settings: tokenizerSettings },
      size: parts.limits.vocabulary,
      maxBytes: parts.maxGrammarBytes ?? defaultGrammarCacheBytes,
    });
    this.#prefixes = new PrefixCache(parts.scheduler, parts.limits.cacheBytesPerToken, parts.maxPrefixBytes);
  }

  /**
   * Tokenizes prompts, checks options and compiles the constraint. Throws INPUT_INVALID for requests that this model cannot serve, INPUT_TOO_LONG for a prompt
   * that leaves no room for a token in the model's context, RATE_LIMITED for a client whose constraints took too long, and ABORTED.
   */
  async prepare(
    prompts: readonly Prompt[],
    options: GenerationOptions,
    given: PromptSettings = {},
    call: PrepareCall = {},
  ): Promise<PreparedPrompts> {
    const { config, tokenizer, limits } = this.#parts;
    const { endTokens = [] } = given;
    const resolved = resolveSettings(options, {
      config: endTokens.length === 0 ? config : { ...config, endTokens: [...new Set([...config.endTokens, ...endTokens])] },
      vocabulary: limits.vocabulary,
      ...omitUndefined({ tokenizer, maxNewTokens: given.maxNewTokens }),
    });
    const settings =
      given.stop === undefined || options.ignoreEndTokens === true
        ? resolved
        : { ...resolved, stop: [...resolved.stop, ...given.stop] };
    if (settings.stop.length > 0 && tokenizer === undefined) {
      throw invalidInput("the model has no tokenizer, so that stop strings cannot be found", "give stopTokens");
    }
    const source = this.#grammarSource(options, given);
    const prepared = await Promise.all(prompts.map((prompt) => this.#preparePrompt(prompt, settings, given)));
    const constraint = source && (await this.#compile(source, given, call));
    return { settings, prompts: prepared, ...omitUndefined({ constraint }) };
  }

  /** Generates the texts of all prompts: `n` of each, one after another. `started`: time of the call. */
  async generate(
    { settings, prompts, constraint }: PreparedPrompts,
    { signal, client, ...call }: GenerateCall,
  ): Promise<readonly GeneratedText[]> {
    // One that fails ends the others, whose results nobody gets.
    const failing = new AbortController();
    const either = signal === undefined ? failing.signal : AbortSignal.any([signal, failing.signal]);
    const all = prompts.map(async (prompt, place) => {
      try {
        return await this.#generateAll(prompt, settings, client, {
          ...call,
          index: place * settings.n,
          signal: either,
          constraint,
        });
      } catch (error) {
        failing.abort(error);
        throw error;
      }
    });
    await Promise.allSettled(all);
    if (failing.signal.aborted && signal?.aborted !== true) throw failing.signal.reason;
    return (await Promise.all(all)).flat();
  }

  /**
   * This model as a draft model for another one. Throws INPUT_INVALID if their tokens differ, and for models with an encoder, since the draft model would have
   * to read the source too.
   */
  draftFor(other: TextGenerator): DraftModelParts {
    const { scheduler, limits } = this.#parts;
    if (!this.#sameTokens.has(other)) requireSameTokens(this.#parts, other.#parts);
    this.#sameTokens.add(other);
    return { scheduler, prefixes: this.#prefixes, limits, vocabulary: other.limits.vocabulary };
  }

  #grammarSource(options: GenerationOptions, given: PromptSettings): GrammarSource | undefined {
    const { constraint, numBeams = 1 } = options;
    const source =
      given.grammar ?? (constraint === undefined ? undefined : constraintSource(constraint, this.schemaSettings(options)));
    if (source !== undefined && numBeams > 1) {
      throw invalidInput("a constraint is given with numBeams, and beams are not constrained", "leave numBeams out");
    }
    return source;
  }

  async #compile(
    source: GrammarSource,
    { constrainedAfter }: PromptSettings,
    { signal, client = "" }: PrepareCall,
  ): Promise<ConstrainedPart> {
    const grammar = await this.#grammars.get(source, { client, signal });
    return { grammar, client, ...omitUndefined({ after: constrainedAfter }) };
  }

  async #generateAll(
    prompt: PreparedPrompt,
    settings: GenerationSettings,
    client: SchedulerClient | undefined,
    { emit, ...call }: TextCall,
  ): Promise<readonly GeneratedText[]> {
    const { scheduler, tokenizer } = this.#parts;
    const { beams, n } = settings;
    const entered = await scheduler.enter(
      { count: beams?.numBeams ?? n, promptTokens: prompt.tokens.length },
      call.signal,
      client,
    );
    const sequences = new Set<SequenceId>();
    try {
      const read = await this.#read(prompt, settings, call.signal, entered, sequences);
      const emitRead: EmitEvent | undefined = emit && ((event) => entered.read(emit(event)));
      const { sampling, before } = prompt;
      const job = { scheduler, tokenizer, settings, sampling, before, ...call, emit: emitRead };
      if (settings.maxNewTokens === 0) {
        const empty = Array.from({ length: n }, (_, choice) =>
          endWithoutText({ ...job, choice, index: call.index + choice }, read),
        );
        const results = await Promise.all(empty);
        await this.#close(read, entered, sequences);
        return results;
      }
      if (beams !== undefined) return await searchBeams({ ...job, beams, sequences }, read);
      const forks = Array.from({ length: n - 1 }, () => scheduler.fork(read.sequence));
      const copies = await Promise.all(forks);
      for (const copy of copies) sequences.add(copy);
      const texts = [read.sequence, ...copies].map((sequence, choice) =>
        generateText({ ...job, choice, index: call.index + choice }, { ...read, sequence }),
      );
      // All have ended before their sequences are released.
      await Promise.allSettled(texts);
      const results = await Promise.all(texts);
      await this.#close(read, entered, sequences);
      return results;
    } finally {
      await Promise.all([...sequences].map((sequence) => scheduler.release(sequence)));
      entered.leave();
    }
  }

  /** Keeps the cache of a prompt whose texts have ended. */
  async #close(read: ReadPrompt, entered: EnteredTexts, sequences: Set<SequenceId>): Promise<void> {
    if (this.#parts.limits.hasEncoder || !entered.disown(read.sequence)) return;
    sequences.delete(read.sequence);
    await this.#prefixes.close(read.sequence, read.tokens);
  }

  async #read(
    prompt: PreparedPrompt,
    { promptLogprobs: alternatives }: GenerationSettings,
    signal: AbortSignal | undefined,
    entered: EnteredTexts,
    sequences: Set<SequenceId>,
  ): Promise<ReadPrompt> {
    const { scheduler, limits } = this.#parts;
    const { tokens, source } = prompt;
    const scorer = alternatives === undefined ? undefined : new PromptScorer(scheduler, alternatives);
    const { sequence, length } =
      limits.hasEncoder || scorer !== undefined
        ? { sequence: await scheduler.create(limits.hasEncoder ? source : undefined), length: 0 }
        : await this.#prefixes.open(tokens);
    sequences.add(sequence);
    entered.own(sequence);
    const read = { sequence, tokens, source, cachedTokens: length };
    if (scorer === undefined) return { ...read, logits: await scheduler.append(sequence, tokens.slice(length), signal) };
    const { logits, logprobs } = await scorer.read(sequence, tokens, signal);
    return { ...read, logits, promptLogprobs: logprobs };
  }

  async #preparePrompt(prompt: Prompt, settings: GenerationSettings, given: PromptSettings): Promise<PreparedPrompt> {
    const { limits, config } = this.#parts;
    const { hasEncoder, contextLength = Number.POSITIVE_INFINITY } = limits;
    const ids = await this.#getTokens(prompt, given);
    const tokens = hasEncoder ? [given.decoderStartToken ?? requireDecoderStart(config)] : ids;
    if (hasEncoder && settings.promptLogprobs !== undefined) {
      throw invalidInput("promptLogprobs is given, and the model reads its prompts with an encoder", "leave promptLogprobs out");
    }
    const least = settings.maxNewTokens === 0 ? 0 : 1;
    if (tokens.length + least > contextLength) {
      const room = least === 0 ? "" : ": no room is left for an answer";
      throw new InferyardError(
        "INPUT_TOO_LONG",
        `the prompt has ${tokens.length} tokens, and the model's context is ${contextLength}${room}`,
        { remedy: "shorten the prompt" },
      );
    }
    const longest = settings.maxLength ?? tokens.length + settings.maxNewTokens;
    // A model whose files state a length that the prompt already has gives one token.
    const maxLength = Math.min(contextLength, Math.max(longest, tokens.length + least));
    const forced = given.forcedFirstToken === undefined ? {} : { forcedFirstToken: given.forcedFirstToken };
    const { tokenizer } = this.#parts;
    const isContinued = tokenizer !== undefined && given.startsText !== true;
    const before = isContinued ? continuedToken(tokens, tokenizer, settings.skipSpecialTokens) : undefined;
    return { tokens, source: hasEncoder ? ids : [], before, sampling: { ...settings.sampling, ...forced, maxLength } };
  }

  async #getTokens(prompt: Prompt, { addSpecialTokens, fillIn }: PromptSettings): Promise<readonly number[]> {
    const { tokenizer, config, limits } = this.#parts;
    checkPrompt(prompt, tokenizer, limits.vocabulary);
    const added = fillIn === undefined ? addSpecialTokens : false;
    const ids = typeof prompt === "string" ? await this.#encode(prompt, added) : prompt;
    if (fillIn !== undefined) {
      const start = addSpecialTokens === false ? [] : (tokenizer?.frame.prefix ?? []);
      return fillInMiddlePrompt(fillIn.tokens, { start, before: ids, after: await this.#encode(fillIn.suffix, false) });
    }
    return requireTokens(ids, config);
  }

  /** Tokenizes a prompt; a long one in another thread, where there are any. */
  async #encode(text: string, addSpecialTokens: boolean | undefined): Promise<readonly number[]> {
    const { tokenizer } = this.#parts;
    const options = { maxTokens: Number.POSITIVE_INFINITY, ...omitUndefined({ addSpecialTokens }) };
    const encoded = await (tokenizer?.encodeOnThread?.(text, options) ?? tokenizer?.encode(text, options));
    return encoded?.ids ?? [];
  }
}
