/** Merges the options of a request with the model's own settings into the settings of one generation. */
import { omitUndefined } from "../../../contract/checked.ts";
import { type InferyardError, invalidInput } from "../../../contract/errors.ts";
import type { Tokenizer } from "../../../tokenizers/index.ts";
import { checkOptions } from "../../../runtime/options/option.ts";
import type { BeamSettings } from "./beam-search.ts";
import type { GenerationConfig } from "./generation-config.ts";
import { generationOptions } from "./generation-options.ts";
import type { GenerationOptions } from "./generated-generation-options.ts";
import type { SamplingSettings, SequenceBias } from "./sampling-settings.ts";

/** Tokens that are generated at most if neither the request nor the model's files state a number. */
export const defaultMaxNewTokens = 256;

/** Most probable alternatives that can be asked for. */
const maxLogprobs = 100;
/** Largest number of tokens of prompt look-up: with the last token of the text, they are read in one call. */
const maxPromptLookup = 64;
const defaultDraftTokens = 4;

/** The settings of a generation that do not depend on its prompt. */
export interface GenerationSettings
  extends
    Required<Pick<GenerationOptions, "n" | "seed" | "skipSpecialTokens" | "promptLookup" | "draftTokens">>,
    Pick<GenerationOptions, "logprobs" | "promptLogprobs"> {
  readonly sampling: Omit<SamplingSettings, "maxLength">;
  /** Settings of beam search. Undefined: no beam search. */
  readonly beams?: BeamSettings;
  /** Tokens that are generated at most. */
  readonly maxNewTokens: number;
  /** Tokens of the decoder at most, the prompt included; if stated, `maxNewTokens` is not. */
  readonly maxLength?: number;
  readonly stop: readonly string[];
  /** End tokens of the model, which are left out of the text as special tokens are, whether or not they end it. */
  readonly hiddenTokens: ReadonlySet<number>;
}

/** Sources of the settings. */
export interface SamplingSources {
  readonly config: GenerationConfig;
  /** The model's tokenizer; undefined if it has none: options that need words are then refused. */
  readonly tokenizer?: Pick<Tokenizer, "encode" | "tokenToId">;
  readonly vocabulary: number;
  /** Default maximum number of tokens to generate. */
  readonly maxNewTokens?: number;
}

/** Throws INPUT_INVALID for options whose values are invalid for every model. */
export function checkGenerationOptions(options: GenerationOptions): void {
  checkOptions(generationOptions, options);
  requireRange("temperature", options.temperature, 0, 100);
  requireRange("topP", options.topP, 0, 1, "exclusive");
  requireRange("minP", options.minP, 0, 1);
  requireRange("typicalP", options.typicalP, 0, 1, "exclusive");
  requireRange("repetitionPenalty", options.repetitionPenalty, 0, 1e6, "exclusive");
  requireRange("frequencyPenalty", options.frequencyPenalty, -100, 100);
  requireRange("presencePenalty", options.presencePenalty, -100, 100);
  requireRange("lengthPenalty", options.lengthPenalty, -100, 100);
  requireRange("logprobs", options.logprobs, 0, maxLogprobs);
  requireRange("promptLogprobs", options.promptLogprobs, 0, maxLogprobs);
  requireRange("promptLookup", options.promptLookup, 0, maxPromptLookup);
  requireRange("draftTokens", options.draftTokens, 1, maxPromptLookup);
  const { stop, badWords, stopTokens, suppressTokens, earlyStopping, n = 1, numBeams } = options;
  requireTexts("stop", typeof stop === "string" ? [stop] : stop);
  requireTexts("badWords", badWords);
  requireTokens("stopTokens", stopTokens);
  requireTokens("suppressTokens", suppressTokens);
  if (earlyStopping !== undefined && typeof earlyStopping !== "boolean" && earlyStopping !== "never")
    throw refused("earlyStopping", earlyStopping, 'true, false or "never"');
  if (numBeams !== undefined && numBeams > 1) refuseWithBeams(options);
  if (numBeams !== undefined && numBeams > 1 && n > numBeams) throw refused("n", n, `at most numBeams, ${numBeams}`);
}

