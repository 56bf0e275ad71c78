/** tokenizer.json, the file of Hugging Face's tokenizers library: read, and refused with a sentence when it is not whole. */
import { InferyardError, messageOf } from "../../errors.ts";
import { type ComponentConfig, isComponentConfig } from "./component-config.ts";
import { readText as readTextFile } from "../../platform/node/files.ts";

/** The parts of tokenizer.json that are used; every one that a file leaves out is filled in. */
export interface TokenizerJson {
  readonly model: Readonly<Record<string, unknown>>;
  readonly normalizer: ComponentConfig | null;
  readonly pre_tokenizer: ComponentConfig | null;
  readonly post_processor: ComponentConfig | null;
  readonly decoder: ComponentConfig | null;
  readonly added_tokens: readonly AddedToken[];
  /** Only its pad token is used: the file's own truncation and padding lengths are what its last user set, not the model's. */
  readonly padding: { readonly pad_id?: unknown } | null;
}

/** A token beside the model's own vocabulary, or one of it that is found in a text before anything else. */
export interface AddedToken {
  readonly id: number;
  readonly content: string;
  /** Left out when decoding without special tokens. */
  readonly special: boolean;
  /** Found only where it is no part of a word. */
  readonly singleWord: boolean;
  /** Takes the white space before it along. */
  readonly lstrip: boolean;
  /** Takes the white space behind it along. */
  readonly rstrip: boolean;
  /** Looked for in normalized text, else in the text as it comes. */
  readonly normalized: boolean;
}

const remedy =
  'download tokenizer.json of this model again, or write it with Python: transformers.AutoTokenizer.from_pretrained("FOLDER").save_pretrained("FOLDER")';

/** Every way a tokenizer file can be wrong ends here. `shown` is the path as the user wrote it. */
export function tokenizerInvalid(shown: string, problem: string, cause?: unknown): InferyardError {
  return new InferyardError("TOKENIZER_INVALID", `${shown} ${problem}`, {
    remedy,
    data: { path: shown },
    ...(cause === undefined ? {} : { cause }),
  });
}

/** Reads and checks tokenizer.json; throws TOKENIZER_INVALID. */
export async function readTokenizerJson(path: string, shown: string): Promise<TokenizerJson> {
  return parseTokenizerJson(await readText(path, shown), shown);
}

/** The same for a file's text. */
export function parseTokenizerJson(text: string, shown: string): TokenizerJson {
  const value = parse(text, shown);
  if (!isObject(value)) throw tokenizerInvalid(shown, "is not a tokenizer: it holds no JSON object");
  const { model, added_tokens: addedTokens = [], padding } = value;
  if (!isObject(model)) throw tokenizerInvalid(shown, 'is not a tokenizer: it has no "model"');
  checkModel(model, shown);
  const added = Array.isArray(addedTokens) ? addedTokens.map(addedTokenOf) : [undefined];
  if (!added.every((token) => token !== undefined)) {
    throw tokenizerInvalid(shown, 'has broken "added_tokens": each needs a whole number "id" and a text "content"');
  }
  const step = (key: string): ComponentConfig | null => {
    const found = value[key] ?? null;
    if (found !== null && !isComponentConfig(found)) throw tokenizerInvalid(shown, `has a broken "${key}": it has no "type"`);
    if (found !== null) checkSteps(found, key, shown);
    return found;
  };
  return {
    model,
    normalizer: step("normalizer"),
    pre_tokenizer: step("pre_tokenizer"),
    post_processor: step("post_processor"),
    decoder: step("decoder"),
    added_tokens: added,
    padding: isObject(padding) ? padding : null,
  };
}

/** Steps of one part, nested ones included; published files have 10 at most. */
const maxSteps = 64;
/** Longest setting of a step in UTF-16 units: the character map of SentencePiece takes some 300,000. */
const maxSettingUnits = 2 ** 23;

function checkSteps(whole: ComponentConfig, key: string, shown: string): void {
  const pending: ComponentConfig[] = [whole];
  for (let count = 1; ; count++) {
    const step = pending.pop();
    if (step === undefined) return;
    if (count > maxSteps) throw tokenizerInvalid(shown, `has more than ${maxSteps} steps in its "${key}"`);
    for (const [name, value] of Object.entries(step)) {
      if (typeof value === "string" && value.length > maxSettingUnits)
        throw tokenizerInvalid(
          shown,
          `has a "${key}" with a "${name}" of ${value.length} characters, and may have ${maxSettingUnits}`,
        );
      if (Array.isArray(value)) pending.push(...value.slice(0, maxSteps + 1).filter(isComponentConfig));
    }
  }
}

async function readText(path: string, shown: string): Promise<string> {
  try {
    return await readTextFile(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR")
      throw tokenizerInvalid(shown, "is missing, and without it text cannot become tokens", error);
    if (code === "EISDIR") throw tokenizerInvalid(shown, "is a folder, not a file", error);
    throw tokenizerInvalid(shown, `cannot be read: ${messageOf(error)}`, error);
  }
}

function parse(text: string, shown: string): unknown {
  if (text.trim() === "") throw tokenizerInvalid(shown, "is empty");
  try {
    return JSON.parse(text);
  } catch (error) {
    throw tokenizerInvalid(shown, `is not JSON: ${messageOf(error)}`, error);
  }
}

/** What would fail later, and less clearly: the vocabulary, the merges of BPE, the unknown token of WordPiece. */
function checkModel(model: Readonly<Record<string, unknown>>, shown: string): void {
  const { vocab } = model;
  if (Array.isArray(vocab)) {
    const whole = vocab.every((entry) => Array.isArray(entry) && typeof entry[0] === "string" && typeof entry[1] === "number");
    if (!whole || vocab.length === 0)
      throw tokenizerInvalid(shown, "has a broken vocabulary: each entry needs a text and a score");
    return;
  }
  if (!isObject(vocab)) throw tokenizerInvalid(shown, 'has a model without "vocab"');
  const ids = Object.values(vocab);
  if (ids.length === 0) throw tokenizerInvalid(shown, "has an empty vocabulary");
  if (!ids.every(isId)) throw tokenizerInvalid(shown, "has a broken vocabulary: an id is not a whole number from 0 up");
  if (model["type"] === "BPE" && !Array.isArray(model["merges"]))
    throw tokenizerInvalid(shown, 'has a BPE model without "merges"');
  const unknown = model["unk_token"];
  if (
    (model["type"] === "WordPiece" || model["type"] === "WordLevel") &&
    !(typeof unknown === "string" && Object.hasOwn(vocab, unknown))
  ) {
    throw tokenizerInvalid(shown, `has a vocabulary without its own unknown token ${JSON.stringify(unknown ?? null)}`);
  }
}

function addedTokenOf(value: unknown): AddedToken | undefined {
  if (!isObject(value) || !isId(value["id"]) || typeof value["content"] !== "string" || value["content"] === "") return undefined;
  const flag = (name: string, otherwise = false): boolean => (typeof value[name] === "boolean" ? value[name] : otherwise);
  const special = flag("special");
  return {
    id: value["id"],
    content: value["content"],
    special,
    singleWord: flag("single_word"),
    lstrip: flag("lstrip"),
    rstrip: flag("rstrip"),
    normalized: flag("normalized", !special),
  };
}

/** Ids above this would make a table of tokens exhaust the memory. */
const highestId = 2 ** 26;

function isId(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) < highestId;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
