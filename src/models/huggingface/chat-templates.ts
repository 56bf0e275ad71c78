/** Reads the chat templates of a model: chat_template.jinja, chat_template.json, or `chat_template` in tokenizer_config.json. */
import { modelInvalid, unreadable } from "../../formats/format-errors.ts";
import { readText } from "../../platform/node/files.ts";
import { type Folder, displayNameIn, isFile, readJsonObject } from "../model-folder.ts";

const file = "chat_template.jinja";

/** The templates by name, the main one as "default"; undefined if the model has none. The file precedes the others, as in transformers. */
export async function readChatTemplates(
  folder: Folder,
  tokenizerConfig: Readonly<Record<string, unknown>>,
): Promise<Readonly<Record<string, string>> | undefined> {
  const { chat_template: stated } = tokenizerConfig;
  const named = namedTemplates(stated, displayNameIn(folder, "tokenizer_config.json"));
  const own = await readTemplateFile(folder);
  const all = own === undefined ? named : { ...named, default: own };
  return Object.keys(all).length === 0 ? undefined : all;
}

async function readTemplateFile(folder: Folder): Promise<string | undefined> {
  const shown = displayNameIn(folder, file);
  if (await isFile(`${folder.path}/${file}`, shown)) {
    return readText(`${folder.path}/${file}`).catch((error: unknown) => {
      throw unreadable(shown, error);
    });
  }
  const { chat_template: stated } = (await readJsonObject(folder, "chat_template.json")) ?? {};
  return namedTemplates(stated, displayNameIn(folder, "chat_template.json"))["default"];
}

/** A template, or a list of named ones. */
function namedTemplates(stated: unknown, shown: string): Readonly<Record<string, string>> {
  if (stated === undefined || stated === null) return {};
  if (typeof stated === "string") return { default: stated };
  const list: readonly unknown[] = Array.isArray(stated) ? stated : [stated];
  return Object.fromEntries(
    list.map((each) => {
      const { name, template } = (each ?? {}) as { readonly name?: unknown; readonly template?: unknown };
      if (typeof name === "string" && typeof template === "string") return [name, template] as const;
      throw modelInvalid(`${shown}: chat_template is neither a text nor a list of { name, template }`, "correct the file");
    }),
  );
}