/** Merges the options with the model's settings. Throws INPUT_INVALID for values that are not possible with this model. */
export function resolveSettings(options: GenerationOptions, sources: SamplingSources): GenerationSettings {
  const { config, vocabulary } = sources;
  checkGenerationOptions(options);
  const { temperature = config.temperature ?? 1, n = 1, lengthPenalty, earlyStopping, logprobs, promptLogprobs, stop } = options;
  const numBeams = options.numBeams ?? (asksForSampling(options) || options.stop !== undefined ? 1 : config.numBeams) ?? 1;
  if (numBeams === 1) refuseBeamOptions(options);
  const asksForLength = options.maxNewTokens !== undefined || config.maxNewTokens !== undefined;
  const doSample = samples(options, config) && temperature > 0;
  return {
    sampling: {
      doSample,
      temperature: temperature === 0 ? 1 : temperature,
      topK: options.topK ?? config.topK ?? 0,
      topP: options.topP ?? config.topP ?? 1,
      minP: options.minP ?? config.minP ?? 0,
      typicalP: options.typicalP ?? config.typicalP ?? 1,
      repetitionPenalty: options.repetitionPenalty ?? config.repetitionPenalty ?? 1,
      frequencyPenalty: options.frequencyPenalty ?? 0,
      presencePenalty: options.presencePenalty ?? 0,
      noRepeatNgramSize: options.noRepeatNgramSize ?? config.noRepeatNgramSize ?? 0,
      encoderNoRepeatNgramSize: config.encoderNoRepeatNgramSize ?? 0,
      sequenceBias: [...(config.sequenceBias ?? []), ...getBias(options.logitBias, vocabulary)],
      badWords: [...(config.badWords ?? []), ...bannedWords(options.badWords, sources.tokenizer)],
      suppressTokens: [...(config.suppressTokens ?? []), ...within("suppressTokens", options.suppressTokens, vocabulary)],
      beginSuppressTokens: config.beginSuppressTokens ?? [],
      ...omitUndefined({ forcedFirstToken: config.forcedFirstToken }),
      forcedEndTokens: config.forcedEndTokens ?? [],
      minLength: config.minLength ?? 0,
      minNewTokens: options.minNewTokens ?? config.minNewTokens ?? 0,
      endTokens: [
        ...(options.ignoreEndTokens === true ? [] : config.endTokens),
        ...within("stopTokens", options.stopTokens, vocabulary),
      ],
    },
    ...(numBeams > 1
      ? {
          beams: {
            numBeams,
            lengthPenalty: lengthPenalty ?? config.lengthPenalty ?? 1,
            earlyStopping: earlyStopping ?? config.earlyStopping ?? false,
          },
        }
      : {}),
    maxNewTokens: options.maxNewTokens ?? config.maxNewTokens ?? sources.maxNewTokens ?? defaultMaxNewTokens,
    ...(asksForLength || config.maxLength === undefined ? {} : { maxLength: config.maxLength }),
    stop: typeof stop === "string" ? [stop] : (stop ?? config.stop ?? []),
    n,
    seed: options.seed ?? randomSeed(),
    ...omitUndefined({ logprobs, promptLogprobs }),
    skipSpecialTokens: options.skipSpecialTokens ?? true,
    hiddenTokens: new Set(options.skipSpecialTokens === false ? [] : config.endTokens),
    promptLookup: options.promptLookup ?? config.promptLookup ?? 0,
    draftTokens: options.draftTokens ?? defaultDraftTokens,
  };
}

/**
 * Throws INPUT_INVALID for a beam search option when beam search is off, since it would have no effect. Default values are accepted, since some
 * clients always send them.
 */
function refuseBeamOptions({ lengthPenalty = 1, earlyStopping = false }: GenerationOptions): void {
  const name = lengthPenalty !== 1 ? "lengthPenalty" : earlyStopping === false ? undefined : "earlyStopping";
  if (name === undefined) return;
  throw invalidInput(`${name} has no effect without beams`, `set numBeams to 2 or more, or leave ${name} out`);
}

function asksForSampling({ doSample, temperature = 0, topK, topP, minP, typicalP }: GenerationOptions): boolean {
  return doSample === true || temperature > 0 || [topK, topP, minP, typicalP].some((value) => value !== undefined);
}

