/** Reads config_sentence_transformers.json: the prompts of a model, and how its vectors are compared. */
import { type Folder, type JsonObject, isJsonObject, readJsonObject, displayNameIn } from "../model-folder.ts";
import { modelInvalid } from "../../formats/format-errors.ts";

/** The prompts of a model and the other settings of config_sentence_transformers.json. */
export interface Prompts {
  /** Texts that are put before an input, by name ("query", "document"). */
  readonly prompts: Readonly<Record<string, string>>;
  /** Name of the prompt that is used if the caller names none. */
  readonly defaultPrompt?: string;
  /** `similarity_fn_name`: how vectors are compared. */
  readonly similarity?: string;
}

const promptsFile = "config_sentence_transformers.json";

/** The content of config_sentence_transformers.json, or an empty object if the file does not exist. Throws MODEL_INVALID if it is damaged. */
export async function readPromptsConfig(folder: Folder): Promise<JsonObject> {
  return (await readJsonObject(folder, promptsFile)) ?? {};
}

/**
 * Reads config_sentence_transformers.json of the folder; without that file, there are no prompts. Throws MODEL_INVALID if it is
 * damaged or its default prompt does not exist.
 */
export async function readConfigPrompts(folder: Folder): Promise<Prompts> {
  const file = promptsFile;
  const config = await readPromptsConfig(folder);
  const stated = config["prompts"] ?? {};
  if (!isJsonObject(stated))
    throw modelInvalid(
      `${displayNameIn(folder, file)} has "prompts" that are no object`,
      "download this file of the model again",
    );
  // null marks a prompt that the user is to define.
  const prompts = Object.fromEntries(
    Object.entries(stated).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
  const { default_prompt_name: defaultPrompt, similarity_fn_name: similarity } = config;
  const found = {
    prompts,
    ...(typeof defaultPrompt === "string" ? { defaultPrompt } : {}),
    ...(typeof similarity === "string" ? { similarity } : {}),
  };
  return checkDefaultPrompt(found, displayNameIn(folder, file));
}

/** Returns `prompts`. Throws MODEL_INVALID unless the default prompt is one of the prompts; `displayName` is the file that names it. */
export function checkDefaultPrompt(prompts: Prompts, displayName: string): Prompts {
  const { defaultPrompt } = prompts;
  if (defaultPrompt === undefined || Object.hasOwn(prompts.prompts, defaultPrompt)) return prompts;
  const known = Object.keys(prompts.prompts);
  throw modelInvalid(
    `${displayName} names the default prompt "${defaultPrompt}", and there is no prompt of that name`,
    known.length === 0 ? "add the prompt, or take the default out" : `name one of ${known.join(", ")}, or take the default out`,
  );
}
