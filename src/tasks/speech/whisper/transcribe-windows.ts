/**
 * Transcribes a spectrogram with Whisper, window by window, as faster-whisper 1.2 and openai-whisper do: each window of 30 seconds is decoded with the text
 * before it, and the next window begins at the last timestamp.
 */
import { InferyardError, throwIfAborted } from "../../../contract/errors.ts";
import type { Tokenizer } from "../../../tokenizers/index.ts";
import { Random } from "../../generation/sampling/random.ts";
import { alignWords, requireAlignment } from "./align-words.ts";
import { type AcceptedWindow, decodeWithFallback } from "./decode-with-fallback.ts";
import { detectLanguage, type SpeechModel } from "./decode-window.ts";
import { removeHallucinations } from "./hallucinations.ts";
import { framesPerSecond, splitSegments, timestampSeconds } from "./split-segments.ts";
import type { WindowEncoder } from "./window-encoder.ts";
import type { SourceWindow, WindowSource } from "./window-source.ts";
import type { WhisperSettings } from "./whisper-options.ts";
import { decodeText, encodePlain, type WhisperVocabulary } from "./whisper-vocabulary.ts";
import { addWordTimes, type PunctuationMarks, type TimedWord, type WordSegment } from "./word-times.ts";

/** A loaded Whisper. */
export interface Whisper {
  readonly model: SpeechModel;
  readonly tokenizer: Tokenizer;
  readonly vocabulary: WhisperVocabulary;
  /** Its encoder in this call. Who makes it releases it. */
  readonly windows: WindowEncoder;
}

/** A segment of a transcript. Times are seconds from the start of the sound. */
export interface WhisperSegment {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly tokens: readonly number[];
  /** First frame of its window, in units of 10 ms. */
  readonly seek: number;
  readonly temperature: number;
  readonly averageLogProbability: number;
  readonly compressionRatio: number;
  readonly noSpeechProbability: number;
  /** Present with timestamps of words. */
  readonly words?: readonly TimedWord[];
  /** Whether the sound of its window is not complete, so that its text comes again. */
  readonly isProvisional?: true;
}

/** The language of a sound. */
export interface DetectedLanguage {
  readonly language: string;
  /** 1 if it was given. */
  readonly probability: number;
}

const marks: PunctuationMarks = { prepended: "\"'“¿([{-", appended: "\"'.。,，!！?？:：”)]}、" };

/**
 * Detects the language of a window, the first `frames` of `source` from frame `seek` on, or returns the given one. Throws INPUT_INVALID for a language that the
 * model does not know.
 */
export async function findLanguage(
  { model, vocabulary, windows }: Whisper,
  { source, seek, frames }: { readonly source: Pick<WindowSource, "read">; readonly seek: number; readonly frames: number },
  given: string | undefined,
  signal: AbortSignal | undefined,
): Promise<DetectedLanguage> {
  const { languages } = vocabulary;
  if (languages.size === 0) {
    if (given === undefined || given === "en") return { language: "en", probability: 1 };
    throw new InferyardError("INPUT_INVALID", `this model knows English alone, and the language "${given}" was asked for`);
  }
  if (given !== undefined) {
    if (languages.has(given)) return { language: given, probability: 1 };
    const known = [...languages.keys()].join(", ");
    throw new InferyardError("INPUT_INVALID", `the model does not know the language "${given}"`, { remedy: `it knows ${known}` });
  }
  const width = requireFeatures(model).frames;
  return await windows.keepWindow(source.read(seek, Math.min(width, frames), width), signal, async (sequence) => {
    const [[language, probability] = ["en", 0]] = await detectLanguage(model, sequence, vocabulary, signal);
    return { language, probability };
  });
}

/** Options of one transcription. */
export interface TranscriptionRequest {
  readonly language: string;
  readonly settings: WhisperSettings;
  readonly signal: AbortSignal | undefined;
  /** Called after each window with the seconds of the sound that are done. */
  readonly onProgress: (seconds: number) => void;
}

