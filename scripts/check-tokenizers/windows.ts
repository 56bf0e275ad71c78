/** Texts and pairs cut into windows, by both tokenizers. */
import { InferyardError } from "../../src/contract/errors.ts";
import { convertOffsets } from "../../src/tokenizers/index.ts";
import type { Encoding, Tokenizer, TruncationStrategy } from "../../src/tokenizers/tokenizer.ts";
import type { NativeEncoding, NativeTokenizer } from "./answers.ts";

export interface Cutting {
  readonly maxTokens: number;
  readonly stride: number;
  readonly strategy: TruncationStrategy;
  readonly truncationSide: "left" | "right";
}

/** Another way to cut for every text, the same each time. */
export function cuttingOf(index: number, isPair: boolean): Cutting {
  const strategies: readonly TruncationStrategy[] = isPair
    ? ["longest_first", "only_first", "only_second"]
    : ["longest_first", "only_first"];
  return {
    maxTokens: 6 + (index % 23),
    stride: index % 4,
    strategy: strategies[index % strategies.length] ?? "longest_first",
    truncationSide: index % 5 < 3 ? "right" : "left",
  };
}

/** As tokenizer.json says it. */
export function truncationOf({ maxTokens, stride, strategy, truncationSide }: Cutting): object {
  const strategies = { longest_first: "LongestFirst", only_first: "OnlyFirst", only_second: "OnlySecond" };
  const direction = truncationSide === "left" ? "Left" : "Right";
  return { truncation: { direction, max_length: maxTokens, strategy: strategies[strategy], stride } };
}

/** Ids and offsets of each window, the one that is kept first; none where the cutting is refused. */
type Windows = readonly (readonly [ids: readonly number[], offsets: readonly number[]])[];

export async function nativeWindows(native: NativeTokenizer, text: string, pair: string | undefined): Promise<Windows> {
  let encoding: NativeEncoding;
  try {
    encoding = await native.encode(text, pair ?? null);
  } catch {
    return [];
  }
  return [encoding, ...encoding.getOverflowing()].map((window) => [window.getIds(), window.getOffsets().flat()]);
}

export function oursWindows(ours: Tokenizer, text: string, pair: string | undefined, cutting: Cutting): Windows {
  let encoding: Encoding;
  try {
    encoding = ours.encode(text, { ...cutting, ...(pair === undefined ? {} : { pair }) });
  } catch (error) {
    if (!(error instanceof InferyardError) || error.code !== "INPUT_INVALID") throw error;
    return [];
  }
  return [encoding, ...encoding.overflowing].map((window) => {
    const [first, second] = [text, pair ?? text].map((one) => convertOffsets(window.offsets, one, "codepoints"));
    const offsets = window.sequenceIds.flatMap((sequence, index) =>
      Array.from(((sequence === 1 ? second : first) ?? []).slice(2 * index, 2 * index + 2)),
    );
    return [window.ids, offsets];
  });
}
