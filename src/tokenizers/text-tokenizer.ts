/**
 * `Tokenizer` of the Rust library for one model: runs the token pipeline, then applies the model's length limit, its special tokens, and
 * worker threads for long texts.
 */
import { at } from "../contract/checked.ts";
import { InferyardError, getMessage, invalidInput } from "../contract/errors.ts";
import type { TextSettings } from "../models/manifest.ts";
import { createDecoder } from "./decoders/index.ts";
import type { TokenDecoder } from "./decoders/decoder.ts";
import { createEncoding } from "./encoding.ts";
import { padEncodings } from "./padding.ts";
import { TokenPipeline } from "./token-pipeline.ts";
import { type PostProcessor, type PostProcessorTemplate, createPostProcessor } from "./post-processors/index.ts";
import { type TokenizerThreads, maxInlineUnits, requireMaxLength, fromTransferable } from "./tokenizer-threads.ts";
import { TokenColumns } from "./token-columns.ts";
import { TokenTable } from "./token-table.ts";
import { configuredSpecialToken } from "./config/tokenizer-config.ts";
import { type TokenizerJson, tokenizerInvalid } from "./config/tokenizer-json.ts";
import type {
  TokenDecodeOptions,
  EncodeOptions,
  Encoding,
  Frame,
  PadOptions,
  PaddedBatch,
  Tokenizer,
  TruncationStrategy,
} from "./tokenizer.ts";
import { type TruncationWindow, truncationWindows } from "./truncation.ts";

/** The tokenizer that a tokenizer.json describes: encodes texts to token ids with offsets, and decodes ids to text. */
export class TextTokenizer implements Tokenizer {
  readonly vocabularySize: number;
  readonly unknownId: number | undefined;
  readonly padId: number;
  readonly maskId: number | undefined;
  readonly clsId: number | undefined;
  readonly frame: Frame;
  readonly encodeOnThread?: NonNullable<Tokenizer["encodeOnThread"]>;
  readonly decodeOnThread?: NonNullable<Tokenizer["decodeOnThread"]>;
  readonly #settings: TextSettings;
  readonly #threads: TokenizerThreads | undefined;
  /** Maximum length in UTF-16 code units of a text that the calling thread tokenizes. Lowered after a text that took long. */
  #inlineUnits = maxInlineUnits;
  readonly #pipeline: TokenPipeline;
  readonly #postProcessor: PostProcessor;
  readonly #decode: TokenDecoder | undefined;
  readonly #tokens: TokenTable;
  readonly #addedIds: ReadonlyMap<string, number>;
  readonly #specialIds: ReadonlySet<number>;
  readonly #frameLength: number;
  /** Computed for the first text that it may shorten. */
  #medianTokenLength: number | undefined;
  /** Number of tokens of each prompt seen, special tokens not counted. */
  readonly #promptLengths = new Map<string, number>();

