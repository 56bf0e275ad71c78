/** When each word of a window was spoken: from the weights of cross-attention, by dynamic time warping. Times are seconds from the start of the window. */
import type { SequenceId } from "../../../contract/language-model.ts";
import { InferyardError } from "../../../contract/errors.ts";
import { omitUndefined } from "../../../contract/checked.ts";
import type { Tokenizer } from "../../../tokenizers/index.ts";
import { attentionCosts } from "./attention-costs.ts";
import { getProbability, type SpeechModel } from "./decode-window.ts";
import { dynamicTimeWarping } from "./dynamic-time-warping.ts";
import { splitTokensAtWords, type WordTokens } from "./split-words.ts";
import type { WhisperVocabulary } from "./whisper-vocabulary.ts";

/** A word and when it was spoken. */
export interface AlignedWord extends WordTokens {
  readonly start: number;
  readonly end: number;
  /** Mean probability of its tokens. */
  readonly probability: number;
}

/** What is aligned. */
export interface Alignment {
  /** Tokens in front of the text: start, language and task. */
  readonly start: readonly number[];
  /** Tokens of the text, without timestamps. */
  readonly text: readonly number[];
  readonly language: string;
  /** Frames of the window that are sound, of 10 ms. */
  readonly frames: number;
  readonly signal: AbortSignal | undefined;
}

/** Positions of the encoder's output for each second. */
const positionsPerSecond = 50;
const framesPerPosition = 2;
/** Positions whose median is taken: 140 ms. */
const medianWidth = 7;
/** Tokens whose logits are computed at once: their logits take 3 MB. */
const scoredTokens = 16;

/** Aligns a text with the window that a sequence without tokens has read; afterwards it has no tokens again. Throws MODEL_UNSUPPORTED as `requireAlignment`. */
export async function alignWords(
  model: SpeechModel,
  sequence: SequenceId,
  tokenizer: Tokenizer,
  vocabulary: WhisperVocabulary,
  { start, text, language, frames, signal }: Alignment,
): Promise<readonly AlignedWord[]> {
  const { crossAttention, heads } = requireAlignment(model, vocabulary);
  const { noTimestamps, endOfText } = vocabulary;
  const words = splitTokensAtWords(tokenizer, [...text, endOfText], language, endOfText);
  if (words.length <= 1) return [];
  const tokens = [...start, noTimestamps, ...text, endOfText];
  const probabilities = await scoreText(model, sequence, { tokens, first: start.length, text, endOfText, signal });
  const weights = await crossAttention(sequence, tokens, heads, omitUndefined({ signal }));
  const positions = weights.length / (heads.length * tokens.length);
  const used = Math.min(Math.floor(frames / framesPerPosition), positions);
  const costs = attentionCosts(weights, { heads: heads.length, tokens: tokens.length, positions }, used, medianWidth);
  // The row of a token says where the next one is heard; the last row is that of the end.
  const rows = tokens.length - start.length - 1;
  const path = dynamicTimeWarping(costs.subarray(start.length * used), rows, used);
  const times = path.rows.flatMap((row, index) =>
    row === path.rows[index - 1] ? [] : [(path.columns[index] ?? 0) / positionsPerSecond],
  );
  let first = 0;
  return words.slice(0, -1).map((each) => {
    const [from, end] = [first, first + each.tokens.length];
    first = end;
    const own = probabilities.slice(from, end);
    const probability = own.reduce((sum, one) => sum + one, 0) / own.length;
    return { ...each, start: times[from] ?? 0, end: times[end] ?? times.at(-1) ?? 0, probability };
  });
}

/** Throws MODEL_UNSUPPORTED for a model that does not give the weights of its cross-attention, and for one whose files do not name the heads to read. */
export function requireAlignment(
  model: Pick<SpeechModel, "crossAttention" | "library">,
  { alignmentHeads }: Pick<WhisperVocabulary, "alignmentHeads">,
): {
  readonly crossAttention: NonNullable<SpeechModel["crossAttention"]>;
  readonly heads: NonNullable<WhisperVocabulary["alignmentHeads"]>;
} {
  const { library } = model;
  const crossAttention = model.crossAttention?.bind(model);
  if (crossAttention === undefined)
    throw new InferyardError(
      "MODEL_UNSUPPORTED",
      `${library.name} does not give the weights of this model's cross-attention, which times of words need`,
      {
        remedy:
          "use the safetensors of the model on native, an ONNX export with outputs cross_attentions.N, or timestamps of segments",
      },
    );
  if (alignmentHeads === undefined)
    throw new InferyardError(
      "MODEL_UNSUPPORTED",
      'generation_config.json of the model has no "alignment_heads", which times of words need',
      {
        remedy: "use timestamps of segments, or a generation_config.json with alignment_heads",
      },
    );
  return { crossAttention, heads: alignmentHeads };
}

/** The probability of each token of the text among the tokens that are not special. `first`: position of the token before the text. */
async function scoreText(
  model: SpeechModel,
  sequence: SequenceId,
  {
    tokens,
    first,
    text,
    endOfText,
    signal,
  }: {
    readonly tokens: readonly number[];
    readonly first: number;
    readonly text: readonly number[];
    readonly endOfText: number;
    readonly signal: AbortSignal | undefined;
  },
): Promise<readonly number[]> {
  const { vocabulary: width } = model.limits;
  const probabilities: number[] = [];
  try {
    if (first > 0) await model.decode([{ sequence, tokens: tokens.slice(0, first), logits: 0 }], omitUndefined({ signal }));
    for (let done = 0; done < text.length; done += scoredTokens) {
      const now = tokens.slice(first + done, first + Math.min(done + scoredTokens, text.length));
      const [logits = new Float32Array()] = await model.decode(
        [{ sequence, tokens: now, logits: now.length }],
        omitUndefined({ signal }),
      );
      for (const [index] of now.entries())
        probabilities.push(getProbability(logits.subarray(index * width, index * width + endOfText), text[done + index] ?? 0));
    }
    return probabilities;
  } finally {
    await model.truncateSequence(sequence, 0);
  }
}
