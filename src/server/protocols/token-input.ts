/** Inputs that clients send as token ids. */
import type { InferyardError } from "../../contract/errors.ts";
import { invalidInput } from "../../contract/errors.ts";
import { decodeTokens, encodeText } from "../../tasks/encoding/encode-texts.ts";
import type { Tokenizer } from "../../tokenizers/index.ts";
import type { TiktokenDecoder } from "../serving/tiktoken-decoder.ts";

/** A text, or its token ids. */
export type TextInput = string | readonly number[];

/**
 * Tokenizer whose token ids are accepted. "own": the model's; "framed": only between its special tokens, as its tokenizer writes a whole text; a decoder: an
 * encoding of OpenAI.
 */
export type TokenIdSource = "own" | "framed" | TiktokenDecoder;

/**
 * All inputs as texts. Ids of the model's own tokenizer are decoded, and the text must tokenize to the same ids; otherwise throws INPUT_INVALID,
 * since ids of another tokenizer (such as OpenAI's tiktoken) would give meaningless vectors. Foreign ids may be whole words in both vocabularies,
 * which only the source "framed" refuses. Ids of a decoder are decoded; a character that a client split between two lists becomes U+FFFD in both,
 * as tiktoken decodes it.
 */
export async function toTexts(
  inputs: readonly TextInput[],
  tokenizer: () => Promise<Tokenizer>,
  source: TokenIdSource,
): Promise<string[]> {
  const texts: string[] = [];
  for (const [index, input] of inputs.entries()) {
    if (typeof input === "string") texts.push(input);
    else if (typeof source === "object") texts.push(await decodedText(input, index, source));
    else texts.push(await textOfOwnIds(input, index, await tokenizer(), source));
  }
  return texts;
}

async function decodedText(ids: readonly number[], index: number, decoder: TiktokenDecoder): Promise<string> {
  const text = await decoder.decode(ids);
  if (text !== undefined) return text;
  throw invalidInput(
    `input ${index} has a token id that ${decoder.name} lacks`,
    `send the text itself: this server reads token ids as those of ${decoder.name}`,
    { path: ["input"] },
  );
}

async function textOfOwnIds(
  ids: readonly number[],
  index: number,
  tokenizer: Tokenizer,
  source: "own" | "framed",
): Promise<string> {
  const unknown = ids.find((id) => tokenizer.idToToken(id) === undefined);
  if (unknown !== undefined) throw foreignTokens(index, `${unknown} is no token of this model`);
  const framed = framedTokens(ids, tokenizer);
  if (framed === undefined && source === "framed") throw unknownSource(index, tokenizer);
  const content = framed ?? ids;
  const text = await decodeTokens(tokenizer, content);
  const { ids: again } = await encodeText(tokenizer, text, { addSpecialTokens: false, maxTokens: Number.POSITIVE_INFINITY });
  if (again.length === content.length && again.every((id, position) => id === content[position])) return text;
  throw foreignTokens(
    index,
    `this model's tokenizer reads them as ${JSON.stringify(text.slice(0, 80))}, which it tokenizes differently`,
  );
}

/** The ids between the special tokens that the tokenizer puts around a text; undefined if they do not stand around them, or if there are none. */
function framedTokens(ids: readonly number[], { frame: { prefix, suffix } }: Tokenizer): readonly number[] | undefined {
  const end = ids.length - suffix.length;
  const framed =
    prefix.length + suffix.length > 0 &&
    end >= prefix.length &&
    prefix.every((id, position) => ids[position] === id) &&
    suffix.every((id, position) => ids[end + position] === id);
  return framed ? ids.slice(prefix.length, end) : undefined;
}

/** Setting and remedies for clients that send token ids. */
const sendTexts = "send the text itself; with LangChain's OpenAIEmbeddings: check_embedding_ctx_length=False";
const setSource = "the server's setting tokenIds says whose ids it gets: cl100k, o200k or own";

function foreignTokens(index: number, why: string): InferyardError {
  return invalidInput(`the tokens of input ${index} are not this model's: ${why}`, `${sendTexts}; or ${setSource}`, {
    path: ["input"],
  });
}

function unknownSource(index: number, { frame: { prefix, suffix } }: Tokenizer): InferyardError {
  const why =
    prefix.length + suffix.length === 0
      ? "this model's tokenizer writes no special tokens that would tell them from another's"
      : "they do not stand between the special tokens of this model's tokenizer";
  return invalidInput(`whose token ids input ${index} has is unknown: ${why}`, `${sendTexts}; or ${setSource}`, {
    path: ["input"],
  });
}
