/** config_sentence_transformers.json: texts a model wants in front of queries, documents and others, and how its vectors are compared. */
import { readLateInteraction } from "./late-interaction.ts";
import type { LateInteraction } from "../manifest.ts";
import { type Folder, isJsonObject, modelInvalid, readJsonObject, shownIn } from "../model-folder.ts";

export interface Prompts {
  readonly prompts: Readonly<Record<string, string>>;
  readonly defaultPrompt?: string;
  readonly similarity?: string;
  readonly lateInteraction?: LateInteraction;
}

export async function readPrompts(folder: Folder): Promise<Prompts> {
  const file = "config_sentence_transformers.json";
  const config = (await readJsonObject(folder, file)) ?? {};
  const stated = config["prompts"] ?? {};
  if (!isJsonObject(stated))
    throw modelInvalid(`${shownIn(folder, file)} has "prompts" that are no object`, "download this file of the model again");
  // null is a name that was left for the user to fill.
  const prompts = Object.fromEntries(
    Object.entries(stated).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
  const { default_prompt_name: defaultPrompt, similarity_fn_name: similarity } = config;
  const lateInteraction = await readLateInteraction(folder, config);
  const found = {
    prompts,
    ...(typeof defaultPrompt === "string" ? { defaultPrompt } : {}),
    ...(typeof similarity === "string" ? { similarity } : {}),
    ...(lateInteraction === undefined ? {} : { lateInteraction }),
  };
  return checkDefaultPrompt(found, shownIn(folder, file));
}

/** The default must be one of the prompts. `shown` is the file that states it. */
export function checkDefaultPrompt(prompts: Prompts, shown: string): Prompts {
  const { defaultPrompt } = prompts;
  if (defaultPrompt === undefined || Object.hasOwn(prompts.prompts, defaultPrompt)) return prompts;
  const known = Object.keys(prompts.prompts);
  throw modelInvalid(
    `${shown} names the default prompt "${defaultPrompt}", and there is no prompt of that name`,
    known.length === 0 ? "add the prompt, or take the default out" : `name one of ${known.join(", ")}, or take the default out`,
  );
}
