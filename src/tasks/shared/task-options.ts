/** Options that every text task takes, and their values where they are left out. */
import type { Manifest } from "../../models/manifest.ts";
import { refuseNonPositive, refuseUnlisted } from "../../runtime/options/options.ts";
import { defaultBatchTokens } from "../batching/plan-batches.ts";
import { textSettings } from "../embedding/embed-options.ts";

export interface TextTaskOptions {
  /** Longest text in tokens, special tokens included; never above the model's own limit. Default: the model's own limit. */
  readonly maxTokens?: number;
  /** What to do with longer texts: "cut" them, or refuse them with INPUT_TOO_LONG. Default: "cut". */
  readonly truncate?: "cut" | "error";
  /** Padded tokens in one batch. Default: 512. */
  readonly batchTokens?: number;
  readonly signal?: AbortSignal;
}

export const textTaskOptionNames: readonly (keyof TextTaskOptions)[] = ["maxTokens", "truncate", "batchTokens", "signal"];

export interface TextTaskSettings {
  readonly maxTokens: number;
  readonly truncate: "cut" | "error";
  readonly batchTokens: number;
}

export function textTaskSettings(manifest: Manifest, options: TextTaskOptions): TextTaskSettings {
  const text = textSettings(manifest);
  const { truncate = "cut", batchTokens = defaultBatchTokens } = options;
  refuseUnlisted("truncate", options.truncate, ["cut", "error"]);
  for (const key of ["maxTokens", "batchTokens"] as const) refuseNonPositive(key, options[key]);
  const maxTokens = Math.min(options.maxTokens ?? Number.POSITIVE_INFINITY, text.maxTokens ?? Number.POSITIVE_INFINITY);
  return { maxTokens, truncate, batchTokens };
}
