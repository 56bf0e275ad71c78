/** Messages between the thread pool and its threads. */
import type { TextSettings } from "../../models/manifest.ts";
import type { TokenDecodeOptions } from "../../tokenizers/index.ts";
import type { TransferableTokens } from "../../tokenizers/tokenizer-threads.ts";
import type { ChunkSettings } from "./chunked-text.ts";
import type { ChunkedText } from "./chunked-text.ts";

/** Arguments and result of every operation that a thread performs. */
export interface Operations {
  readonly tokenize: { readonly args: { readonly text: string }; readonly result: TransferableTokens };
  readonly decode: { readonly args: { readonly ids: Int32Array; readonly options: TokenDecodeOptions }; readonly result: string };
  readonly chunk: {
    readonly args: { readonly text: string; readonly settings: Omit<ChunkSettings, "signal"> };
    readonly result: ChunkedText;
  };
}

/** Name of an operation. */
export type OperationName = keyof Operations;

/** Result of an operation. */
export type OperationResult = Operations[OperationName]["result"];

/** Message to a thread that reads texts: one call. */
export interface TextCallMessage<Name extends OperationName = OperationName> {
  readonly operation: Name;
  readonly args: Operations[Name]["args"];
  /** Number that identifies a tokenizer. `settings` is sent with the first call that uses it. */
  readonly tokenizer: number;
  readonly settings?: TextSettings;
}
