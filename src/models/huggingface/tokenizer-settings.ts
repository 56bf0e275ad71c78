/**
 * Reads tokenizer_config.json together with the older files special_tokens_map.json and added_tokens.json, merged as `AutoTokenizer` of transformers
 * merges them (`PreTrainedTokenizerBase._from_pretrained` in 4.48 and 5.24): the older files count only where tokenizer_config.json has no
 * `added_tokens_decoder`.
 */
import { isObject } from "../../contract/shapes/shape.ts";
import { modelInvalid } from "../../formats/format-errors.ts";
import { type Folder, type JsonObject, displayNameIn, readJsonObject } from "../model-folder.ts";

/** The content of tokenizer_config.json and of the older files; empty if none of them exists. */
export async function readTokenizerSettings(folder: Folder): Promise<JsonObject> {
  const config = (await readJsonObject(folder, "tokenizer_config.json")) ?? {};
  if (isObject(config["added_tokens_decoder"])) return config;
  const named = (await readJsonObject(folder, "special_tokens_map.json")) ?? {};
  const roles = Object.fromEntries(Object.entries(named).map(([role, token]) => [role, asSpecial(token)]));
  const settings: JsonObject = { ...config, ...roles };
  const ids = await readJsonObject(folder, "added_tokens.json");
  if (ids === undefined) return settings;
  return { ...settings, added_tokens_decoder: getDecoder(ids, settings, displayNameIn(folder, "added_tokens.json")) };
}

/** A token of special_tokens_map.json, which is special whatever the file says. */
function asSpecial(token: unknown): unknown {
  return isObject(token) && typeof token["content"] === "string" ? { ...token, special: true } : token;
}

/** The ids by token of added_tokens.json in the form of `added_tokens_decoder`. */
function getDecoder(ids: JsonObject, settings: JsonObject, displayName: string): JsonObject {
  const special = new Set(Object.entries(settings).flatMap(([role, value]) => specialTexts(role, value)));
  return Object.fromEntries(
    Object.entries(ids).map(([content, id]) => {
      if (!Number.isInteger(id))
        throw modelInvalid(`${displayName} states no whole number for ${JSON.stringify(content)}`, "correct the file");
      const isSpecial = special.has(content);
      return [String(id), { content, special: isSpecial, normalized: !isSpecial }] as const;
    }),
  );
}

function specialTexts(role: string, value: unknown): readonly string[] {
  if (role.endsWith("_token")) return toText(value);
  return role.endsWith("_special_tokens") && Array.isArray(value) ? value.flatMap(toText) : [];
}

function toText(token: unknown): readonly string[] {
  const content = isObject(token) ? token["content"] : token;
  return typeof content === "string" ? [content] : [];
}