function samples(options: GenerationOptions, config: GenerationConfig): boolean {
  if (options.doSample !== undefined) return options.doSample;
  if ((options.numBeams ?? 1) > 1 || options.temperature === 0) return false;
  return asksForSampling(options) || config.doSample === true;
}

/** Any whole number of 32 bits. */
function randomSeed(): number {
  return globalThis.crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;
}

function getBias(biases: GenerationOptions["logitBias"], vocabulary: number): readonly SequenceBias[] {
  if (biases === undefined) return [];
  if (typeof biases !== "object" || biases === null) throw refused("logitBias", biases, "an object of numbers by token id");
  return Object.entries(biases).map(([id, bias]) => {
    const token = Number(id);
    if (!Number.isInteger(token) || token < 0 || token >= vocabulary)
      throw refused("logitBias", id, `token ids from 0 to ${vocabulary - 1}`);
    requireRange(`logitBias of token ${id}`, bias, -100, 100);
    return { tokens: [token], bias: bias === -100 ? Number.NEGATIVE_INFINITY : bias };
  });
}

/** The tokens of each word, at the beginning of a text and after a space. */
function bannedWords(
  words: readonly string[] | undefined,
  tokenizer: SamplingSources["tokenizer"],
): readonly (readonly number[])[] {
  if (words === undefined || words.length === 0) return [];
  if (tokenizer === undefined) throw refused("badWords", words, "left out for a model without a tokenizer; give suppressTokens");
  const forms = words.flatMap((word) => [word, ` ${word}`]);
  const lists = forms.map((form) => tokenizer.encode(form, { addSpecialTokens: false, maxTokens: Number.POSITIVE_INFINITY }).ids);
  // Vocabularies of SentencePiece have pieces that begin no word, which no text is encoded to by itself.
  const pieces = words.flatMap((word) => tokenizer.tokenToId(word) ?? []).map((id) => [id]);
  return [...new Map([...lists, ...pieces].map((ids) => [ids.join(), ids])).values()].filter((ids) => ids.length > 0);
}

function within(name: string, tokens: readonly number[] | undefined, vocabulary: number): readonly number[] {
  const outside = tokens?.find((token) => token >= vocabulary);
  if (outside !== undefined) throw refused(name, outside, `token ids from 0 to ${vocabulary - 1}`);
  return tokens ?? [];
}

function refuseWithBeams({
  doSample,
  temperature = 0,
  topK,
  topP,
  minP,
  typicalP,
  stop,
  logprobs,
  seed,
  promptLookup,
  draftTokens,
}: GenerationOptions): void {
  const sampling = { topK, topP, minP, typicalP, seed, stop, logprobs, promptLookup, draftTokens };
  const [name] = Object.entries(sampling).find(([, value]) => value !== undefined) ?? [];
  const given = doSample === true ? "doSample" : temperature > 0 ? "temperature" : name;
  if (given === undefined) return;
  throw invalidInput(`${given} has no effect on beam search`, `leave out ${given} or numBeams`);
}

function requireRange(name: string, value: number | undefined, min: number, max: number, bound?: "exclusive"): void {
  if (value === undefined) return;
  const isLow = bound === "exclusive" ? value <= min : value < min;
  if (typeof value === "number" && Number.isFinite(value) && !isLow && value <= max) return;
  throw refused(name, value, bound === "exclusive" ? `above ${min}, and at most ${max}` : `a number from ${min} to ${max}`);
}

function requireTexts(name: string, values: readonly string[] | undefined): void {
  if (values === undefined) return;
  if (!Array.isArray(values) || values.some((value) => typeof value !== "string" || value === ""))
    throw refused(name, values, "texts that are not empty");
}

function requireTokens(name: string, values: readonly number[] | undefined): void {
  if (values === undefined) return;
  if (!Array.isArray(values) || values.some((value) => !Number.isSafeInteger(value) || value < 0))
    throw refused(name, values, "a list of token ids");
}

function refused(name: string, value: unknown, wanted: string): InferyardError {
  return invalidInput(
    `${name} is ${JSON.stringify(value) ?? String(value)}, and must be ${wanted}`,
    `correct ${name}, or leave it out`,
  );
}
