/** Embeddings of texts and pictures, one vector each, as the routes of all protocols compute them. */
import type { Context } from "hono";
import { embedsPictures } from "../../api/encoder-tasks.ts";
import type { EmbedResult } from "../../api/task-requests.ts";
import type { EmbedOptions } from "../../tasks/embedding/embed-options.ts";
import type { Env } from "../http/context.ts";
import type { ModelCallResult } from "../serving/calls.ts";
import type { Service } from "../serving/service.ts";
import { promptOfWord } from "./input-type.ts";
import type { PictureInput } from "./media/content-parts.ts";
import { embedInputs } from "./media/embed-inputs.ts";
import { type WrittenKeepAlive, applyKeepAlive } from "./ollama/keep-alive.ts";
import { runTask } from "./run-task.ts";
import { refuseTokenVectors } from "./text-vectors.ts";
import { type TextInput, type TokenIdSource, toTexts } from "./token-input.ts";

/** Texts and pictures to embed. */
export interface EmbedCall {
  /** The model's name as the client wrote it; undefined: the default model. */
  readonly model: string | undefined;
  readonly inputs: readonly (TextInput | PictureInput)[];
  readonly options: EmbedOptions;
  /** Whose ids the inputs are that are token ids. Default: the model's own. */
  readonly source?: TokenIdSource;
  /** What the texts are for, as one of `useWords`, for which a model may have a prompt. Default: nothing is known. */
  readonly use?: string | undefined;
  /** How long the model stays in memory unused. Default: as it is set. */
  readonly keepAlive?: WrittenKeepAlive;
}

/**
 * Embeds texts, or texts and pictures in one space. Throws MODEL_UNSUPPORTED for a model with a vector per token, and for pictures where the model embeds texts
 * alone.
 */
export async function embedTexts(
  service: Service,
  context: Context<Env>,
  { model, inputs, options, source = "own", use, keepAlive }: EmbedCall,
): Promise<ModelCallResult<EmbedResult>> {
  const { runtime } = service;
  const texts = inputs.flatMap((input) => (isPicture(input) ? [] : [input]));
  const hasPictures = texts.length < inputs.length;
  // Pictures are no parts of a key: one of equal pictures would be a copy of its bytes for every call that is kept.
  const key = hasPictures ? {} : { key: ["embed", inputs, options, use ?? null] as const };
  const outcome = await runTask(service, context, { model, texts: inputs.length, ...key }, async (on): Promise<EmbedResult> => {
    const read = await toTexts(texts, () => runtime.tokenizer(on.model), source);
    if (!hasPictures && !embedsPictures(on.model.manifest))
      return runtime.embed(read, { ...options, ...promptOfWord(on.model.manifest, use), ...on });
    const rest = read.values();
    return embedInputs(
      service,
      on,
      inputs.map((input) => (isPicture(input) ? input : (rest.next().value ?? ""))),
      options,
    );
  });
  refuseTokenVectors(outcome.result, outcome.model);
  await applyKeepAlive(service, context, outcome.resolved, keepAlive);
  return outcome;
}

function isPicture(input: TextInput | PictureInput): input is PictureInput {
  return typeof input === "object" && "image" in input;
}
