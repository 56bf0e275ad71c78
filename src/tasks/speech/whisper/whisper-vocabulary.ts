/** The special tokens of Whisper, and which tokens it never writes. From tokenizer.json and generation_config.json. */
import type { AttentionHead } from "../../../contract/language-model.ts";
import { InferyardError } from "../../../contract/errors.ts";
import type { Manifest } from "../../../models/manifest.ts";
import type { Tokenizer } from "../../../tokenizers/index.ts";

/** What to write down: the words that are spoken, or their translation into English. */
export type SpeechTask = "transcribe" | "translate";

/** Tokens of one model. */
export interface WhisperVocabulary {
  readonly endOfText: number;
  readonly startOfTranscript: number;
  /** Stands before the text of earlier windows. */
  readonly startOfPrevious: number | undefined;
  /** Its probability after `startOfTranscript` is the probability that nobody speaks. */
  readonly noSpeech: number | undefined;
  /** Stands in place of timestamps. */
  readonly noTimestamps: number;
  /** Token of the time 0. The next tokens are 20 ms apart. */
  readonly firstTimestamp: number;
  /** Token of the last time. */
  readonly lastTimestamp: number;
  /** Tokens by language code, such as "en". Empty for a model of English alone. */
  readonly languages: ReadonlyMap<string, number>;
  /** Undefined for a model of English alone. */
  readonly tasks: Readonly<Record<SpeechTask, number>> | undefined;
  /** Tokens that are never written: special tokens that stand in prompts, and those of generation_config.json, or else of sounds that nobody speaks. */
  readonly suppressed: readonly number[];
  /** Tokens that do not begin a text: a space, and the end. */
  readonly suppressedFirst: readonly number[];
  /** Heads of the cross-attention that follow the words; undefined if the model's files do not name them. */
  readonly alignmentHeads: readonly AttentionHead[] | undefined;
}

/** Timestamps from 0 to 30 seconds, 20 ms apart. */
const timestamps = 1501;
/** What people write beside speech: brackets of annotations, speakers, notes. Their tokens are suppressed where generation_config.json lists none. */
const annotationSymbols = [
  ...Array.from('"#()*+/:;<=>@[\\]^_`{|}~「」『』'),
  ..."<< >> <<< >>> -- --- -( -[ (' (\" (( )) ((( ))) [[ ]] {{ }} ♪♪ ♪♪♪".split(" "),
];
/** Symbols of notes, of which the first token is suppressed where there are several: all share their first bytes. */
const noteSymbols = Array.from("♩♪♫♬♭♮♯");

/** Reads the tokens of a model. `vocabulary`: number of its logits. Throws MODEL_UNSUPPORTED if the tokenizer has no tokens of Whisper. */
export function getWhisperVocabulary(
  tokenizer: Tokenizer,
  { name, generation = {} }: Pick<Manifest, "name" | "generation">,
  vocabulary: number,
): WhisperVocabulary {
  const find = (...names: readonly string[]): number | undefined =>
    names.map((each) => tokenizer.tokenToId(each)).find((id) => id !== undefined);
  const [startOfTranscript, endOfText] = [find("<|startoftranscript|>"), find("<|endoftext|>")];
  const noTimestamps = find("<|notimestamps|>") ?? getId(generation["no_timestamps_token_id"]);
  if (startOfTranscript === undefined || endOfText === undefined || noTimestamps === undefined)
    throw new InferyardError(
      "MODEL_UNSUPPORTED",
      `the tokenizer of ${name} has no tokens of Whisper, such as <|startoftranscript|>`,
      {
        remedy: "use a model with the tokenizer.json of Whisper",
      },
    );
  const firstTimestamp = noTimestamps + 1;
  const [transcribe, translate] = [find("<|transcribe|>"), find("<|translate|>")];
  const isMultilingual = generation["is_multilingual"] !== false && transcribe !== undefined && translate !== undefined;
  const startOfPrevious = find("<|startofprev|>");
  const noSpeech = find("<|nospeech|>", "<|nocaptions|>");
  const prompts = [transcribe, translate, startOfTranscript, startOfPrevious, find("<|startoflm|>"), noSpeech];
  const stated = getIds(generation["suppress_tokens"]);
  return {
    endOfText,
    startOfTranscript,
    startOfPrevious,
    noSpeech,
    noTimestamps,
    firstTimestamp,
    lastTimestamp: Math.min(firstTimestamp + timestamps, vocabulary) - 1,
    languages: isMultilingual ? readLanguages(tokenizer, generation["lang_to_id"], startOfTranscript) : new Map(),
    tasks: isMultilingual ? { transcribe, translate } : undefined,
    suppressed: [...(stated ?? getAnnotationTokens(tokenizer)), ...prompts.filter((id) => id !== undefined)],
    suppressedFirst: [...encodePlain(tokenizer, " "), endOfText],
    alignmentHeads: readHeads(generation["alignment_heads"]),
  };
}

/** The token ids of a text, without special tokens and truncation. */
export function encodePlain(tokenizer: Tokenizer, text: string): readonly number[] {
  return tokenizer.encode(text, { addSpecialTokens: false, maxTokens: Number.POSITIVE_INFINITY }).ids;
}

/** The text of the tokens before `endOfText`: all others are special. */
export function decodeText(
  tokenizer: Tokenizer,
  { endOfText }: Pick<WhisperVocabulary, "endOfText">,
  tokens: readonly number[],
): string {
  return tokenizer.decode(tokens.filter((token) => token < endOfText));
}

/** `lang_to_id`, or else the tokens behind `<|startoftranscript|>` that look like a language. */
function readLanguages(tokenizer: Tokenizer, stated: unknown, start: number): ReadonlyMap<string, number> {
  const getCode = (token: string | undefined): string | undefined => /^<\|([a-z]{2,3})\|>$/.exec(token ?? "")?.[1];
  const languages = new Map<string, number>();
  if (typeof stated === "object" && stated !== null) {
    for (const [token, value] of Object.entries(stated)) {
      const [code, id] = [getCode(token), getId(value)];
      if (code !== undefined && id !== undefined) languages.set(code, id);
    }
    if (languages.size > 0) return languages;
  }
  for (let id = start + 1; ; id += 1) {
    const code = getCode(tokenizer.idToToken(id));
    if (code === undefined) return languages;
    languages.set(code, id);
  }
}

function getAnnotationTokens(tokenizer: Tokenizer): readonly number[] {
  const first = (text: string): readonly number[] => encodePlain(tokenizer, text).slice(0, 1);
  const single = (text: string): readonly number[] => {
    const ids = encodePlain(tokenizer, text);
    return ids.length === 1 ? ids : [];
  };
  // A hyphen or an apostrophe may stand inside of a word, not before one.
  const before = [...first(" -"), ...first(" '")];
  const symbols = annotationSymbols.flatMap((symbol) => [...single(symbol), ...single(` ${symbol}`)]);
  const notes = noteSymbols.flatMap((symbol) => [...first(symbol), ...first(` ${symbol}`)]);
  return [...new Set([...before, ...symbols, ...notes])];
}

function getId(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

function getIds(value: unknown): readonly number[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return value.map(getId).filter((id) => id !== undefined);
}

function readHeads(value: unknown): readonly AttentionHead[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const heads = value.flatMap((pair: unknown): readonly AttentionHead[] => {
    const [layer, head] = getIds(pair) ?? [];
    return layer === undefined || head === undefined ? [] : [[layer, head]];
  });
  return heads.length === 0 ? undefined : heads;
}
