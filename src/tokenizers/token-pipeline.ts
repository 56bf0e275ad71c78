/**
 * The pipeline of `TokenizerImpl` in the Rust library: added tokens, normalizer, pre-tokenizer, model. Every token keeps its offsets in the
 * original text.
 */
import { AddedTokenFinder, type TextSection } from "./added-tokens.ts";
import { AlignedText } from "./alignment/aligned-text.ts";
import { TextGrowthLimit } from "./alignment/growth-limit.ts";
import { type Model, modelType, createModel } from "./models/index.ts";
import { createNormalizer } from "./normalizers/index.ts";
import type { Normalizer, Pieces, PreTokenizer } from "./alignment/pieces.ts";
import { byteLevelWords } from "./pre-tokenizers/byte-level.ts";
import { createPreTokenizer } from "./pre-tokenizers/index.ts";
import { componentList } from "./config/component-config.ts";
import { TokenColumns } from "./token-columns.ts";
import { numberAddedTokens } from "./config/number-added-tokens.ts";
import type { ComponentConfig } from "./config/component-config.ts";
import type { AddedToken, TokenizerJson } from "./config/tokenizer-json.ts";

const unchanged = <Value>(value: Value): Value => value;

/** Converts texts to tokens: added tokens, normalizer, pre-tokenizer and model, without truncation and special tokens. */
export class TokenPipeline {
  readonly model: Model;
  readonly addedTokens: readonly AddedToken[];
  readonly #normalize: Normalizer;
  readonly #preTokenize: PreTokenizer;
  /** Added tokens that are matched in the original text, and those matched after normalization. */
  readonly #asWritten: AddedTokenFinder;
  readonly #normalized: AddedTokenFinder;

  /** Throws Error with the component that is not supported. */
  constructor(json: TokenizerJson) {
    this.#normalize = json.normalizer === null ? unchanged : createNormalizer(json.normalizer);
    const bytes = modelType(json.model) === "BPE" ? endingInBytes(json.pre_tokenizer) : undefined;
    this.#preTokenize = bytes ?? (json.pre_tokenizer === null ? unchanged : createPreTokenizer(json.pre_tokenizer));
    this.model = createModel(json.model, bytes !== undefined);
    this.addedTokens = numberAddedTokens(json.added_tokens, this.model.vocabulary);
    this.#asWritten = new AddedTokenFinder(
      this.addedTokens.filter(({ normalized }) => !normalized),
      ({ content }) => content,
    );
    const found = this.addedTokens.filter(({ normalized }) => normalized);
    const growth = new TextGrowthLimit(found.reduce((sum, { content }) => sum + content.length, 0));
    this.#normalized = new AddedTokenFinder(
      found,
      ({ content }) => this.#normalize(new AlignedText(content, 0, undefined, growth)).text,
    );
  }

  /** Tokenizes a text, which must not contain unpaired surrogates. */
  tokenize(text: string): TokenColumns {
    const row = new TokenColumns();
    let word = 0;
    const addToken = (source: AlignedText, { start, end }: TextSection, token: AddedToken): void => {
      const shown = source.text.slice(start, end);
      if (shown !== token.content) row.textOverrides.set(row.length, shown);
      row.push(token.id, source.startAt(start), source.endAt(end - 1), word++);
    };
    const original = new AlignedText(text, 0);
    for (const section of this.#asWritten.sections(text)) {
      if (section.token !== undefined) {
        addToken(original, section, section.token);
        continue;
      }
      const normalized = this.#normalize(original.slice(section.start, section.end));
      for (const part of this.#normalized.sections(normalized.text)) {
        if (part.token !== undefined) addToken(normalized, part, part.token);
        else {
          const source = normalized.slice(part.start, part.end);
          word = this.#addPieces(this.#preTokenize({ source, bounds: [0, source.text.length] }), word, row);
        }
      }
    }
    return row;
  }

  /** Tokenizes pieces with the model. Returns the index of the next word. */
  #addPieces({ source, bounds }: Pieces, firstWord: number, row: TokenColumns): number {
    const { model } = this;
    const { text, starts, ends, base } = source;
    let word = firstWord;
    for (let index = 0; index < bounds.length; index += 2, word++) {
      const from = bounds[index] as number;
      const tokens = model.tokenize(text.slice(from, bounds[index + 1]));
      for (let at = 0; at < tokens.length; at += 3) {
        const id = tokens[at] as number;
        const start = from + (tokens[at + 1] as number);
        const end = from + (tokens[at + 2] as number);
        if (model.keepsUnknownText && id === model.unknownId) row.textOverrides.set(row.length, text.slice(start, end));
        if (starts === undefined || ends === undefined) row.push(id, base + start, base + end, word);
        else row.push(id, starts[start] as number, ends[end - 1] as number, word);
      }
    }
    return word;
  }
}

/**
 * If ByteLevel is the last pre-tokenizer, returns a pre-tokenizer with only its splitting half. BPE then maps characters to bytes itself, which
 * saves writing the text in the byte-level alphabet.
 */
function endingInBytes(step: ComponentConfig | null): PreTokenizer | undefined {
  if (step?.type === "ByteLevel") return byteLevelWords(step);
  if (step?.type !== "Sequence") return undefined;
  const steps = componentList(step, "pretokenizers");
  const last = endingInBytes(steps.at(-1) ?? null);
  if (last === undefined) return undefined;
  const before = steps.slice(0, -1).map(createPreTokenizer);
  return (pieces) => last(before.reduce((cut, preTokenize) => preTokenize(cut), pieces));
}
