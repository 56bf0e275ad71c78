/** Task `fill-mask` (Hugging Face): the most probable tokens at the mask tokens of a text, equal to transformers' pipeline of that name. */
import { at, omitUndefined } from "../../contract/checked.ts";
import { readCounts } from "../encoding/read-counts.ts";
import { InferyardError, invalidInput, unsupportedModel } from "../../contract/errors.ts";
import type { Manifest } from "../../models/manifest.ts";
import type { OutputReduction } from "../../hosts/output-reduction.ts";
import type { Encoding, Tokenizer } from "../../tokenizers/index.ts";
import { TopK } from "../encoding/top-k.ts";
import { encodeTexts } from "../encoding/encode-texts.ts";
import { type Encoder, runEncodings } from "../batching/run-encodings.ts";
import { applyActivation, logitsOutput } from "../encoding/label-head.ts";
import { requireFinite } from "../encoding/require-finite.ts";
import { checkOptions } from "../../runtime/options/option.ts";
import { textTaskSettings } from "../definition/task-options.ts";
import { fillMaskOptions } from "./fill-mask-options.ts";
import type { FillMaskOptions } from "./generated-fill-mask-options.ts";

/** A candidate token for one mask. */
export interface MaskFill {
  /** Probability, softmax over the whole vocabulary. */
  readonly score: number;
  /** Vocabulary id of the token. */
  readonly token: number;
  /** The token decoded to text. */
  readonly tokenText: string;
  /** The text with the token in the position of this mask, decoded. With several masks the others and the special tokens are kept. */
  readonly sequence: string;
}

/** How a word of the option `targets` was resolved to a token. */
export interface FillTarget {
  /** The word that was given. */
  readonly target: string;
  /** Vocabulary id of its token, or of its first one. */
  readonly token: number;
  /** That token decoded to text. */
  readonly tokenText: string;
  /** false if the word is several tokens; only the first is scored then. */
  readonly whole: boolean;
}

/** Candidates for all masks of texts, and the number of tokens read of each text. */
export interface MaskFills {
  /** `[texts][masks][candidates]`: masks from left to right, candidates by descending score, equal scores by ascending token id. */
  readonly results: readonly (readonly (readonly MaskFill[])[])[];
  /** With the option `targets`: one entry per word, in order. */
  readonly targets?: readonly FillTarget[];
  /** Number of tokens the model read of each text, special tokens included. */
  readonly tokens: readonly number[];
  /** Indices of the texts that were truncated. */
  readonly truncated: readonly number[];
}

interface MaskedText {
  readonly ids: number[];
  readonly typeIds: readonly number[];
  /** Indices of the mask tokens. */
  readonly positions: readonly number[];
}

/**
 * Predicts the tokens at the masks of each text. Throws INPUT_INVALID for a text without a mask, INPUT_TOO_LONG if truncation would remove a
 * mask, MODEL_UNSUPPORTED for a model without a masked-language-model head or mask token.
 */