  /** Throws Error with the component that is not supported. */
  constructor(json: TokenizerJson, settings: TextSettings, threads?: TokenizerThreads) {
    this.#settings = settings;
    this.#threads = threads;
    if (threads !== undefined) {
      this.encodeOnThread = (text, options) => this.#encodeOn(threads, text, options);
      this.decodeOnThread = (ids, options) => this.#decodeOn(threads, ids, options);
    }
    this.#pipeline = new TokenPipeline(json);
    if (threads !== undefined) this.#pipeline.model.prepare?.(); // `row` measures how long a text takes
    this.#postProcessor = createPostProcessor(json.post_processor);
    this.#decode = json.decoder === null ? undefined : createDecoder(json.decoder);
    const {
      addedTokens: added,
      model: { vocabulary, unknownId },
    } = this.#pipeline;
    this.#addedIds = new Map(added.map(({ content, id }) => [content, id]));
    this.#specialIds = new Set(added.filter(({ special }) => special).map(({ id }) => id));
    this.#tokens = new TokenTable(vocabulary, this.#addedIds);
    this.vocabularySize = this.#tokens.length;
    this.unknownId = unknownId;
    // Static embeddings use no special tokens, and often have a reduced vocabulary with the original post-processor.
    checkSpecialTokens(this.#postProcessor, settings.specialTokens ? this.vocabularySize : Number.POSITIVE_INFINITY);
    this.frame = settings.specialTokens ? getFrame(this.#postProcessor.single) : { prefix: [], suffix: [] };
    this.#frameLength = this.frame.prefix.length + this.frame.suffix.length;
    this.padId = this.#getPadId(json);
    this.maskId = this.#idOfNamed("mask_token", ["[MASK]", "<mask>"]);
    // If tokenizer_config.json names a bos_token and no cls_token, "<s>" is the bos token, not a class token.
    this.clsId = this.#idOfNamed("cls_token", "bos_token" in settings.tokenizerConfig ? ["[CLS]"] : ["[CLS]", "<s>"]);
  }

  encode(text: string, options: EncodeOptions = {}): Encoding {
    const asked = this.#asked(text, options);
    return this.#encoding(
      asked,
      asked.read.map((one) => this.row(one)),
    );
  }

  async #encodeOn(threads: TokenizerThreads, text: string, options: EncodeOptions = {}): Promise<Encoding> {
    const asked = this.#asked(text, options);
    const { prompt } = asked;
    const row = async (one: string): Promise<TokenColumns> => {
      if (one.length <= this.#inlineUnits) return this.row(one);
      return fromTransferable(await threads.tokenize(this.#settings, one));
    };
    if (prompt.length > this.#inlineUnits) this.#rememberPrompt(prompt, (await row(prompt)).length);
    return this.#encoding(asked, await Promise.all(asked.read.map(row)));
  }

  async #decodeOn(threads: TokenizerThreads, ids: readonly number[], options: TokenDecodeOptions = {}): Promise<string> {
    requireMaxLength(ids.length, "tokens", threads);
    // A token is about four characters.
    if (ids.length <= this.#inlineUnits / 4) return this.decode(ids, options);
    return threads.decode(this.#settings, ids, options);
  }

  /** Validates the options of one call, and prepares the texts to tokenize. */
  #asked(text: string, options: EncodeOptions): Asked {
    const { prompt = "", pair, maxTokens = this.#settings.maxTokens ?? Infinity } = options;
    const { addSpecialTokens = this.#settings.specialTokens, stride = 0, strategy = "longest_first" } = options;
    const template = this.#templateFor(pair !== undefined);
    const special = addSpecialTokens ? specialLength(template) : 0;
    const room = maxTokens - special;
    if (!(room >= 0)) throw noRoom(maxTokens, special);

    const texts = pair === undefined ? [text] : [text, pair];
    for (const one of texts) if (typeof one !== "string") throw notText(one);
    const whole = texts.map((one, index) => (index === 0 ? prompt + one : one));
    if (this.#threads !== undefined) for (const { length } of whole) requireMaxLength(length, "characters", this.#threads);
    const read = whole.map((one) => this.#firstCharacters(one, maxTokens));
    return { options, prompt, whole, read, template, addSpecialTokens, special, room, stride, strategy };
  }

  #encoding({ options, prompt, whole, read, ...asked }: Asked, rows: readonly TokenColumns[]): Encoding {
    const { template, addSpecialTokens, special, room, stride, strategy } = asked;
    const lengths = rows.map(({ length }) => length);
    const content = lengths.reduce((sum, length) => sum + length, 0);

    const side = options.truncationSide ?? (this.#settings.tokenizerConfig["truncation_side"] === "left" ? "left" : "right");
    const windows = truncationWindows(lengths, room, { strategy, stride, side });
    const source = {
      rows,
      template,
      addSpecialTokens,
      trimming: this.#postProcessor.trimming,
      idToToken: (id: number) => this.#tokens.get(id),
      wholeLength: content + special,
      truncated: content > room || read.some((one, index) => one !== whole[index]),
    };
    const [first = { from: 0, to: 0 }] = windows[0] ?? [];
    const known = this.#settings.dropUnknown ? rows.map((row) => this.#withoutUnknown(row)) : undefined;
    const kept = known?.[0] === undefined ? first : known[0].moved(first);
    const promptTokens =
      prompt === ""
        ? 0
        : (addSpecialTokens ? specialLength(template.slice(0, textPlace(template))) : 0) +
          Math.min(Math.max(0, this.#promptLength(prompt) - (side === "left" ? first.from : 0)), kept.to - kept.from);
    if (known === undefined) return createEncoding(source, windows, promptTokens);
    const movedWindows = known.map(({ moved }, index) => (windows[index] ?? []).map(moved));
    return createEncoding({ ...source, rows: known.map(({ row }) => row) }, movedWindows, promptTokens);
  }

  count(text: string): number {
    if (typeof text !== "string") throw notText(text);
    const row = this.row(text);
    return (this.#settings.dropUnknown ? this.#withoutUnknown(row).row.length : row.length) + this.#frameLength;
  }

  decode(ids: Iterable<number>, options: TokenDecodeOptions = {}): string {
    const { skipSpecialTokens = true } = options;
    const tokens: string[] = [];
    let units = 0;
    for (const id of ids) {
      const token = this.#tokens.get(id);
      if (token === undefined || (skipSpecialTokens && this.#specialIds.has(id))) continue;
      tokens.push(token);
      units += token.length;
      if (units > maxDecodedUnits)
        throw new InferyardError("INPUT_TOO_LONG", `the tokens decode to more than ${maxDecodedUnits} characters`, {
          remedy: "decode them in several calls",
        });
    }
    if (this.#decode === undefined) return tokens.join(" ");
    try {
      return this.#decode(tokens).join("");
    } catch (error) {
      throw tokenizerInvalid(this.#settings.tokenizerShown, `fails on ${tokens.length} tokens: ${getMessage(error)}`, error);
    }
  }

  pad(encodings: readonly Encoding[], options?: PadOptions): PaddedBatch {
    return padEncodings(encodings, this.padId, options);
  }

  idToToken(id: number): string | undefined {
    return this.#tokens.get(id);
  }

  tokenToId(token: string): number | undefined {
    return this.#addedIds.get(token) ?? this.#pipeline.model.vocabulary.get(token);
  }

  #promptLength(prompt: string): number {
    const length = this.#promptLengths.get(prompt) ?? this.row(prompt).length;
    this.#rememberPrompt(prompt, length);
    return length;
  }

  #rememberPrompt(prompt: string, length: number): void {
    if (this.#promptLengths.size >= maxPrompts) this.#promptLengths.clear();
    this.#promptLengths.set(prompt, length);
  }

  #templateFor(isPair: boolean): PostProcessorTemplate {
    const { single, pair } = this.#postProcessor;
    if (isPair && pair.length === 0) throw invalidInput(`${this.#settings.tokenizerShown} has no template for a pair of texts`);
    return isPair ? pair : single;
  }

  /**
   * For static embeddings, as in model2vec: the first `maxTokens` times the median token length code points of a text, which bounds the cost of
   * tokenizing it. Other models tokenize the whole text.
   */
  #firstCharacters(text: string, maxTokens: number): string {
    if (!this.#settings.dropUnknown || text.length <= maxTokens) return text;
    this.#medianTokenLength ??= this.#tokens.medianLength();
    const limit = maxTokens * this.#medianTokenLength;
    if (text.length <= limit) return text;
    return Array.from(text.slice(0, 2 * limit))
      .slice(0, limit)
      .join("");
  }

  /** Removes unknown tokens; `moved` maps a window over the original tokens to the remaining ones. */
  #withoutUnknown(row: TokenColumns): {
    readonly row: TokenColumns;
    readonly moved: (window: TruncationWindow) => TruncationWindow;
  } {
    const known = new TokenColumns();
    const places: number[] = [];
    for (const [index, id] of row.ids.entries()) {
      places.push(known.length);
      if (id === this.unknownId) continue;
      const displayName = row.textOverrides.get(index);
      if (displayName !== undefined) known.textOverrides.set(known.length, displayName);
      known.push(id, at(row.offsets, 2 * index), at(row.offsets, 2 * index + 1), at(row.words, index));
    }
    places.push(known.length);
    return { row: known, moved: ({ from, to }) => ({ from: at(places, from), to: at(places, to) }) };
  }

  /** Tokenizes a text on the calling thread, without truncation and special tokens. Throws TOKENIZER_INVALID. */
  row(text: string): TokenColumns {
    try {
      const started = performance.now();
      const row = this.#pipeline.tokenize(text.replace(loneSurrogate, "\ufffd"));
      const isSlow = performance.now() - started > maxInlineMs && text.length <= this.#inlineUnits;
      if (isSlow) this.#inlineUnits = Math.max(minInlineUnits, Math.floor(text.length / 2));
      return row;
    } catch (error) {
      const problem = `fails on a text of ${text.length} characters: ${getMessage(error)}`;
      throw tokenizerInvalid(this.#settings.tokenizerShown, problem, error);
    }
  }

  /** `pad_token` of tokenizer_config.json, otherwise `padding.pad_id` of tokenizer.json, otherwise a token with a usual name, otherwise 0. */
  #getPadId(json: TokenizerJson): number {
    const inFile = json.padding?.pad_id;
    return (
      this.#idOfNamed("pad_token", []) ??
      (typeof inFile === "number" ? inFile : undefined) ??
      this.#idOfNamed("pad_token", ["[PAD]", "<pad>"]) ??
      0
    );
  }

  /** Id of a special token: the one tokenizer_config.json names, otherwise the first usual name in the vocabulary. */
  #idOfNamed(role: Parameters<typeof configuredSpecialToken>[1], usual: readonly string[]): number | undefined {
    const named = configuredSpecialToken(this.#settings, role);
    const names = named === undefined ? usual : [named, ...usual];
    return names.map((name) => this.tokenToId(name)).find((id) => id !== undefined);
  }
}

interface Asked {
  readonly options: EncodeOptions;
  readonly prompt: string;
  /** Prompt + text, and the pair. */
  readonly whole: readonly string[];
  readonly read: readonly string[];
  readonly template: PostProcessorTemplate;
  readonly addSpecialTokens: boolean;
  /** Number of special tokens, and number of tokens left for content. */
  readonly special: number;
  readonly room: number;
  readonly stride: number;
  readonly strategy: TruncationStrategy;
}

/**
 * Maximum time in milliseconds to tokenize a text on the calling thread; regular expressions and normalizers of a model's file can be a thousand
 * times slower than usual. After a text that took longer, `#inlineUnits` is lowered.
 */
const maxInlineMs = 20;
const minInlineUnits = 64;
/** Maximum length of a decoded text in UTF-16 code units. */
const maxDecodedUnits = 2 ** 25;
/** Maximum number of prompts whose length is cached. */
const maxPrompts = 64;

/** An unpaired surrogate, which UTF-8 cannot encode; replaced by U+FFFD. */
const loneSurrogate = /\p{Cs}/gu;

/** Throws Error for a special token id outside the vocabulary, which would index past the model's embedding table. */
function checkSpecialTokens({ single, pair }: PostProcessor, vocabularySize: number): void {
  for (const part of [...single, ...pair]) {
    if ("sequence" in part) continue;
    const { ids, tokens } = part;
    if (tokens.length !== ids.length)
      throw new Error(`its post_processor states ${ids.length} ids and ${tokens.length} tokens for ${JSON.stringify(tokens[0])}`);
    const wrong = ids.find((id) => id < 0 || id >= vocabularySize);
    if (wrong !== undefined)
      throw new Error(
        `its post_processor states the id ${wrong} for a special token, and ids go from 0 to ${vocabularySize - 1}`,
      );
  }
}

function getFrame(single: PostProcessorTemplate): Frame {
  const at = textPlace(single);
  return { prefix: getIds(single.slice(0, at)), suffix: getIds(single.slice(at + 1)) };
}

/** Index of the first text in a template. */
function textPlace(template: PostProcessorTemplate): number {
  return template.findIndex((part) => "sequence" in part && part.sequence === 0);
}

function getIds(template: PostProcessorTemplate): number[] {
  return template.flatMap((part) => ("sequence" in part ? [] : part.ids));
}

function specialLength(template: PostProcessorTemplate): number {
  return getIds(template).length;
}

function notText(value: unknown): InferyardError {
  return invalidInput(`a text was expected, and ${value === null ? "null" : typeof value} was given`);
}

function noRoom(maxTokens: number, frame: number): InferyardError {
  const remedy = `give a limit of more than ${frame} tokens`;
  const message = `a limit of ${maxTokens} tokens leaves no room for text: this model adds ${frame} special tokens`;
  return invalidInput(message, remedy, { maxTokens, specialTokens: frame });
}
