/** Options of the task `chat`. */
import { type OptionTable, unchecked } from "../../../runtime/options/option.ts";
import { generationOptions } from "../sampling/generation-options.ts";
import type { ChatOptions } from "./generated-chat-options.ts";

const { skipSpecialTokens: _skipSpecialTokens, ...sampling } = generationOptions;

/** Everything about the options in `ChatOptions`. */
export const chatOptions: OptionTable<ChatOptions> = {
  ...sampling,
  tools: { type: unchecked, typescript: "readonly Tool[]", description: "Tools that the model may call. Default: none" },
  toolChoice: {
    type: unchecked,
    typescript: "ToolChoice",
    description:
      'Whether the model calls tools: "auto" leaves it to the model, "none" hides them from it, "required" makes it call one, and a name that one. A required call fits the schema of its tool, the model does not think before it, and `constraint` has no text to apply to. Default: "auto"',
  },
  templateVariables: {
    type: unchecked,
    typescript: "Readonly<Record<string, unknown>>",
    description: "Further variables of the model's chat template, such as `{ enable_thinking: false }`",
  },
  stream: {
    type: unchecked,
    typescript: "boolean",
    description: "Whether the call returns a stream as soon as the model is loaded. Default: false, it returns the answer",
  },
};
