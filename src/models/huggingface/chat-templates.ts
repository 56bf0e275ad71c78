/**
 * Reads the chat templates of a model, in transformers' layout: chat_template.jinja with additional_chat_templates/NAME.jinja beside it, before that chat_template.json,
 * and first `chat_template` in tokenizer_config.json, a text or a list of named ones.
 */
import { modelInvalid, withReadErrors } from "../../formats/format-errors.ts";
import { listFolder, readText } from "../../platform/node/files.ts";
import { type Folder, displayNameIn, isFile, isJsonObject, readJsonObject, readStatus } from "../model-folder.ts";

/** The template for all that no other is for. */
export const mainTemplateFile = "chat_template.jinja";
/** Folder of the other templates. */
export const namedTemplatesFolder = "additional_chat_templates";
/** File names of named templates; the part before the ending is the name of the template. */
export const namedTemplateFile: RegExp = /^([\w.-]{1,100})\.jinja$/;

/** Named templates of one model. */
const maxNamedTemplates = 50;

type Templates = Readonly<Record<string, string>>;

/** The templates by name, the main one as "default"; undefined if the model has none. Newer forms precede older ones, as in transformers. */
export async function readChatTemplates(
  folder: Folder,
  tokenizerConfig: Readonly<Record<string, unknown>>,
): Promise<Templates | undefined> {
  const main = await readTemplate(folder, mainTemplateFile);
  const named = await readNamedTemplates(folder);
  const older = main === undefined ? await readOlderForms(folder, tokenizerConfig) : { default: main };
  const all = { ...older, ...named };
  return Object.keys(all).length === 0 ? undefined : all;
}

async function readOlderForms(folder: Folder, { chat_template: stated }: Readonly<Record<string, unknown>>): Promise<Templates> {
  const { chat_template: ofProcessor } = (await readJsonObject(folder, "chat_template.json")) ?? {};
  return {
    ...namedTemplates(stated, displayNameIn(folder, "tokenizer_config.json")),
    ...namedTemplates(ofProcessor, displayNameIn(folder, "chat_template.json")),
  };
}

async function readNamedTemplates(folder: Folder): Promise<Templates> {
  const [path, shown] = [`${folder.path}/${namedTemplatesFolder}`, displayNameIn(folder, namedTemplatesFolder)];
  if ((await readStatus(path, shown))?.isDirectory() !== true) return {};
  const entries = await withReadErrors(shown, () => listFolder(path));
  const names = entries.flatMap((entry) => namedTemplateFile.exec(entry.name)?.[1] ?? []).sort();
  if (names.length > maxNamedTemplates) {
    throw modelInvalid(
      `${shown} has ${names.length} templates, and ${maxNamedTemplates} are read`,
      "remove those that are not used",
    );
  }
  const templates: [string, string][] = [];
  for (const name of names) {
    const template = await readTemplate(folder, `${namedTemplatesFolder}/${name}.jinja`);
    if (template !== undefined) templates.push([name, template]);
  }
  return Object.fromEntries(templates);
}

/** The text of a template's file, or undefined if there is no such file. */
async function readTemplate(folder: Folder, file: string): Promise<string | undefined> {
  const shown = displayNameIn(folder, file);
  if (!(await isFile(`${folder.path}/${file}`, shown))) return undefined;
  return withReadErrors(shown, () => readText(`${folder.path}/${file}`));
}

/** A template, a list of `{ name, template }`, or an object of templates by name. */
function namedTemplates(stated: unknown, shown: string): Templates {
  if (stated === undefined || stated === null) return {};
  if (typeof stated === "string") return { default: stated };
  const byName = isJsonObject(stated) && !("template" in stated) ? Object.entries(stated) : undefined;
  const list: readonly unknown[] = Array.isArray(stated) ? stated : [stated];
  const entries = byName ?? list.map((each) => (isJsonObject(each) ? [each["name"] ?? "default", each["template"]] : []));
  return Object.fromEntries(
    entries.map(([name, template]) => {
      if (typeof name === "string" && typeof template === "string") return [name, template] as const;
      throw modelInvalid(`${shown}: chat_template is neither a text nor a list of { name, template }`, "correct the file");
    }),
  );
}
