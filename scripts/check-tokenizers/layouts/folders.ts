/** Writes the folders of layouts, and answers texts with their tokenizers. */
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readManifest } from "../../../src/models/index.ts";
import { convertOffsets, loadTokenizer } from "../../../src/tokenizers/index.ts";
import { randomTexts } from "../random-texts.ts";
import type { Layout } from "./layouts.ts";

/** Ids, and offsets in code points. */
export type LayoutAnswer = readonly [ids: readonly number[], offsets: readonly number[]];

/** A file of weights, without which a folder holds no model. */
const noWeights = Buffer.concat([Buffer.from([2, 0, 0, 0, 0, 0, 0, 0]), Buffer.from("{}")]);

/** Writes the folder of a layout into `root`, and returns its path. */
export function writeLayout(root: string, { name, files }: Layout): string {
  const path = join(root, name);
  mkdirSync(path);
  for (const [file, content] of Object.entries({ ...files, "model.safetensors": noWeights }))
    writeFileSync(join(path, file), content);
  return path;
}

/** The texts of a layout. */
export function layoutTexts({ name, special, startsVisibly = false }: Layout, count: number): readonly string[] {
  const texts = randomTexts(`layout ${name}`, count, special);
  return startsVisibly ? texts.map((text) => text.replaceAll(/(?<=^|>)[\p{Cc}\p{Cf}]+/gu, "")) : texts;
}

/** The answers of the tokenizer of a folder. Each tenth text has the one before it as its pair, unless that is empty. */
export async function answersOf(
  path: string,
  texts: readonly string[],
  { onlyIds = false }: Pick<Layout, "onlyIds">,
): Promise<readonly LayoutAnswer[]> {
  const { text: settings } = await readManifest(path);
  if (settings === undefined) throw new Error(`${path} has no tokenizer`);
  const tokenizer = await loadTokenizer(settings);
  return texts.map((text, index) => {
    const before = texts[index - 1] ?? "";
    const second = index % 10 === 9 && before !== "" ? before : undefined;
    const encoded = tokenizer.encode(text, {
      maxTokens: Number.POSITIVE_INFINITY,
      ...(second === undefined ? {} : { pair: second }),
    });
    const { ids, offsets, sequenceIds } = encoded;
    const [inFirst, inSecond] = [text, second ?? text].map((one) => convertOffsets(offsets, one, "codepoints"));
    const own = sequenceIds.flatMap((sequence, token) =>
      Array.from(((sequence === 1 ? inSecond : inFirst) ?? []).slice(2 * token, 2 * token + 2)),
    );
    return [ids, onlyIds ? [] : own];
  });
}

/** Six hexadecimal digits for each answer. */
export function digestOf(answers: readonly LayoutAnswer[]): string {
  return answers.map((answer) => createHash("sha256").update(JSON.stringify(answer)).digest("hex").slice(0, 6)).join("");
}
