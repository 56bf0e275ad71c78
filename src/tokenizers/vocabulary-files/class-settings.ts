/** The settings of a tokenizer class: the defaults of its constructor in transformers with those that tokenizer_config.json states. */
import { withConfiguredTokens } from "../config/configured-tokens.ts";
import { numberAddedTokens } from "../config/number-added-tokens.ts";
import type { ComponentConfig } from "../config/component-config.ts";
import { isObject } from "../../contract/shapes/shape.ts";
import type { TokenizerJson } from "../config/tokenizer-json.ts";
import { type TokenId, template } from "../config/components.ts";

/** Content of tokenizer_config.json. */
export type TokenizerConfig = Readonly<Record<string, unknown>>;

/** A special token of a class. */
export type DefaultToken = string | { readonly content: string; readonly lstrip: boolean };

/** The settings of one tokenizer. */
export class ClassSettings {
  readonly #config: TokenizerConfig;

  /** `defaults`: the special tokens of the class by their roles. */
  constructor(config: TokenizerConfig, defaults: Readonly<Record<string, DefaultToken>>) {
    this.#config = { ...defaults, ...config };
  }

  /** The settings with special tokens in a list, if tokenizer_config.json has none. */
  withSpecialTokens(tokens: readonly object[]): ClassSettings {
    const { additional_special_tokens: older, extra_special_tokens: extra } = this.#config;
    const isStated = [older, extra].some((stated) => Array.isArray(stated) && stated.length > 0);
    return isStated ? this : new ClassSettings({ ...this.#config, additional_special_tokens: tokens }, {});
  }

  /** The text of the special token with a role; undefined if the class has none. */
  token(role: string): string | undefined {
    const named = this.#config[role];
    const content = isObject(named) ? named["content"] : named;
    return typeof content === "string" ? content : undefined;
  }

  /** A setting that is true or false. */
  flag(name: string, otherwise: boolean): boolean {
    const value = this.#config[name];
    return typeof value === "boolean" ? value : otherwise;
  }

  /** A whole number. */
  integer(name: string, otherwise: number): number {
    const value = this.#config[name];
    return typeof value === "number" && Number.isInteger(value) ? value : otherwise;
  }

  /** Adds the special and added tokens to a tokenizer without any, and the post-processor that `frame` makes of their ids. */
  finish(parts: TokenizerParts, frame: (idOf: (role: string) => TokenId | undefined) => ComponentConfig | null): TokenizerJson {
    const json = withConfiguredTokens(
      { ...parts, post_processor: null, added_tokens: parts.added_tokens ?? [], padding: null },
      this.#config,
    );
    const vocabulary = getVocabulary(json);
    const ids = new Map(numberAddedTokens(json.added_tokens, vocabulary).map(({ content, id }) => [content, id]));
    const getId = (role: string): TokenId | undefined => {
      const token = this.token(role);
      const id = token === undefined ? undefined : (ids.get(token) ?? vocabulary.get(token));
      return token === undefined || id === undefined ? undefined : { token, id };
    };
    return { ...json, post_processor: frame(getId) };
  }

  /** The post-processor of classes without one: BOS and EOS if tokenizer_config.json requests them. */
  bosAndEos(idOf: (role: string) => TokenId | undefined): ComponentConfig {
    const bos = this.flag("add_bos_token", false) ? idOf("bos_token") : undefined;
    const eos = this.flag("add_eos_token", false) ? idOf("eos_token") : undefined;
    const framed = (text: "A" | "B", type: number) =>
      [bos, text, eos].flatMap((part) => (part === undefined ? [] : [[part, type] as const]));
    return template(framed("A", 0), [...framed("A", 0), ...framed("B", 1)]);
  }
}

/** The token with a role. Throws Error if the class has none. */
export function requireToken(idOf: (role: string) => TokenId | undefined, role: string): TokenId {
  const found = idOf(role);
  if (found === undefined) throw new Error(`it has no token for ${role}`);
  return found;
}

/** A tokenizer without special tokens and post-processor. */
export type TokenizerParts = Pick<TokenizerJson, "model" | "normalizer" | "pre_tokenizer" | "decoder"> &
  Partial<Pick<TokenizerJson, "added_tokens">>;

function getVocabulary({ model }: TokenizerJson): ReadonlyMap<string, number> {
  const { vocab } = model;
  if (vocab instanceof Map) return vocab as ReadonlyMap<string, number>;
  return new Map((vocab as readonly (readonly [string, number])[]).map(([token], id) => [token, id]));
}
