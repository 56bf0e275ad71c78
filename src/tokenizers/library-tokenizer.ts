/** The tokenizer over `@huggingface/tokenizers`: its pieces and ids, our frame, limits and errors. */
import { InferyardError, messageOf } from "../errors.ts";
import type { TextSettings } from "../models/manifest.ts";
import { tokenizerInvalid } from "./tokenizer-json.ts";
import type { EncodeOptions, Encoding, Frame, Tokenizer } from "./tokenizer.ts";

/** The part of the library's `Tokenizer` that is used. */
export interface LibraryTokenizer {
  readonly model: { readonly vocab: readonly (string | undefined)[]; readonly unk_token_id?: number | null };
  readonly post_processor: { post_process(tokens: string[], pair: null, addSpecialTokens: boolean): { tokens: string[] } } | null;
  encode(text: string, options: { add_special_tokens: boolean }): { ids: (number | undefined)[] };
  token_to_id(token: string): number | undefined;
  id_to_token(id: number): string | undefined;
}

export class TokenizerOverLibrary implements Tokenizer {
  readonly vocabularySize: number;
  readonly unknownId: number | undefined;
  readonly padId: number;
  readonly frame: Frame;
  readonly #library: LibraryTokenizer;
  readonly #settings: TextSettings;
  readonly #frameLength: number;
  readonly #cutLeft: boolean;
  readonly #medianTokenLength: number;
  /** Content tokens of the prompts seen: a handful per model. */
  readonly #promptLengths = new Map<string, number>();

  constructor(library: LibraryTokenizer, settings: TextSettings, { padId, frame }: { padId: number; frame: Frame }) {
    this.#library = library;
    this.#settings = settings;
    this.#frameLength = frame.prefix.length + frame.suffix.length;
    this.#cutLeft = settings.tokenizerConfig["truncation_side"] === "left";
    this.#medianTokenLength = settings.dropUnknown ? medianLength(library.model.vocab) : 0;
    this.vocabularySize = library.model.vocab.length;
    this.unknownId = library.model.unk_token_id ?? undefined;
    this.padId = padId;
    this.frame = frame;
  }

  encode(text: string, options: EncodeOptions = {}): Encoding {
    const { prompt = "", maxTokens = this.#settings.maxTokens ?? Infinity } = options;
    const room = maxTokens - this.#frameLength;
    if (!(room >= 0)) throw noRoom(maxTokens, this.#frameLength);

    if (typeof text !== "string") throw notText(text);
    const whole = prompt + text;
    const read = this.#firstCharacters(whole, maxTokens);

    // The frame is put on here, so that one pass gives both the length and what fits.
    const content = this.#pieces(read);
    const surplus = Math.max(0, content.length - room);
    const cut = surplus === 0 ? content : this.#cutLeft ? content.slice(surplus) : content.slice(0, room);
    const kept = this.#withoutUnknown(cut);
    const ids = this.#frameLength === 0 ? kept : [...this.frame.prefix, ...kept, ...this.frame.suffix];
    const promptTokens = prompt === "" ? 0 : this.#promptTokens(prompt, surplus, kept.length);
    const truncated = surplus > 0 || read.length < whole.length;
    return { ids, truncated, tokens: content.length + this.#frameLength, promptTokens };
  }

  count(text: string): number {
    if (typeof text !== "string") throw notText(text);
    return this.#withoutUnknown(this.#pieces(text)).length + this.#frameLength;
  }

  tokenOf(id: number): string | undefined {
    return this.#library.id_to_token(id);
  }

  #promptTokens(prompt: string, surplus: number, kept: number): number {
    let length = this.#promptLengths.get(prompt);
    if (length === undefined) {
      length = this.#pieces(prompt).length;
      this.#promptLengths.set(prompt, length);
    }
    const left = this.#cutLeft ? Math.max(0, length - surplus) : length;
    return this.frame.prefix.length + Math.min(left, kept);
  }

  /**
   * Static models are read as model2vec reads them: a text is cut to the limit times the median length of a token, in code points,
   * before it is tokenized. Other models read the whole text.
   */
  #firstCharacters(text: string, maxTokens: number): string {
    const limit = maxTokens * this.#medianTokenLength;
    if (!this.#settings.dropUnknown || text.length <= limit) return text;
    return Array.from(text.slice(0, 2 * limit))
      .slice(0, limit)
      .join("");
  }

  #withoutUnknown(ids: number[]): number[] {
    return this.#settings.dropUnknown && this.unknownId !== undefined ? ids.filter((id) => id !== this.unknownId) : ids;
  }

  /** Ids without the frame. */
  #pieces(text: string): number[] {
    let ids: (number | undefined)[];
    try {
      ({ ids } = this.#library.encode(text, { add_special_tokens: false }));
    } catch (error) {
      throw tokenizerInvalid(
        this.#settings.tokenizerShown,
        `fails on a text of ${text.length} characters: ${messageOf(error)}`,
        error,
      );
    }
    if (!areIds(ids)) {
      throw tokenizerInvalid(this.#settings.tokenizerShown, "has no id for a token it made, and no unknown token");
    }
    return ids;
  }
}

/** In code points, rounded down. */
function medianLength(tokens: readonly (string | undefined)[]): number {
  const lengths = tokens.flatMap((token) => (token === undefined ? [] : [Array.from(token).length])).toSorted((a, b) => a - b);
  const middle = lengths.length / 2;
  return Math.floor(((lengths[Math.ceil(middle) - 1] ?? 0) + (lengths[Math.floor(middle)] ?? 0)) / 2);
}

function areIds(ids: (number | undefined)[]): ids is number[] {
  return !ids.includes(undefined);
}

function notText(value: unknown): InferyardError {
  return new InferyardError("INPUT_INVALID", `a text was expected, and ${value === null ? "null" : typeof value} was given`);
}

function noRoom(maxTokens: number, frame: number): InferyardError {
  const remedy = `give a limit of more than ${frame} tokens`;
  const message = `a limit of ${maxTokens} tokens leaves no room: this model puts ${frame} special tokens around each text`;
  return new InferyardError("INPUT_INVALID", message, { remedy, data: { maxTokens, specialTokens: frame } });
}
