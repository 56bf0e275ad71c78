/** What a model reads for a request of /api/generate. */
import type { GenerateRequest } from "../../../api/task-requests.ts";
import { encodeText } from "../../../tasks/encoding/encode-texts.ts";
import type { ChatMessage } from "../../../tasks/generation/chat/messages.ts";
import type { Prompt } from "../../../tasks/generation/text/prompt-tokens.ts";
import type { Service } from "../../serving/service.ts";
import type { StartedCall } from "../generation/open-stream.ts";
import { invalidField } from "../generation/request-errors.ts";
import type { OllamaGenerateCall } from "./generation-request.ts";

/** A conversation for the chat template, or a prompt that is given to the model as it is; with its tokens where the answer has a context. */
type GeneratePrompt = (
  | { readonly messages: readonly ChatMessage[] }
  | { readonly prompt: Prompt; readonly options: Pick<GenerateRequest, "suffix"> }
) & { readonly context?: readonly number[] };

/**
 * Ollama gives a prompt to the model as a message of the user, after the tokens of `context`; a model without a chat template, and one that fills in before a
 * suffix, gets it as it is. Throws INPUT_INVALID for a system message without a chat template.
 */
export async function readPrompt(
  { runtime }: Service,
  { prompt, suffix, system, raw, context: before, thinking }: OllamaGenerateCall,
  { model, signal }: StartedCall,
): Promise<GeneratePrompt> {
  if (suffix !== "") {
    if (before.length > 0) throw invalidField("context", "has no place before a prompt with a suffix");
    return { prompt, options: { suffix } };
  }
  const isTemplated = !raw && model.manifest.chatTemplates !== undefined;
  if (!isTemplated && system !== "") throw invalidField("system", "has no effect without a chat template");
  if (raw && before.length === 0) return { prompt, options: {} };
  const tokenizer = await runtime.tokenizer(model);
  if (isTemplated) {
    const systems = system === "" ? [] : [{ role: "system" as const, content: system }];
    const messages = [...systems, { role: "user" as const, content: prompt }];
    const { tokens } = await runtime.chatPrompt(messages, { model, signal, ...thinking });
    if (before.length === 0) return { messages, context: tokens };
    const all = [...before, ...withoutPrefix(tokens, tokenizer.frame.prefix)];
    return { prompt: all, options: {}, context: all };
  }
  const options = { maxTokens: Number.POSITIVE_INFINITY, ...(before.length > 0 ? { addSpecialTokens: false } : {}) };
  const { ids } = await encodeText(tokenizer, prompt, options);
  const all = [...before, ...ids];
  return { prompt: all, options: {}, context: all };
}

/** The tokens of a later turn: what a text begins with stands before the first turn. */
function withoutPrefix(tokens: readonly number[], prefix: readonly number[]): readonly number[] {
  return prefix.length > 0 && prefix.every((id, index) => tokens[index] === id) ? tokens.slice(prefix.length) : tokens;
}
