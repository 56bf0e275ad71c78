/** Options that all text tasks share, and their defaults. */
import type { Manifest } from "../../models/manifest.ts";
import { defaultBatchTokens } from "../batching/plan-batches.ts";
import { textSettings } from "../encoding/text-settings.ts";
import { offsetUnits } from "../../tokenizers/index.ts";
import {
  type Option,
  type OptionTable,
  checkOptions,
  choice,
  positiveInteger,
  unchecked,
  zeroOrMore,
} from "../../runtime/options/option.ts";
import type { TextTaskOptions } from "./generated-task-options.ts";

/** Everything about the options in `TextTaskOptions`. */
export const textTaskOptions: OptionTable<TextTaskOptions> = {
  maxTokens: {
    type: positiveInteger,
    description:
      "Maximum length of a text in tokens, special tokens included. A value above the model's own limit has no effect. Default: that limit",
    flag: ["--max-tokens <number>", "longest text in tokens"],
  },
  truncate: {
    type: choice(["cut", "error"]),
    description: 'What happens to longer texts: "cut" truncates them, "error" throws INPUT_TOO_LONG. Default: "cut"',
    flag: ["--truncate <how>", "what to do with longer texts"],
  },
  batchTokens: {
    type: positiveInteger,
    description: "Maximum size of one batch in tokens, padding included. Default: 512",
    flag: ["--batch-tokens <number>", "padded tokens in one batch"],
  },
  signal: { type: unchecked, typescript: "AbortSignal", description: "Cancels the call, which then rejects with ABORTED" },
};

/** `truncate` of tasks whose requests have a field for it. */
export const truncateWithField: Option = {
  ...textTaskOptions.truncate,
  field: "What to do with texts longer than the model reads. Default: cut",
};

/** What the unit of positions is. */
export const unitDescription =
  "Unit of `start` and `end`: UTF-16 code units, as in JavaScript strings, code points, or UTF-8 bytes. Default: utf16";
/** The unit of positions in a text. */
export const positionsUnit: Option = {
  type: choice(offsetUnits),
  flag: ["--offsets <unit>", "unit of positions"],
  description: unitDescription,
};
/** The overlap of windows. */
export const windowStride: Option = {
  type: zeroOrMore,
  flag: ["--stride <tokens>", "tokens by which windows of long texts overlap"],
  description:
    "Overlap in tokens of the windows that a text longer than the model's limit is read in. Default: a quarter of a window",
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
