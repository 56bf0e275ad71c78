/** Options of the task `chat`. */
import { type OptionTable, unchecked } from "../../../runtime/options/option.ts";
import { type GenerationOptions, generationOptions } from "../sampling/generation-options.ts";
import type { ToolChoice } from "./constrained-answer.ts";
import type { Tool } from "./messages.ts";

/** Options of `chat`. */
export interface ChatOptions extends Omit<GenerationOptions, "skipSpecialTokens"> {
  /** Tools that the model may call. Default: none. */
  readonly tools?: readonly Tool[];
  /**
   * Whether the model calls tools: "auto" leaves it to the model, "none" hides them from it, "required" makes it call one, and a name that one. A required call
   * fits the schema of its tool, the model does not think before it, and `constraint` has no text to apply to. Default: "auto".
   */
  readonly toolChoice?: ToolChoice;
  /** Further variables of the model's chat template, such as `{ enable_thinking: false }`. */
  readonly templateVariables?: Readonly<Record<string, unknown>>;
  /** Whether the call returns a stream as soon as the model is loaded. Default: false, it returns the answer. */
  readonly stream?: boolean;
}

const { skipSpecialTokens: _skipSpecialTokens, ...sampling } = generationOptions;

/** Everything about the options in `ChatOptions`. */
export const chatOptions: OptionTable<ChatOptions> = {
  ...sampling,
  tools: { type: unchecked },
  toolChoice: { type: unchecked },
  templateVariables: { type: unchecked },
  stream: { type: unchecked },
};
