/** Implementation of `Encoding`: a view of the tokens of its texts. Ids are computed at once, the other columns on access. */
import type { PostProcessorTemplate, OffsetTrimming } from "./post-processors/index.ts";
import type { TokenColumns } from "./token-columns.ts";
import type { Encoding } from "./tokenizer.ts";
import type { TruncationWindow } from "./truncation.ts";
import { characterOfByte } from "./unicode/byte-level-alphabet.ts";
import { isWhitespace } from "./unicode/character-properties.ts";

/** Source of all windows of one text or pair for `createEncoding`: its tokens, and how special tokens are added. */
export interface EncodingSource {
  /** The tokens of the first and, of a pair, the second text. */
  readonly rows: readonly TokenColumns[];
  /** The order of texts and special tokens. */
  readonly template: PostProcessorTemplate;
  readonly addSpecialTokens: boolean;
  /** Offset trims to apply, in order. */
  readonly trimming: readonly OffsetTrimming[];
  readonly idToToken: (id: number) => string | undefined;
  readonly wholeLength: number;
  readonly truncated: boolean;
}

/**
 * Creates the encoding of the first window of each text; its field `overflowing` holds the others. `windows` is the result of
 * `truncationWindows`; `promptTokens` is the number of tokens of the prompt.
 */
export function createEncoding(
  source: EncodingSource,
  windows: readonly (readonly TruncationWindow[])[],
  promptTokens: number,
): Encoding {
  const kept = windows.map(([first]) => first ?? nothing);
  return new WindowEncoding(source, kept, promptTokens, () =>
    overflow(windows).map((cut) => new WindowEncoding(source, cut, 0, none)),
  );
}

const nothing: TruncationWindow = { from: 0, to: 0 };
const none = (): readonly Encoding[] => [];

/** All combinations of windows of the two texts except that of the first windows, in the order of the Rust library. */
function overflow([first = [], second]: readonly (readonly TruncationWindow[])[]): TruncationWindow[][] {
  if (second === undefined) return first.slice(1).map((window) => [window]);
  const pairs = [...first.slice(1), ...first.slice(0, 1)].flatMap((window) => second.map((other) => [window, other]));
  return pairs.filter(([window, other]) => window !== first[0] || other !== second[0]);
}

class WindowEncoding implements Encoding {
  readonly ids: number[];
  readonly truncated: boolean;
  readonly wholeLength: number;
  readonly promptTokens: number;
  readonly #source: EncodingSource;
  readonly #windows: readonly TruncationWindow[];
  readonly #makeOverflowing: () => readonly Encoding[];
  #tokens: readonly string[] | undefined;
  #offsets: Int32Array | undefined;
  #overflowing: readonly Encoding[] | undefined;

  constructor(
    source: EncodingSource,
    windows: readonly TruncationWindow[],
    promptTokens: number,
    makeOverflowing: () => readonly Encoding[],
  ) {
    this.#source = source;
    this.#windows = windows;
    this.#makeOverflowing = makeOverflowing;
    this.truncated = source.truncated;
    this.wholeLength = source.wholeLength;
    this.promptTokens = promptTokens;
    this.ids = this.#column(
      (row, { from, to }) => row.ids.slice(from, to),
      (ids) => [...ids],
    );
  }

  get tokens(): readonly string[] {
    const { idToToken } = this.#source;
    this.#tokens ??= this.#column(
      (row, { from, to }) => Array.from({ length: to - from }, (_token, index) => shownToken(row, from + index, idToToken)),
      (_ids, tokens) => [...tokens],
    );
    return this.#tokens;
  }

  get typeIds(): readonly number[] {
    return this.#column(
      (_row, window, _sequence, typeId) => repeated(typeId, window),
      (ids, _tokens, typeId) => ids.map(() => typeId),
    );
  }

  get specialTokensMask(): readonly number[] {
    return this.#column(
      (_row, window) => repeated(0, window),
      (ids) => ids.map(() => 1),
    );
  }

  get attentionMask(): readonly number[] {
    return this.ids.map(() => 1);
  }

  get sequenceIds(): readonly (0 | 1 | null)[] {
    return this.#column<0 | 1 | null>(
      (_row, window, sequence) => repeated(sequence, window),
      (ids) => ids.map(() => null),
    );
  }

  get wordIds(): readonly (number | null)[] {
    return this.#column<number | null>(
      (row, { from, to }) => row.words.slice(from, to),
      (ids) => ids.map(() => null),
    );
  }

  get offsets(): Int32Array {
    const { trimming, idToToken } = this.#source;
    this.#offsets ??= Int32Array.from(
      this.#column(
        (row, { from, to }) => {
          const offsets = row.offsets.slice(2 * from, 2 * to);
          for (const trim of trimming) trimOffsets(offsets, (index) => shownToken(row, from + index, idToToken), trim);
          return offsets;
        },
        (ids) => ids.flatMap(() => [0, 0]),
      ),
    );
    return this.#offsets;
  }

  get overflowing(): readonly Encoding[] {
    this.#overflowing ??= this.#makeOverflowing();
    return this.#overflowing;
  }

  /** Assembles one column in the order of the template. */
  #column<Value>(
    ofText: (row: TokenColumns, window: TruncationWindow, sequence: 0 | 1, typeId: number) => Value[],
    ofSpecial: (ids: readonly number[], tokens: readonly string[], typeId: number) => Value[],
  ): Value[] {
    const { template, rows, addSpecialTokens } = this.#source;
    let column: Value[] = [];
    for (const part of template) {
      if ("sequence" in part) {
        const row = rows[part.sequence];
        if (row === undefined) continue;
        const values = ofText(row, this.#windows[part.sequence] ?? nothing, part.sequence, part.typeId);
        column = column.length === 0 ? values : column.concat(values);
      } else if (addSpecialTokens) column.push(...ofSpecial(part.ids, part.tokens, part.typeId));
    }
    return column;
  }
}

function repeated<Value>(value: Value, { from, to }: TruncationWindow): Value[] {
  return Array.from({ length: to - from }, () => value);
}

function shownToken(row: TokenColumns, index: number, tokenOf: (id: number) => string | undefined): string {
  return row.textOverrides.get(index) ?? tokenOf(row.ids[index] ?? -1) ?? "";
}

const spaceByte = characterOfByte[0x20];

/**
 * Trims white space from the offsets of tokens in place (`process_offsets` of ByteLevel in the Rust library). `offsets` has the start and end of each token; `tokenAt` returns the
 * text of a token by its index.
 */
function trimOffsets(offsets: number[], tokenAt: (index: number) => string, { addPrefixSpace }: OffsetTrimming): void {
  for (let index = 0; 2 * index < offsets.length; index++) {
    const token = tokenAt(index);
    let leading = 0;
    while (leading < token.length && isSpace(token, leading)) leading++;
    let trailing = 0;
    while (trailing < token.length && isSpace(token, token.length - 1 - trailing)) trailing++;
    let start = offsets[2 * index] as number;
    let end = offsets[2 * index + 1] as number;
    if (leading > 0) {
      const isFirst = index === 0 || start === 0;
      // A single space before the first word was inserted by the pre-tokenizer and is not in the text.
      if (!(isFirst && addPrefixSpace && leading === 1)) start = Math.min(start + leading, end);
    }
    if (trailing > 0 && end >= trailing) end = Math.max(end - trailing, start);
    offsets[2 * index] = start;
    offsets[2 * index + 1] = end;
  }
}

function isSpace(token: string, unit: number): boolean {
  return token.charAt(unit) === spaceByte || isWhitespace(token.charCodeAt(unit));
}
