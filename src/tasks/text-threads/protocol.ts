/** What the pool and its threads tell each other. */
import type { SerializedError } from "../../errors.ts";
import type { TextSettings } from "../../models/manifest.ts";
import type { DecodeOptions } from "../../tokenizers/index.ts";
import type { TransferableTokens } from "../../tokenizers/tokenizer-threads.ts";
import type { ChunkSettings } from "../chunking/chunk-options.ts";
import type { ChunkedText } from "../chunking/chunk.ts";

/** Arguments and result of each operation. */
export interface Operations {
  readonly tokenize: { readonly asked: { readonly text: string }; readonly result: TransferableTokens };
  readonly decode: { readonly asked: { readonly ids: Int32Array; readonly options: DecodeOptions }; readonly result: string };
  readonly chunk: {
    readonly asked: { readonly text: string; readonly settings: Omit<ChunkSettings, "signal"> };
    readonly result: ChunkedText;
  };
}

export type OperationName = keyof Operations;

export interface CallMessage<Name extends OperationName = OperationName> {
  readonly operation: Name;
  readonly asked: Operations[Name]["asked"];
  /** Which tokenizer. Its settings come with the first call for it. */
  readonly tokenizer: number;
  readonly settings?: TextSettings;
}

export type AnswerMessage =
  | { readonly ok: true; readonly result: Operations[OperationName]["result"] }
  | { readonly ok: false; readonly error: SerializedError };
