/** Messages between the thread pool and its threads. */
import type { SerializedError } from "../../contract/errors.ts";
import type { TextSettings } from "../../models/manifest.ts";
import type { RenderCall } from "../../templates/render-call.ts";
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
  readonly render: { readonly args: RenderCall; readonly result: string };
}

/** Name of an operation. */
export type OperationName = keyof Operations;

/** Name of an operation of a thread that reads texts; the others run in threads for templates. */
export type TextOperationName = Exclude<OperationName, "render">;

/** Message to a thread that reads texts: one call. */
export interface CallMessage<Name extends TextOperationName = TextOperationName> {
  readonly operation: Name;
  readonly args: Operations[Name]["args"];
  /** Number that identifies a tokenizer. `settings` is sent with the first call that uses it. */
  readonly tokenizer: number;
  readonly settings?: TextSettings;
}

/** Message from a thread: the result of its call. */
export type ResultMessage =
  | { readonly ok: true; readonly result: Operations[OperationName]["result"] }
  | { readonly ok: false; readonly error: SerializedError };