/** Yields the segments of a sound in order. Throws MODEL_UNSUPPORTED where times of words are asked for and cannot be computed. */
export async function* transcribeWindows(
  whisper: Whisper,
  source: WindowSource,
  { language, settings, signal, onProgress }: TranscriptionRequest,
): AsyncGenerator<WhisperSegment, void, undefined> {
  const { model, tokenizer, vocabulary, windows } = whisper;
  const { timestamps, initialPrompt, conditionOnPreviousText, promptResetOnTemperature } = settings;
  if (timestamps === "word") requireAlignment(model, vocabulary);
  const { frames: width } = requireFeatures(model);
  const random = Random.seeded(settings.seed, 0);
  const start = getStartTokens(vocabulary, language, settings);
  let previous: readonly number[] = initialPrompt === undefined ? [] : encodePlain(tokenizer, ` ${initialPrompt.trim()}`);
  let [seek, lastSpeech] = [0, 0];
  for (let found = await source.next(seek, width); found !== undefined; found = await source.next(seek, width)) {
    throwIfAborted(signal);
    const { frames, isProvisional } = found;
    ({ seek } = found);
    if (isProvisional) {
      const segment = await decodeProvisionally(whisper, source, found, { previous, start, settings, random, signal });
      if (segment !== undefined) yield segment;
      continue;
    }
    const window = await windows.withWindow(source.read(seek, frames, width), signal, async (sequence) => {
      const prompt = getPrompt(whisper, previous, start, settings);
      const accepted = await decodeWithFallback(
        model,
        sequence,
        whisper,
        getWindowSettings(whisper, prompt, { settings, random, signal }),
        settings,
      );
      if (isSilent(accepted, settings)) return undefined;
      const split = splitSegments(accepted.tokens, vocabulary.firstTimestamp, { seek, frames });
      const withoutWords = {
        accepted,
        next: split.seek,
        segments: split.segments.map((each): WordSegment => ({ ...each, words: [] })),
      };
      if (timestamps !== "word") return withoutWords;
      const text = split.segments.flatMap(({ tokens }) => tokens.filter((token) => token < vocabulary.endOfText));
      const aligned = await alignWords(model, sequence, tokenizer, vocabulary, { start, text, language, frames, signal });
      const offset = seek / framesPerSecond;
      const segments = addWordTimes(split.segments, aligned, { offset, lastSpeech, endOfText: vocabulary.endOfText, marks });
      const end = getEnd(segments);
      const next = !split.endsInSilence && end !== undefined && end > offset ? Math.round(end * framesPerSecond) : split.seek;
      const { hallucinationSilenceThreshold: threshold } = settings;
      if (threshold === undefined) return { accepted, next, segments };
      const place = { start: offset, end: offset + width / framesPerSecond, soundEnd: offset + frames / framesPerSecond };
      const kept = removeHallucinations(segments, { ...place, duration: source.duration, lastSpeech }, threshold);
      return { accepted, next: kept.seek ?? next, segments: kept.segments };
    });
    const position = seek;
    seek = window === undefined ? seek + frames : Math.max(window.next, seek + 1);
    if (window !== undefined) {
      const { accepted, segments } = window;
      if (timestamps === "word") lastSpeech = getEnd(segments) ?? lastSpeech;
      for (const segment of segments) {
        const text = decodeText(tokenizer, vocabulary, segment.tokens);
        if (segment.start === segment.end || text.trim() === "") continue;
        previous = [...previous, ...segment.tokens].slice(-getHalfContext(model));
        yield getSegment(segment, text, position, accepted, timestamps);
      }
      if (!conditionOnPreviousText || accepted.temperature > promptResetOnTemperature) previous = [];
    }
    onProgress(Math.min(seek / framesPerSecond, source.duration));
  }
}

/** The text of a window that is not complete, at the first temperature alone; undefined where nobody speaks. Nothing of it helps to decode the next. */
async function decodeProvisionally(
  whisper: Whisper,
  source: WindowSource,
  { seek, frames }: SourceWindow,
  {
    previous,
    start,
    settings,
    random,
    signal,
  }: {
    readonly previous: readonly number[];
    readonly start: readonly number[];
    readonly settings: WhisperSettings;
    readonly random: Random;
    readonly signal: AbortSignal | undefined;
  },
): Promise<WhisperSegment | undefined> {
  const { model, tokenizer, vocabulary, windows } = whisper;
  const own = { ...settings, temperatures: settings.temperatures.slice(0, 1) };
  const { frames: width } = requireFeatures(model);
  const accepted = await windows.withWindow(source.read(seek, frames, width), signal, (sequence) => {
    const prompt = getPrompt(whisper, previous, start, own);
    return decodeWithFallback(
      model,
      sequence,
      whisper,
      getWindowSettings(whisper, prompt, { settings: own, random, signal }),
      own,
    );
  });
  const text = decodeText(tokenizer, vocabulary, accepted.tokens);
  if (isSilent(accepted, own) || text.trim() === "") return undefined;
  const times = { start: seek / framesPerSecond, end: (seek + frames) / framesPerSecond };
  return {
    ...getSegment({ ...times, tokens: accepted.tokens, words: [] }, text, seek, accepted, "segment"),
    isProvisional: true,
  };
}

