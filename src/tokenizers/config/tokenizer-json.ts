/** Reads and validates tokenizer.json, the file format of Hugging Face's tokenizers library. */
import { omitUndefined } from "../../contract/checked.ts";
import { InferyardError, getMessage } from "../../contract/errors.ts";
import { isObject } from "../../contract/shapes/shape.ts";
import { type ComponentConfig, isComponentConfig } from "./component-config.ts";
import { highestId, parseWithVocabulary } from "./parse-vocabulary.ts";
import { readText as readTextFile } from "../../platform/node/files.ts";

/** The parts of tokenizer.json that are used, with missing ones filled in. */
export interface TokenizerJson {
  /** The section `model` of the file; a `vocab` that is an object there is a Map of ids by token. */
  readonly model: Readonly<Record<string, unknown>>;
  readonly normalizer: ComponentConfig | null;
  readonly pre_tokenizer: ComponentConfig | null;
  readonly post_processor: ComponentConfig | null;
  readonly decoder: ComponentConfig | null;
  readonly added_tokens: readonly AddedToken[];
  /** Only `pad_id` is used: truncation and padding lengths in the file are settings of whoever saved it, not the model's. */
  readonly padding: { readonly pad_id?: unknown } | null;
}

/** `AddedToken` of the Rust library: a token that is matched in a text before the model sees it. */
export interface AddedToken {
  readonly id: number;
  readonly content: string;
  /** Whether `decode` skips it with `skipSpecialTokens`. */
  readonly special: boolean;
  /** Whether it matches only between word boundaries. */
  readonly singleWord: boolean;
  /** Whether it includes the white space before it. */
  readonly lstrip: boolean;
  /** Whether it includes the white space after it. */
  readonly rstrip: boolean;
  /** Whether it is matched in the normalized text instead of the original. */
  readonly normalized: boolean;
}

const remedy =
  'download tokenizer.json of this model again, or write it with Python: transformers.AutoTokenizer.from_pretrained("FOLDER").save_pretrained("FOLDER")';

/** A GGUF file has its own tokenizer. */
const ggufRemedy = "convert the model again with a current convert_hf_to_gguf.py of llama.cpp, or use another file of it";

/**
 * Creates a TOKENIZER_INVALID error. `displayName` is the path of the file as the user wrote it; `problem` completes the sentence that
 * starts with it. The error is returned, not thrown.
 */
export function tokenizerInvalid(displayName: string, problem: string, cause?: unknown): InferyardError {
  return new InferyardError("TOKENIZER_INVALID", `${displayName} ${problem}`, {
    remedy: displayName.endsWith(".gguf") ? ggufRemedy : remedy,
    data: { path: displayName },
    ...omitUndefined({ cause }),
  });
}

/**
 * Reads and validates a tokenizer.json. `displayName` is the path as the user wrote it. Throws TOKENIZER_INVALID if the file is
 * missing, is not JSON, has no model, or has a malformed component or added token.
 */
export async function readTokenizerJson(path: string, displayName: string): Promise<TokenizerJson> {
  return parseTokenizerJson(await readText(path, displayName), displayName);
}

/**
 * Parses and validates the text of a tokenizer.json. `displayName` is the path of the file as the user wrote it. Throws
 * TOKENIZER_INVALID if the text is not JSON, has no model, or has a malformed component or added token.
 */
export function parseTokenizerJson(text: string, displayName: string): TokenizerJson {
  const value = parse(text, displayName);
  if (!isObject(value)) throw tokenizerInvalid(displayName, "is not a tokenizer: it holds no JSON object");
  const { model, added_tokens: addedTokens = [], padding } = value;
  if (!isObject(model)) throw tokenizerInvalid(displayName, 'is not a tokenizer: it has no "model"');
  const checkedModel = checkModel(model, displayName);
  const added = Array.isArray(addedTokens) ? addedTokens.map(getAddedToken) : [undefined];
  if (!added.every((token) => token !== undefined)) {
    throw tokenizerInvalid(displayName, 'has broken "added_tokens": each needs a whole number "id" and a text "content"');
  }
  const step = (key: string): ComponentConfig | null => {
    const found = value[key] ?? null;
    if (found !== null && !isComponentConfig(found))
      throw tokenizerInvalid(displayName, `has a broken "${key}": it has no "type"`);
    if (found !== null) checkSteps(found, key, displayName);
    return found;
  };
  return {
    model: checkedModel,
    normalizer: step("normalizer"),
    pre_tokenizer: step("pre_tokenizer"),
    post_processor: step("post_processor"),
    decoder: step("decoder"),
    added_tokens: added,
    padding: isObject(padding) ? padding : null,
  };
}

