/** Decodes the text of one window of sound at one temperature. */
import type { LanguageModel, SequenceId } from "../../../contract/language-model.ts";
import { at, omitUndefined } from "../../../contract/checked.ts";
import { highestLogit } from "../../generation/sampling/filters.ts";
import type { Random } from "../../generation/sampling/random.ts";
import { applyRules, logSumExp, type RuleSettings } from "./logit-rules.ts";
import { searchText } from "./search-text.ts";
import type { WhisperVocabulary } from "./whisper-vocabulary.ts";

/** The members of a language model that decoding uses. */
export type SpeechModel = Pick<
  LanguageModel,
  "limits" | "library" | "createSequence" | "forkSequence" | "truncateSequence" | "releaseSequence" | "decode" | "crossAttention"
>;

/** What a window is decoded with. */
export interface WindowSettings {
  readonly rules: RuleSettings;
  /** Tokens in front of the text: earlier text, language and task. */
  readonly prompt: readonly number[];
  /** 0 takes the most probable token each time; above 0 tokens are drawn by chance. */
  readonly temperature: number;
  /** Number of texts that are drawn, of which the most probable is taken. For temperatures above 0. */
  readonly bestOf: number;
  /** Number of texts of a beam search at temperature 0; 1 takes the most probable token each time. */
  readonly beams: number;
  /** Maximum number of tokens of the text. */
  readonly maxNewTokens: number;
  readonly random: Random;
  readonly signal: AbortSignal | undefined;
}

/** The text of a window. */
export interface DecodedWindow {
  /** Tokens of the text with its timestamps, without the end. */
  readonly tokens: readonly number[];
  /** Mean logarithm of the probabilities of the tokens, the end included. */
  readonly averageLogProbability: number;
  /** Probability that nobody speaks in the window. 0 if the model has no token for it. */
  readonly noSpeechProbability: number;
}

interface Candidate {
  readonly sequence: SequenceId;
  readonly tokens: number[];
  sum: number;
  isFinished: boolean;
  logits: Float32Array;
}

/** Decodes the text of a sequence that has read a window and no tokens; afterwards it has no tokens again. */
export async function decodeWindow(
  model: SpeechModel,
  sequence: SequenceId,
  vocabulary: WhisperVocabulary,
  settings: WindowSettings,
): Promise<DecodedWindow> {
  const { prompt, temperature, bestOf, beams, rules, maxNewTokens, random, signal } = settings;
  const forks: SequenceId[] = [];
  const options = omitUndefined({ signal });
  try {
    const start = prompt.lastIndexOf(vocabulary.startOfTranscript);
    const [rows] = await model.decode([{ sequence, tokens: prompt, logits: prompt.length - start }], options);
    const { vocabulary: width } = model.limits;
    const all = rows ?? new Float32Array();
    const noSpeech = vocabulary.noSpeech === undefined ? 0 : getProbability(all.subarray(0, width), vocabulary.noSpeech);
    const count = temperature > 0 ? bestOf : 1;
    const first = all.slice(all.length - width);
    if (temperature === 0 && beams > 1) {
      const { tokens, sum } = await searchText(model, { sequence, logits: first }, vocabulary, {
        rules,
        beams,
        maxNewTokens,
        signal,
      });
      return { tokens, averageLogProbability: sum / (tokens.length + 1), noSpeechProbability: noSpeech };
    }
    const candidates: Candidate[] = [{ sequence, tokens: [], sum: 0, isFinished: false, logits: first }];
    while (candidates.length < count) {
      const fork = await model.forkSequence(sequence);
      forks.push(fork);
      candidates.push({ sequence: fork, tokens: [], sum: 0, isFinished: false, logits: first.slice() });
    }
    for (let length = 0; length < maxNewTokens; length += 1) {
      const open = candidates.filter(({ isFinished }) => !isFinished);
      for (const candidate of open) choose(candidate, vocabulary, { rules, temperature, random });
      const growing = open.filter(({ isFinished }) => !isFinished);
      if (growing.length === 0 || length === maxNewTokens - 1) break;
      const steps = growing.map((each) => ({ sequence: each.sequence, tokens: each.tokens.slice(-1) }));
      for (const [index, logits] of (await model.decode(steps, options)).entries()) at(growing, index).logits = logits;
    }
    const score = ({ sum, tokens }: Candidate): number => sum / Math.max(tokens.length, 1);
    const best = candidates.reduce((one, other) => (score(other) > score(one) ? other : one));
    return {
      tokens: best.tokens,
      averageLogProbability: best.sum / (best.tokens.length + 1),
      noSpeechProbability: noSpeech,
    };
  } finally {
    for (const fork of forks) await model.releaseSequence(fork);
    await model.truncateSequence(sequence, 0);
  }
}

/** Appends a token to a candidate, or finishes it. */
function choose(
  candidate: Candidate,
  vocabulary: WhisperVocabulary,
  { rules, temperature, random }: Pick<WindowSettings, "rules" | "temperature" | "random">,
): void {
  const { logits, tokens } = candidate;
  applyRules(logits, tokens, vocabulary, rules);
  const token = temperature > 0 ? draw(logits, temperature, random) : logits.indexOf(highestLogit(logits));
  candidate.sum += (logits[token] ?? Number.NEGATIVE_INFINITY) - logSumExp(logits);
  if (token === vocabulary.endOfText) candidate.isFinished = true;
  else tokens.push(token);
}

/** A token by chance: its probability is that of the logits divided by the temperature. */
function draw(logits: Float32Array, temperature: number, random: Random): number {
  const max = highestLogit(logits);
  const weights = Float64Array.from(logits, (each) => Math.exp((each - max) / temperature));
  let remaining = random.uniform() * weights.reduce((sum, each) => sum + each, 0);
  for (const [token, weight] of weights.entries()) {
    remaining -= weight;
    if (remaining < 0) return token;
  }
  return logits.indexOf(max);
}

/** The probability of a token: its share in the softmax of all logits. */
export function getProbability(logits: Float32Array, token: number): number {
  return Math.exp((logits[token] ?? Number.NEGATIVE_INFINITY) - logSumExp(logits));
}

/** The probabilities of languages, the most probable first. The sequence has read a window and no tokens; afterwards it has no tokens again. */
export async function detectLanguage(
  model: SpeechModel,
  sequence: SequenceId,
  { languages, startOfTranscript }: WhisperVocabulary,
  signal: AbortSignal | undefined,
): Promise<readonly (readonly [language: string, probability: number])[]> {
  try {
    const [logits = new Float32Array()] = await model.decode(
      [{ sequence, tokens: [startOfTranscript] }],
      omitUndefined({ signal }),
    );
    const names = [...languages.keys()];
    const own = Float32Array.from(languages.values(), (id) => logits[id] ?? Number.NEGATIVE_INFINITY);
    return names
      .map((name, index): readonly [string, number] => [name, getProbability(own, index)])
      .toSorted(([, one], [, other]) => other - one);
  } finally {
    await model.truncateSequence(sequence, 0);
  }
}
