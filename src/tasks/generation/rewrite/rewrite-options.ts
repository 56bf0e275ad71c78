/** Options of the task `text2text-generation`. */
import { type OptionTable, name, textOption, unchecked } from "../../../runtime/options/option.ts";
import { generationOptions } from "../sampling/generation-options.ts";
import type { RewriteOptions } from "./generated-rewrite-options.ts";

// Models with an encoder have no draft model and read no prompt with their decoder, and vocabularies such as T5's no braces, so that they write no objects.
const {
  draftTokens: _draftTokens,
  unlistedMembers: _unlistedMembers,
  promptLogprobs: _promptLogprobs,
  ...sampling
} = generationOptions;

/** Everything about the options in `RewriteOptions`. */
export const rewriteOptions: OptionTable<RewriteOptions> = {
  task: {
    type: name,
    flag: ["--task <name>", "what is done: a name in config.json, such as summarization"],
    field:
      'Task, by a name of `task_specific_params` in config.json, such as "summarization" or "translation_en_to_de" (T5). Default: the model\'s own task',
  },
  prefix: {
    type: textOption,
    flag: ["--prefix <text>", "text before each text"],
    field: "Text before each text, as in the model's training. Default: the prefix of the task, otherwise none",
  },
  sourceLanguage: {
    type: name,
    flag: ["--source-language <name>", "language of the texts"],
    field:
      'Language of the texts, as the model\'s vocabulary names it ("eng_Latn", "en"). Only for models with tokens of languages',
  },
  targetLanguage: {
    type: name,
    flag: ["--target-language <name>", "language to translate into"],
    field: "Language to translate into, as the model's vocabulary names it",
  },
  ...sampling,
  stream: {
    type: unchecked,
    typescript: "boolean",
    description: "Whether the call returns a stream as soon as the model is loaded. Default: false, it returns the texts",
  },
};