export async function fillMask(encoder: Encoder, texts: readonly string[], options: FillMaskOptions = {}): Promise<MaskFills> {
  const { topK = 5, signal } = options;
  checkOptions(fillMaskOptions, options);
  const settings = textTaskSettings(encoder.manifest, options);
  const output = getHead(encoder);
  const { tokenizer, manifest } = encoder;
  const { maskId } = tokenizer;
  if (maskId === undefined) {
    throw unsupportedModel(
      `the tokenizer of ${manifest.name} has no mask token`,
      "name it in tokenizer_config.json (mask_token), or use another model",
    );
  }
  const targets = options.targets === undefined ? undefined : getTargets(options.targets, tokenizer, manifest);
  const allowedTokens = targets === undefined ? undefined : [...new Set(targets.map(({ token }) => token))].sort((a, b) => a - b);
  const encodings = await encodeTexts(tokenizer, texts, settings, signal);
  const items = encodings.map((encoding, index): MaskedText => ({
    ids: encoding.ids,
    typeIds: encoding.typeIds,
    positions: getMasks(encoding, maskId, index, tokenizer, settings.maxTokens),
  }));
  const results: MaskFill[][][] = texts.map(() => []);
  const run = {
    output,
    batchKey: "masks",
    // Only the logits at masks leave the model's host, not `[tokens, vocabulary]`.
    reduction: (rows: readonly MaskedText[]): OutputReduction => ({
      kind: "tokens",
      positions: rows.flatMap(({ positions }, row) => positions.map((token) => ({ row, token }))),
    }),
    batchTokens: settings.batchTokens,
    signal,
  };
  await runEncodings(encoder, items, run, ({ index, encoding: { ids, positions }, data, offset, shape }) => {
    const size = at(shape, 1);
    results[index] = positions.map((position, mask) => {
      const logits = data.subarray(offset + mask * size, offset + (mask + 1) * size);
      requireFinite(logits, index);
      return topTokens(applyActivation(logits, "softmax"), topK, allowedTokens).map(({ item: token, score }) => ({
        score,
        token,
        tokenText: tokenizer.decode([token], { skipSpecialTokens: false }),
        sequence: tokenizer.decode(ids.with(position, token), { skipSpecialTokens: positions.length === 1 }),
      }));
    });
  });
  return {
    results,
    ...omitUndefined({ targets }),
    ...readCounts(encodings),
  };
}

/** The `topK` tokens with the highest scores; with `allowed` only among these. Sorted by descending score. */
function topTokens(scores: Float32Array, topK: number, allowed?: readonly number[]): TopK<number>["ranked"] {
  const best = new TopK<number>(topK);
  if (allowed === undefined) for (const [token, score] of scores.entries()) best.add(score, token);
  else for (const token of allowed) best.add(scores[token] ?? Number.NEGATIVE_INFINITY, token);
  return best.ranked;
}

function getHead(encoder: Encoder): string {
  const { manifest } = encoder;
  if (manifest.tasks.includes("fill-mask")) return logitsOutput(encoder.outputs, 3);
  throw unsupportedModel(
    `${manifest.name} has no masked-language-model head, which fills masks`,
    "use a model with one (config.json names such an architecture …ForMaskedLM)",
  );
}

function getMasks(encoding: Encoding, maskId: number, index: number, tokenizer: Tokenizer, limit: number): number[] {
  const positions = encoding.ids.flatMap((id, position) => (id === maskId ? [position] : []));
  const isMaskTruncated = encoding.truncated && encoding.overflowing.some(({ ids }) => ids.includes(maskId));
  if (isMaskTruncated) {
    const message = `text ${index} has ${encoding.wholeLength} tokens, the limit is ${limit}, and a mask lies beyond it`;
    throw new InferyardError("INPUT_TOO_LONG", message, {
      remedy: `shorten the text so that its masks are within ${limit} tokens`,
      data: { text: index, tokens: encoding.wholeLength, limit },
    });
  }
  if (positions.length > 0) return positions;
  const mask = tokenizer.idToToken(maskId) ?? "";
  throw invalidInput(
    `text ${index} has no mask token; that of this model is ${mask}`,
    `write ${mask} in the position of the word to predict`,
    { text: index, mask },
  );
}

/** A target is looked up in the vocabulary as it is written, otherwise tokenized and its first token taken, as in transformers. */
function getTargets(targets: readonly string[], tokenizer: Tokenizer, { name }: Manifest): FillTarget[] {
  if (!Array.isArray(targets) || targets.length === 0 || targets.some((target) => typeof target !== "string")) {
    throw invalidInput("targets must be an array of at least one word", 'for example ["red", "blue"], or leave it out');
  }
  return targets.map((target: string) => {
    const known = tokenizer.tokenToId(target);
    const ids = known === undefined ? tokenizer.encode(target, { addSpecialTokens: false, maxTokens: Infinity }).ids : [known];
    const [token] = ids;
    if (token === undefined || token === tokenizer.unknownId) {
      throw invalidInput(`${name} has no token for the target ${JSON.stringify(target)}`, "leave it out, or name another word", {
        target,
      });
    }
    const tokenText = tokenizer.decode([token], { skipSpecialTokens: false });
    return { target, token, tokenText, whole: ids.length === 1 };
  });
}
