/** One vocabulary of llama.cpp whose texts are split in every known way. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { GgufValue } from "../../../src/formats/gguf/gguf-metadata.ts";
import { readGguf } from "../../../src/formats/gguf/read-gguf.ts";
import { getPreTokenization, preTokenizerNames } from "../../../src/tokenizers/gguf/pre-tokenizers.ts";
import { toTokenizerJson } from "../../../src/tokenizers/gguf/tokenizer-json.ts";
import { TextTokenizer } from "../../../src/tokenizers/text-tokenizer.ts";
import { randomTexts } from "../random-texts.ts";

const path = fileURLToPath(new URL("../../../../shared/data/gguf-vocab/ggml-vocab-gpt-2.gguf", import.meta.url));

/** Names of `tokenizer.ggml.pre`: one of each way, and some that share it. The empty one stands for a file that states none. */
export const splitNames: readonly string[] = existsSync(path) ? ["", ...distinctNames()] : [];

function distinctNames(): readonly string[] {
  const ways = new Map(preTokenizerNames.toReversed().map((name) => [JSON.stringify(getPreTokenization(name)), name]));
  return [...new Set([...ways.values(), "lfm2", "glm4", "exaone4"])];
}

/** The metadata of the file as it is. */
export async function vocabularyMetadata(): Promise<ReadonlyMap<string, GgufValue>> {
  return (await readGguf(path, path, "everything")).metadata;
}

/** The metadata with a way to split text. */
export function withSplit(metadata: ReadonlyMap<string, GgufValue>, name: string): ReadonlyMap<string, GgufValue> {
  const changed = new Map(metadata);
  if (name === "") changed.delete("tokenizer.ggml.pre");
  else changed.set("tokenizer.ggml.pre", { type: "string", value: name, bytes: name.length });
  return changed;
}

/** Texts, the same for all names, with numbers and cases that tell the ways apart. */
export function splitTexts(count: number): readonly string[] {
  const special = [
    "1234567",
    " 12",
    "3.14",
    "HelloWorld",
    "iPhone's",
    "DON'T",
    "(x)",
    "//\n",
    "  \n\n ",
    "a_b",
    "漢字かな",
    "가나다",
    "é\u0301",
    "१२३४",
  ];
  return randomTexts("splits of llama.cpp", count, special);
}

/** Our token ids of texts. */
export function idsOf(metadata: ReadonlyMap<string, GgufValue>, texts: readonly string[]): readonly (readonly number[])[] {
  const tokenizer = new TextTokenizer(toTokenizerJson(metadata), {
    tokenizerPath: path,
    tokenizerShown: path,
    tokenizerFormat: "gguf",
    tokenizerConfig: {},
    specialTokens: true,
    dropUnknown: false,
    lowercase: false,
    poolPrompt: true,
    normalize: false,
    prompts: {},
  });
  return texts.map((text) => tokenizer.encode(text, { addSpecialTokens: false }).ids);
}

/** Six hexadecimal digits for each text. */
export function digestOf(rows: readonly (readonly number[])[]): string {
  return rows.map((ids) => createHash("sha256").update(ids.join(" ")).digest("hex").slice(0, 6)).join("");
}
