/** The windows of long texts as rows of a batch. */
import type { Encoding } from "../../tokenizers/index.ts";
import type { EncoderInputRow } from "./encoder-inputs.ts";

/** One window of a text or pair. */
export interface EncodingWindow extends EncoderInputRow {
  readonly typeIds: readonly number[];
  /** Index of the text or pair. */
  readonly text: number;
  readonly encoding: Encoding;
}

/** All windows of all texts, in order: for each text the first window, then the overflowing ones. */
export function encodingWindows(encodings: readonly Encoding[]): EncodingWindow[] {
  return encodings.flatMap((encoding, text) =>
    [encoding, ...encoding.overflowing].map((window) => ({ ids: window.ids, typeIds: window.typeIds, text, encoding: window })),
  );
}
