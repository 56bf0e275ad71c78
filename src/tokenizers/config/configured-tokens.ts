/**
 * Added tokens that tokenizer_config.json states beside those of tokenizer.json, merged as `PreTrainedTokenizerFast` of transformers merges them when it is created (4.48
 * and 5.24).
 */
import { isObject } from "../../contract/shapes/shape.ts";
import { type AddedToken, type TokenizerJson, addedTokenFrom } from "./tokenizer-json.ts";

/** Roles of special tokens in the order in which transformers adds them. */
const roles = ["bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"];

/**
 * Adds the tokens of `added_tokens_decoder`, and the special tokens in the settings, to the tokens of the file. A token of the decoder replaces one of the same
 * content; a named one is added only if its content is not among them. Throws Error for a malformed entry.
 */
export function withConfiguredTokens(json: TokenizerJson, config: Readonly<Record<string, unknown>>): TokenizerJson {
  const tokens = new Map(json.added_tokens.map((token) => [token.content, token]));
  const named = namedTokens(config);
  const specialContents = new Set(named.flatMap(({ token, role }) => (role === undefined ? [] : [token.content])));
  for (const token of decoderTokens(config["added_tokens_decoder"])) {
    const special = token.special || specialContents.has(token.content);
    tokens.set(token.content, { ...token, special });
  }
  const stated = new Set(tokens.keys());
  for (const { token, role } of named) {
    // An id after those of the vocabulary has no row in the model's table, and padding is given to the model in every batch.
    const isKnown = role !== "pad_token" || isInVocabulary(json, token.content);
    // A token of a list replaces one that only a role names.
    const isNew = role === undefined ? !stated.has(token.content) : !tokens.has(token.content);
    if (isKnown && isNew) tokens.set(token.content, token);
  }
  return { ...json, added_tokens: [...tokens.values()] };
}

/** The entries of `added_tokens_decoder` by ascending id. */
function decoderTokens(decoder: unknown): readonly AddedToken[] {
  if (!isObject(decoder)) return [];
  return Object.entries(decoder)
    .map(([id, value]) => {
      const token = addedTokenFrom(value, Number(id));
      if (token !== undefined) return token;
      throw new Error(
        `its tokenizer_config.json has a broken "added_tokens_decoder": ${JSON.stringify(id)} needs a text "content"`,
      );
    })
    .toSorted((a, b) => a.id - b.id);
}

function isInVocabulary({ model }: TokenizerJson, content: string): boolean {
  const { vocab } = model;
  if (vocab instanceof Map) return vocab.has(content);
  return Array.isArray(vocab) && vocab.some((entry) => Array.isArray(entry) && entry[0] === content);
}

interface NamedToken {
  readonly token: AddedToken;
  /** Its role, such as "eos_token"; absent for a token of a list. */
  readonly role?: string;
}

/** The special tokens that the settings name: by their roles, and in `additional_special_tokens` or `extra_special_tokens`. */
function namedTokens(config: Readonly<Record<string, unknown>>): readonly NamedToken[] {
  const { additional_special_tokens: older, extra_special_tokens: extra } = config;
  const isListed = Array.isArray(extra) && extra.length > 0;
  const listed: readonly unknown[] = isListed ? extra : Array.isArray(older) ? older : [];
  const byRole: readonly (readonly [string, unknown])[] = [
    ...roles.map((role) => [role, config[role]] as const),
    ...Object.entries(isObject(extra) ? extra : {}),
  ];
  return [...byRole.map(([role, value]) => ({ role, value })), ...listed.map((value) => ({ value }))].flatMap(
    ({ value, ...of }) => {
      const token = addedTokenFrom(typeof value === "string" ? { content: value } : value, 0, true);
      return token === undefined ? [] : [{ token, ...of }];
    },
  );
}
