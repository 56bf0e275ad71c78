/** Reads generation_config.json: the model's own settings of generation. */
import { omitUndefined } from "../../../contract/checked.ts";
import { InferyardError, unsupportedModel } from "../../../contract/errors.ts";
import type { SamplingSettings, SequenceBias } from "./sampling-settings.ts";

/** Settings that generation_config.json states; omitted ones are absent. */
export interface GenerationConfig extends Partial<Omit<SamplingSettings, "frequencyPenalty" | "presencePenalty" | "endTokens">> {
  readonly maxNewTokens?: number;
  readonly numBeams?: number;
  readonly lengthPenalty?: number;
  readonly earlyStopping?: boolean | "never";
  readonly stop?: readonly string[];
  readonly endTokens: readonly number[];
  readonly promptLookup?: number;
  readonly startToken?: number;
  readonly decoderStartToken?: number;
}

type Fields = Readonly<Record<string, unknown>>;

/** Fields that change the text and that this version does not compute, with the values that mean that they are off. */
const notBuilt: Readonly<Record<string, readonly unknown[]>> = {
  penalty_alpha: [0],
  num_beam_groups: [1],
  diversity_penalty: [0],
  epsilon_cutoff: [0],
  eta_cutoff: [0],
  exponential_decay_length_penalty: [],
  guidance_scale: [1],
  encoder_repetition_penalty: [1],
  force_words_ids: [],
  constraints: [],
  watermarking_config: [],
  token_healing: [false],
  dola_layers: [],
};

/** Reads the fields. Throws MODEL_INVALID for a value of a wrong type, and MODEL_UNSUPPORTED for a setting that is on and is not built. */
export function readGenerationConfig(fields: Fields): GenerationConfig {
  for (const [name, neutral] of Object.entries(notBuilt)) {
    const value = fields[name];
    if (value === undefined || value === null || neutral.includes(value)) continue;
    throw unsupportedModel(
      `generation_config.json sets ${name}, which this version does not compute`,
      `remove ${name} from the file to generate without it`,
    );
  }
  const startToken = getToken(fields, "bos_token_id");
  return omitUndefined({
    endTokens: getTokens(fields, "eos_token_id") ?? [],
    doSample: read(fields, "do_sample", isBoolean, "true or false"),
    temperature: toNumber(fields, "temperature"),
    topK: toNumber(fields, "top_k"),
    topP: toNumber(fields, "top_p"),
    minP: toNumber(fields, "min_p"),
    typicalP: toNumber(fields, "typical_p"),
    repetitionPenalty: toNumber(fields, "repetition_penalty"),
    noRepeatNgramSize: toNumber(fields, "no_repeat_ngram_size"),
    encoderNoRepeatNgramSize: toNumber(fields, "encoder_no_repeat_ngram_size"),
    sequenceBias: getSequenceBias(fields),
    badWords: read(fields, "bad_words_ids", isTokenLists, "a list of lists of token ids"),
    suppressTokens: getTokens(fields, "suppress_tokens"),
    beginSuppressTokens: getTokens(fields, "begin_suppress_tokens"),
    forcedFirstToken: getToken(fields, "forced_bos_token_id"),
    forcedEndTokens: getTokens(fields, "forced_eos_token_id"),
    maxLength: toNumber(fields, "max_length"),
    maxNewTokens: toNumber(fields, "max_new_tokens"),
    minLength: toNumber(fields, "min_length"),
    minNewTokens: toNumber(fields, "min_new_tokens"),
    numBeams: toNumber(fields, "num_beams"),
    lengthPenalty: toNumber(fields, "length_penalty"),
    earlyStopping: read(fields, "early_stopping", isEarlyStopping, 'true, false or "never"'),
    stop: getStopStrings(fields),
    promptLookup: toNumber(fields, "prompt_lookup_num_tokens"),
    startToken,
    // As transformers: a decoder without a start token of its own starts with the one of texts.
    decoderStartToken: getToken(fields, "decoder_start_token_id") ?? startToken,
  });
}

const isBoolean = (value: unknown): value is boolean => typeof value === "boolean";
const isFinite = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value);
const isToken = (value: unknown): value is number => isFinite(value) && Number.isInteger(value) && value >= 0;
const isTokens = (value: unknown): value is number[] => Array.isArray(value) && value.every(isToken);
const isTokenLists = (value: unknown): value is number[][] =>
  Array.isArray(value) && value.every((each) => isTokens(each) && each.length > 0);
const isEarlyStopping = (value: unknown): value is boolean | "never" => isBoolean(value) || value === "never";
const isStopStrings = (value: unknown): value is string | string[] =>
  typeof value === "string" || (Array.isArray(value) && value.every((each) => typeof each === "string"));

function read<Value>(fields: Fields, name: string, is: (value: unknown) => value is Value, wanted: string): Value | undefined {
  const value = fields[name];
  if (value === undefined || value === null) return undefined;
  if (is(value)) return value;
  throw new InferyardError(
    "MODEL_INVALID",
    `generation_config.json: ${name} is ${JSON.stringify(value)}, and must be ${wanted}`,
    {
      remedy: "correct the file",
    },
  );
}

function toNumber(fields: Fields, name: string): number | undefined {
  return read(fields, name, isFinite, "a number");
}

function getToken(fields: Fields, name: string): number | undefined {
  const value = fields[name];
  // Some exporters write a list of one.
  return isTokens(value) && value.length === 1 ? value[0] : read(fields, name, isToken, "a token id");
}

function getTokens(fields: Fields, name: string): readonly number[] | undefined {
  const value = fields[name];
  return isToken(value) ? [value] : read(fields, name, isTokens, "a token id or a list of them");
}

function getStopStrings(fields: Fields): readonly string[] | undefined {
  const value = read(fields, "stop_strings", isStopStrings, "a string or a list of strings");
  return typeof value === "string" ? [value] : value;
}

function getSequenceBias(fields: Fields): readonly SequenceBias[] | undefined {
  const isPair = (value: unknown): value is [number[], number] =>
    Array.isArray(value) && value.length === 2 && isTokens(value[0]) && value[0].length > 0 && isFinite(value[1]);
  const isPairs = (value: unknown): value is [number[], number][] => Array.isArray(value) && value.every(isPair);
  return read(fields, "sequence_bias", isPairs, "a list of pairs of token ids and a bias")?.map(([tokens, bias]) => ({
    tokens,
    bias,
  }));
}