/** Bins and frames of a window. Throws MODEL_UNSUPPORTED for a model without an encoder of sound. */
export function requireFeatures({ limits: { features } }: Pick<SpeechModel, "limits">): {
  readonly bins: number;
  readonly frames: number;
} {
  if (features !== undefined) return features;
  throw new InferyardError("MODEL_UNSUPPORTED", "the model has no encoder that reads a spectrogram");
}

/** The tokens that begin a transcript: start, language and task. */
function getStartTokens(
  { startOfTranscript, languages, tasks }: WhisperVocabulary,
  language: string,
  { task }: WhisperSettings,
): readonly number[] {
  const languageToken = languages.get(language);
  if (tasks === undefined || languageToken === undefined) {
    if (task === "transcribe") return [startOfTranscript];
    throw new InferyardError("INPUT_INVALID", "this model knows English alone, and cannot translate");
  }
  return [startOfTranscript, languageToken, tasks[task]];
}

/** The prompt of a window: the end of the text before it, and the tokens that begin a transcript. */
function getPrompt(
  { model, vocabulary }: Whisper,
  previous: readonly number[],
  start: readonly number[],
  { timestamps }: WhisperSettings,
): readonly number[] {
  const { startOfPrevious, noTimestamps } = vocabulary;
  const kept = startOfPrevious === undefined ? [] : previous.slice(-(getHalfContext(model) - 1));
  const before = startOfPrevious === undefined || kept.length === 0 ? [] : [startOfPrevious, ...kept];
  return [...before, ...start, ...(timestamps === "none" ? [noTimestamps] : [])];
}

/** Context of the models of Whisper's authors, in tokens. */
const usualContext = 448;

function getHalfContext({ limits: { contextLength = usualContext } }: Pick<SpeechModel, "limits">): number {
  return Math.floor(contextLength / 2);
}

function getWindowSettings(
  { model }: Whisper,
  prompt: readonly number[],
  {
    settings,
    random,
    signal,
  }: { readonly settings: WhisperSettings; readonly random: Random; readonly signal: AbortSignal | undefined },
): Parameters<typeof decodeWithFallback>[3] {
  const { timestamps, suppressBlank, maxInitialTimestamp, maxNewTokens = Number.POSITIVE_INFINITY } = settings;
  const { contextLength = usualContext } = model.limits;
  return {
    rules: {
      hasTimestamps: timestamps !== "none",
      suppressesBlank: suppressBlank,
      maxInitialTimestamp: Math.round(maxInitialTimestamp / timestampSeconds),
    },
    prompt,
    maxNewTokens: Math.min(maxNewTokens, getHalfContext(model), contextLength - prompt.length),
    random,
    signal,
  };
}

/** Whether a window has no text: silence is probable, and its text is not. */
function isSilent(
  { noSpeechProbability, averageLogProbability }: AcceptedWindow,
  { noSpeechThreshold, logProbabilityThreshold }: WhisperSettings,
): boolean {
  const isProbable = logProbabilityThreshold > Number.NEGATIVE_INFINITY && averageLogProbability > logProbabilityThreshold;
  return noSpeechProbability > noSpeechThreshold && !isProbable;
}

/** End of the last word, or of the last segment if there are no words. */
function getEnd(segments: readonly WordSegment[]): number | undefined {
  const last = segments.findLast(({ words }) => words.length > 0);
  return last?.words.at(-1)?.end ?? segments.at(-1)?.end;
}

function getSegment(
  { start, end, tokens, words }: WordSegment,
  text: string,
  seek: number,
  { temperature, averageLogProbability, compressionRatio, noSpeechProbability }: AcceptedWindow,
  timestamps: WhisperSettings["timestamps"],
): WhisperSegment {
  const accepted = { temperature, averageLogProbability, compressionRatio, noSpeechProbability };
  return { start, end, text, tokens, seek, ...accepted, ...(timestamps === "word" ? { words } : {}) };
}
