/** Inputs that clients send as token ids. */
import { InferyardError } from "../../errors.ts";
import { decodeTokens, encodeText } from "../../tasks/shared/encode-texts.ts";
import type { Tokenizer } from "../../tokenizers/index.ts";

/** A text, or its token ids. */
export type TextInput = string | readonly number[];

/**
 * All inputs as texts. Token ids are those of the model's own tokenizer, with or without special tokens around them. They are decoded, and the
 * text must tokenize to the same ids; otherwise throws INPUT_INVALID, since ids of another tokenizer (such as OpenAI's tiktoken) would give
 * meaningless vectors. Foreign ids that happen to be whole words in both vocabularies pass.
 */
export async function textsOf(inputs: readonly TextInput[], tokenizer: () => Promise<Tokenizer>): Promise<string[]> {
  const texts: string[] = [];
  for (const [index, input] of inputs.entries())
    texts.push(typeof input === "string" ? input : await textOfIds(input, index, await tokenizer()));
  return texts;
}

async function textOfIds(ids: readonly number[], index: number, tokenizer: Tokenizer): Promise<string> {
  const unknown = ids.find((id) => tokenizer.tokenOf(id) === undefined);
  if (unknown !== undefined) throw foreignTokens(index, `${unknown} is no token of this model`);
  const content = withoutSpecialTokens(ids, tokenizer);
  const text = await decodeTokens(tokenizer, content);
  const { ids: again } = await encodeText(tokenizer, text, { addSpecialTokens: false, maxTokens: Number.POSITIVE_INFINITY });
  if (again.length === content.length && again.every((id, position) => id === content[position])) return text;
  throw foreignTokens(
    index,
    `this model's tokenizer reads them as ${JSON.stringify(text.slice(0, 80))}, which it tokenizes differently`,
  );
}

function withoutSpecialTokens(ids: readonly number[], { frame: { prefix, suffix } }: Tokenizer): readonly number[] {
  const end = ids.length - suffix.length;
  const framed =
    end >= prefix.length &&
    prefix.every((id, position) => ids[position] === id) &&
    suffix.every((id, position) => ids[end + position] === id);
  return framed ? ids.slice(prefix.length, end) : ids;
}

function foreignTokens(index: number, why: string): InferyardError {
  return new InferyardError("INPUT_INVALID", `the tokens of input ${index} are not this model's: ${why}`, {
    remedy: "send the text itself; with LangChain: check_embedding_ctx_length=False",
    data: { path: ["input"] },
  });
}
