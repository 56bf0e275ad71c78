/** Options of the task `text-generation`. */
import { type OptionTable, boolean, textOption, unchecked } from "../../runtime/options/option.ts";
import { generationOptions } from "./sampling/generation-options.ts";
import type { GenerateOptions } from "./generated-generate-options.ts";

/** Everything about the options in `GenerateOptions`. */
export const generateOptions: OptionTable<GenerateOptions> = {
  ...generationOptions,
  addSpecialTokens: {
    type: boolean,
    negatedFlag: ["--no-add-special-tokens", "prompts contain their special tokens"],
    field: "Whether the tokenizer adds its special tokens to prompts that are texts. Default: as the model was trained",
  },
  suffix: {
    type: textOption,
    flag: ["--suffix <text>", "what follows: the text between is written"],
    field:
      "Text that follows the generated one: the model fills in between the prompt and this. Only for models with tokens for filling in the middle. Default: none",
  },
  stream: {
    type: unchecked,
    typescript: "boolean",
    description: "Whether the call returns a stream as soon as the model is loaded. Default: false, it returns the texts",
  },
};
