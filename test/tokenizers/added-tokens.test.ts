/** Tokens that tokenizer.json lacks and the files beside it have. Expected ids: AutoTokenizer of transformers 5.24 on the same folders. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { needsData, sharedData } from "../fixtures/shared-data.ts";
import { readManifest } from "../../src/models/index.ts";
import { loadTokenizer } from "../../src/tokenizers/index.ts";

interface Report {
  readonly cli: Readonly<Record<string, readonly string[]>>;
}
type Expected = Readonly<Record<string, { readonly "json.results.0.ids": readonly number[] }>>;

const [skip, name] = needsData("the report added-tokens-decoder");

describe.skipIf(skip)(name, () => {
  const folder = `${sharedData}reports/added-tokens-decoder`;
  const read = (file: string): unknown => (skip ? { cli: {} } : JSON.parse(readFileSync(`${folder}/${file}`, "utf8")));
  const { cli } = read("input.json") as Report;
  const expected = read("expected.json") as Expected;

  it.each(Object.entries(cli))("%s", async (which, words) => {
    const path = words[words.indexOf("--model") + 1]!.replace("$DIR", folder);
    const { text } = await readManifest(path);
    const tokenizer = await loadTokenizer(text!);
    expect(tokenizer.encode(words.at(-1)!).ids).toEqual(expected[which]!["json.results.0.ids"]);
  });
});
