/** Embeddings of texts, one vector per text, as the routes of all protocols compute them. */
import type { Context } from "hono";
import type { EmbedResult } from "../../api/task-requests.ts";
import type { EmbedOptions } from "../../tasks/embedding/embed-options.ts";
import type { Env } from "../http/context.ts";
import type { ModelCallResult } from "../serving/calls.ts";
import type { Service } from "../serving/service.ts";
import { promptOfWord } from "./input-type.ts";
import { type WrittenKeepAlive, applyKeepAlive } from "./ollama/keep-alive.ts";
import { runTask } from "./run-task.ts";
import { refuseTokenVectors } from "./text-vectors.ts";
import { type TextInput, type TokenIdSource, toTexts } from "./token-input.ts";

/** Texts to embed. */
export interface EmbedCall {
  /** The model's name as the client wrote it; undefined: the default model. */
  readonly model: string | undefined;
  readonly inputs: readonly TextInput[];
  readonly options: EmbedOptions;
  /** Whose ids the inputs are that are token ids. Default: the model's own. */
  readonly source?: TokenIdSource;
  /** What the texts are for, as one of `useWords`, for which a model may have a prompt. Default: nothing is known. */
  readonly use?: string | undefined;
  /** How long the model stays in memory unused. Default: as it is set. */
  readonly keepAlive?: WrittenKeepAlive;
}

/** Embeds texts. Throws MODEL_UNSUPPORTED for a model with a vector per token. */
export async function embedTexts(
  service: Service,
  context: Context<Env>,
  { model, inputs, options, source = "own", use, keepAlive }: EmbedCall,
): Promise<ModelCallResult<EmbedResult>> {
  const { runtime } = service;
  const key = ["embed", inputs, options, use ?? null] as const;
  const outcome = await runTask(service, context, { model, texts: inputs.length, key }, async (on) => {
    const texts = await toTexts(inputs, () => runtime.tokenizer(on.model), source);
    return runtime.embed(texts, { ...options, ...promptOfWord(on.model.manifest, use), ...on });
  });
  refuseTokenVectors(outcome.result, outcome.model);
  await applyKeepAlive(service, context, outcome.resolved, keepAlive);
  return outcome;
}
