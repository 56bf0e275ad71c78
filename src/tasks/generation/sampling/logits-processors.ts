/**
 * Functions that change logits before a token is chosen, in the order of transformers 4.57 (`GenerationMixin._get_logits_processor`), with the penalties
 * of OpenAI's API after the repetition penalty. Each computes in float32 as it does there.
 */
import type { SamplingSettings, TextSoFar } from "./sampling-settings.ts";

/** Changes the logits of the next token in place. */
export type LogitsProcessor = (logits: Float32Array, text: TextSoFar) => void;

/** Creates the processors whose settings are not neutral. The processors of random sampling are in filters.ts. */
export function createLogitsProcessors(settings: SamplingSettings): readonly LogitsProcessor[] {
  const { repetitionPenalty, frequencyPenalty, presencePenalty, noRepeatNgramSize, encoderNoRepeatNgramSize } = settings;
  const { endTokens, minLength, minNewTokens, forcedFirstToken, forcedEndTokens, suppressTokens, beginSuppressTokens } = settings;
  const banned = settings.badWords.filter((word) => word.length !== 1 || word.every((token) => !endTokens.includes(token)));
  const when = (needed: boolean, processor: LogitsProcessor): readonly LogitsProcessor[] => (needed ? [processor] : []);
  return [
    ...when(settings.sequenceBias.length > 0, (logits, text) => {
      for (const { tokens, bias } of settings.sequenceBias) addSequenceBias(logits, text, tokens, bias);
    }),
    ...when(repetitionPenalty !== 1, (logits, { tokens }) => penalizeRepetition(logits, tokens, repetitionPenalty)),
    ...when(frequencyPenalty !== 0 || presencePenalty !== 0, (logits, text) =>
      penalizeGenerated(logits, text, frequencyPenalty, presencePenalty),
    ),
    ...when(noRepeatNgramSize > 0, (logits, { tokens }) => banNgrams(logits, tokens, tokens, noRepeatNgramSize)),
    ...when(encoderNoRepeatNgramSize > 0, (logits, { tokens, source }) =>
      banNgrams(logits, source, tokens, encoderNoRepeatNgramSize),
    ),
    ...when(banned.length > 0, (logits, text) => {
      for (const tokens of banned) addSequenceBias(logits, text, tokens, Number.NEGATIVE_INFINITY);
    }),
    ...when(minLength > 0, (logits, { tokens }) => {
      if (tokens.length < minLength) ban(logits, endTokens);
    }),
    ...when(minNewTokens > 0, (logits, { tokens, promptLength }) => {
      if (tokens.length - promptLength < minNewTokens) ban(logits, endTokens);
    }),
    ...when(forcedFirstToken !== undefined, (logits, { tokens }) => {
      if (tokens.length === 1 && forcedFirstToken !== undefined) force(logits, [forcedFirstToken]);
    }),
    ...when(forcedEndTokens.length > 0, (logits, { tokens }) => {
      if (tokens.length === settings.maxLength - 1) force(logits, forcedEndTokens);
    }),
    ...when(suppressTokens.length > 0, (logits) => ban(logits, suppressTokens)),
    ...when(beginSuppressTokens.length > 0, (logits, { tokens, promptLength }) => {
      // A forced first token comes before what is the beginning then.
      const begin = promptLength > 1 || forcedFirstToken === undefined ? promptLength : promptLength + 1;
      if (tokens.length === begin) ban(logits, beginSuppressTokens);
    }),
  ];
}

function ban(logits: Float32Array, tokens: readonly number[]): void {
  for (const token of tokens) if (token < logits.length) logits[token] = Number.NEGATIVE_INFINITY;
}

function force(logits: Float32Array, tokens: readonly number[]): void {
  logits.fill(Number.NEGATIVE_INFINITY);
  for (const token of tokens) logits[token] = 0;
}

function add(logits: Float32Array, token: number, bias: number): void {
  const logit = logits[token];
  if (logit !== undefined) logits[token] = logit + bias;
}

function addSequenceBias(logits: Float32Array, { tokens: past }: TextSoFar, tokens: readonly number[], bias: number): void {
  const start = past.length - tokens.length + 1;
  const last = tokens.at(-1);
  if (last === undefined || (tokens.length > 1 && start <= 0)) return; // as transformers: it needs as many tokens as the whole sequence has
  for (let index = 0; index < tokens.length - 1; index += 1) if (past[start + index] !== tokens[index]) return;
  add(logits, last, bias);
}

function penalizeRepetition(logits: Float32Array, tokens: readonly number[], penalty: number): void {
  for (const token of new Set(tokens)) {
    const logit = logits[token];
    if (logit !== undefined) logits[token] = logit < 0 ? logit * penalty : logit / penalty;
  }
}

function penalizeGenerated(
  logits: Float32Array,
  { tokens, promptLength }: TextSoFar,
  frequencyPenalty: number,
  presencePenalty: number,
): void {
  const counts = new Map<number, number>();
  for (let index = promptLength; index < tokens.length; index += 1) {
    const token = tokens[index];
    if (token !== undefined) counts.set(token, (counts.get(token) ?? 0) + 1);
  }
  for (const [token, count] of counts) add(logits, token, -(count * frequencyPenalty + presencePenalty));
}

/** Bans each token that would complete a sequence of `size` tokens which occurs in `seen`. */
function banNgrams(logits: Float32Array, seen: readonly number[], tokens: readonly number[], size: number): void {
  const start = tokens.length - size + 1;
  if (start < 0) return;
  for (let at = 0; at + size <= seen.length; at += 1) {
    let index = 0;
    while (index < size - 1 && seen[at + index] === tokens[start + index]) index += 1;
    const completing = seen[at + size - 1];
    if (index === size - 1 && completing !== undefined) ban(logits, [completing]);
  }
}
