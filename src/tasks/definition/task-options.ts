/** Options that all text tasks share, and their defaults. */
import type { Manifest } from "../../models/manifest.ts";
import { defaultBatchTokens } from "../batching/plan-batches.ts";
import { textSettings } from "../encoding/text-settings.ts";
import { type Option, type OptionTable, checkOptions, choice, positiveInteger, unchecked } from "../../runtime/options/option.ts";

/** Options that all text tasks share. */
export interface TextTaskOptions {
  /** Maximum length of a text in tokens, special tokens included. A value above the model's own limit has no effect. Default: that limit. */
  readonly maxTokens?: number;
  /** What happens to longer texts: "cut" truncates them, "error" throws INPUT_TOO_LONG. Default: "cut". */
  readonly truncate?: "cut" | "error";
  /** Maximum size of one batch in tokens, padding included. Default: 512. */
  readonly batchTokens?: number;
  /** Cancels the call, which then rejects with ABORTED. */
  readonly signal?: AbortSignal;
}

/** Everything about the options in `TextTaskOptions`. */
export const textTaskOptions: OptionTable<TextTaskOptions> = {
  maxTokens: { type: positiveInteger, flag: ["--max-tokens <number>", "longest text in tokens"] },
  truncate: { type: choice(["cut", "error"]), flag: ["--truncate <how>", "what to do with longer texts"] },
  batchTokens: { type: positiveInteger, flag: ["--batch-tokens <number>", "padded tokens in one batch"] },
  signal: { type: unchecked },
};

/** `truncate` of tasks whose requests have a field for it. */
export const truncateWithField: Option = {
  ...textTaskOptions.truncate,
  field: "What to do with texts longer than the model reads. Default: cut",
};

/** `TextTaskOptions` with every default filled in. */
export interface TextTaskSettings {
  /** Infinity: no limit. */
  readonly maxTokens: number;
  readonly truncate: "cut" | "error";
  readonly batchTokens: number;
}

/** Validates the shared options and fills in the model's defaults. Throws INPUT_INVALID for a value that is not allowed. */
export function textTaskSettings(manifest: Manifest, options: TextTaskOptions): TextTaskSettings {
  const text = textSettings(manifest);
  const { truncate = "cut", batchTokens = defaultBatchTokens } = options;
  checkOptions(textTaskOptions, options);
  const maxTokens = Math.min(options.maxTokens ?? Number.POSITIVE_INFINITY, text.maxTokens ?? Number.POSITIVE_INFINITY);
  return { maxTokens, truncate, batchTokens };
}
