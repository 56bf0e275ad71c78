/** Options that all text tasks share, and their defaults. */
import type { Manifest } from "../../models/manifest.ts";
import { refuseNonPositive, refuseUnlisted } from "../../runtime/options/options.ts";
import { defaultBatchTokens } from "../batching/plan-batches.ts";
import { textSettings } from "../embedding/embed-options.ts";

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

/** Names of the options in `TextTaskOptions`. */
export const textTaskOptionNames: readonly (keyof TextTaskOptions)[] = ["maxTokens", "truncate", "batchTokens", "signal"];

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
  refuseUnlisted("truncate", options.truncate, ["cut", "error"]);
  for (const key of ["maxTokens", "batchTokens"] as const) refuseNonPositive(key, options[key]);
  const maxTokens = Math.min(options.maxTokens ?? Number.POSITIVE_INFINITY, text.maxTokens ?? Number.POSITIVE_INFINITY);
  return { maxTokens, truncate, batchTokens };
}
