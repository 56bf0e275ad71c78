/** Options of the task `text-generation`. */
import { type TaskOptions, boolean, unchecked } from "../definition/task-option.ts";
import { type GenerationOptions, generationOptions } from "./sampling/generation-options.ts";

/** Options of `generate`. */
export interface GenerateOptions extends GenerationOptions {
  /** Whether the tokenizer adds its special tokens to prompts that are texts. Default: as the model was trained. */
  readonly addSpecialTokens?: boolean;
  /** Whether the call returns a stream as soon as the model is loaded. Default: false, it returns the texts. */
  readonly stream?: boolean;
}

/** Everything about the options in `GenerateOptions`. */
export const generateOptions: TaskOptions<GenerateOptions> = {
  ...generationOptions,
  addSpecialTokens: {
    type: boolean,
    negatedFlag: ["--no-add-special-tokens", "prompts contain their special tokens"],
    field: "Whether the tokenizer adds its special tokens. Default: as the model was trained",
  },
  stream: { type: unchecked },
};