/** Maximum number of components in one part, nested ones included. Published files have up to 10. */
const maxSteps = 64;
/** Maximum length of a string setting in UTF-16 code units. The character map of SentencePiece has about 300,000. */
const maxSettingUnits = 2 ** 23;

function checkSteps(whole: ComponentConfig, key: string, displayName: string): void {
  const pending: ComponentConfig[] = [whole];
  for (let count = 1; ; count++) {
    const step = pending.pop();
    if (step === undefined) return;
    if (count > maxSteps) throw tokenizerInvalid(displayName, `has more than ${maxSteps} steps in its "${key}"`);
    for (const [name, value] of Object.entries(step)) {
      if (typeof value === "string" && value.length > maxSettingUnits)
        throw tokenizerInvalid(
          displayName,
          `has a "${key}" with a "${name}" of ${value.length} characters, and may have ${maxSettingUnits}`,
        );
      if (Array.isArray(value)) pending.push(...value.slice(0, maxSteps + 1).filter(isComponentConfig));
    }
  }
}

async function readText(path: string, displayName: string): Promise<string> {
  try {
    return await readTextFile(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR")
      throw tokenizerInvalid(displayName, "is missing, and without it text cannot become tokens", error);
    if (code === "EISDIR") throw tokenizerInvalid(displayName, "is a folder, not a file", error);
    throw tokenizerInvalid(displayName, `cannot be read: ${getMessage(error)}`, error);
  }
}

function parse(text: string, displayName: string): unknown {
  if (text.trim() === "") throw tokenizerInvalid(displayName, "is empty");
  const parsed = parseWithVocabulary(text);
  if (parsed !== undefined) return parsed;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw tokenizerInvalid(displayName, `is not JSON: ${getMessage(error)}`, error);
  }
}

/**
 * Checks the vocabulary, the merges of BPE and the unknown token of WordPiece, which would otherwise fail later with a less clear error. Returns the model with its vocabulary as a
 * Map, unless it is a list.
 */
function checkModel(model: TokenizerJson["model"], displayName: string): TokenizerJson["model"] {
  const { vocab } = model;
  if (Array.isArray(vocab)) {
    const whole = vocab.every((entry) => Array.isArray(entry) && typeof entry[0] === "string" && typeof entry[1] === "number");
    if (!whole || vocab.length === 0)
      throw tokenizerInvalid(displayName, "has a broken vocabulary: each entry needs a text and a score");
    return model;
  }
  if (!isObject(vocab)) throw tokenizerInvalid(displayName, 'has a model without "vocab"');
  const vocabulary = vocab instanceof Map ? (vocab as ReadonlyMap<string, number>) : getVocabulary(vocab, displayName);
  if (vocabulary.size === 0) throw tokenizerInvalid(displayName, "has an empty vocabulary");
  if (model["type"] === "BPE" && !Array.isArray(model["merges"]))
    throw tokenizerInvalid(displayName, 'has a BPE model without "merges"');
  const unknown = model["unk_token"];
  if (
    (model["type"] === "WordPiece" || model["type"] === "WordLevel") &&
    !(typeof unknown === "string" && vocabulary.has(unknown))
  ) {
    throw tokenizerInvalid(displayName, `has a vocabulary without its own unknown token ${JSON.stringify(unknown ?? null)}`);
  }
  return { ...model, vocab: vocabulary };
}

function getVocabulary(ids: Readonly<Record<string, unknown>>, displayName: string): ReadonlyMap<string, number> {
  const vocabulary = new Map<string, number>();
  for (const [token, id] of Object.entries(ids)) {
    if (!isId(id)) throw tokenizerInvalid(displayName, "has a broken vocabulary: an id is not a whole number from 0 up");
    vocabulary.set(token, id);
  }
  return vocabulary;
}

function getAddedToken(value: unknown): AddedToken | undefined {
  return isObject(value) ? addedTokenFrom(value, value["id"]) : undefined;
}

/** Reads the settings of an added token; `isSpecial` is the default. Undefined if the id or the content is missing or invalid. */
export function addedTokenFrom(value: unknown, id: unknown, isSpecial = false): AddedToken | undefined {
  if (!isObject(value) || !isId(id) || typeof value["content"] !== "string" || value["content"] === "") return undefined;
  const flag = (name: string, otherwise = false): boolean => (typeof value[name] === "boolean" ? value[name] : otherwise);
  const special = flag("special", isSpecial);
  return {
    id,
    content: value["content"],
    special,
    singleWord: flag("single_word"),
    lstrip: flag("lstrip"),
    rstrip: flag("rstrip"),
    normalized: flag("normalized", !special),
  };
}

function isId(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) < highestId;
}
