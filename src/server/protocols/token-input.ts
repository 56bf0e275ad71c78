/** Texts that clients send as tokens. */
import { InferyardError } from "../../errors.ts";
import { decodeTokens, encodeText } from "../../tasks/shared/encode-texts.ts";
import type { Tokenizer } from "../../tokenizers/index.ts";

/** A text, or the ids of its tokens. */
export type TextInput = string | readonly number[];

/**
 * Every input as text. Ids are those of the model's own tokenizer, with or without its special tokens around them. They are written back as
 * text, which must be cut into the same ids again, else they are INPUT_INVALID: ids of another tokenizer (a client that counts with OpenAI's
 * tiktoken sends those) give vectors of nonsense. A few that happen to be whole words here too pass all the same.
 */
export async function textsOf(inputs: readonly TextInput[], tokenizer: () => Promise<Tokenizer>): Promise<string[]> {
  const texts: string[] = [];
  for (const [index, input] of inputs.entries())
    texts.push(typeof input === "string" ? input : await textOfIds(input, index, await tokenizer()));
  return texts;
}

async function textOfIds(ids: readonly number[], index: number, tokenizer: Tokenizer): Promise<string> {
  const unknown = ids.find((id) => tokenizer.tokenOf(id) === undefined);
  if (unknown !== undefined) throw foreign(index, `${unknown} is no token of this model`);
  const content = unframed(ids, tokenizer);
  const text = await decodeTokens(tokenizer, content);
  const { ids: again } = await encodeText(tokenizer, text, { addSpecialTokens: false, maxTokens: Number.POSITIVE_INFINITY });
  if (again.length === content.length && again.every((id, place) => id === content[place])) return text;
  throw foreign(index, `this model's tokenizer reads them as ${JSON.stringify(text.slice(0, 80))}, which it cuts otherwise`);
}

function unframed(ids: readonly number[], { frame: { prefix, suffix } }: Tokenizer): readonly number[] {
  const end = ids.length - suffix.length;
  const framed =
    end >= prefix.length &&
    prefix.every((id, place) => ids[place] === id) &&
    suffix.every((id, place) => ids[end + place] === id);
  return framed ? ids.slice(prefix.length, end) : ids;
}

function foreign(index: number, why: string): InferyardError {
  return new InferyardError("INPUT_INVALID", `the tokens of input ${index} are not this model's: ${why}`, {
    remedy: "send the text itself; with LangChain: check_embedding_ctx_length=False",
    data: { path: ["input"] },
  });
}
