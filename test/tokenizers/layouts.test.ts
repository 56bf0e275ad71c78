/**
 * Tokenizers without tokenizer.json, and those whose tokens are in several files: ids and offsets of AutoTokenizer (transformers 5.24), recorded by
 * scripts/check-tokenizers/layouts/main.ts --write.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { answersOf, digestOf, layoutTexts, writeLayout } from "../../scripts/check-tokenizers/layouts/folders.ts";
import { layouts } from "../../scripts/check-tokenizers/layouts/layouts.ts";
import { sentencePieceBytes } from "../../scripts/check-tokenizers/layouts/sentencepiece-bytes.ts";
import { readManifest } from "../../src/models/index.ts";
import { loadTokenizer } from "../../src/tokenizers/index.ts";
import { needsData } from "../fixtures/shared-data.ts";
import { runsAll } from "../fixtures/slow.ts";

const [skip, name] = needsData("ids and offsets of transformers, from every layout");
const goldens = JSON.parse(
  readFileSync(new URL("../../scripts/check-tokenizers/layouts/goldens.json", import.meta.url), "utf8"),
) as Readonly<Record<string, string>>;
/** Texts of each layout, of 300 that were recorded. */
const count = runsAll ? 300 : 60;

describe.skipIf(skip)(name, () => {
  const root = mkdtempSync(join(tmpdir(), "layouts-"));
  afterAll(() => rmSync(root, { recursive: true }));
  const all = layouts();

  it.each(all)("$name", async (layout) => {
    const path = writeLayout(root, layout);
    const texts = layoutTexts(layout, 300).slice(0, count);
    expect(digestOf(await answersOf(path, texts, layout))).toBe(goldens[layout.name]!.slice(0, 6 * count));
  });

  it("recorded each", () => {
    expect(Object.keys(goldens)).toEqual(all.map((layout) => layout.name));
  });

  it.each([
    [
      "a class that is not known",
      { tokenizer_class: "JumanppTokenizer" },
      "the tokenizer class JumanppTokenizer is not read from this file; known are LlamaTokenizer, GemmaTokenizer, T5",
    ],
    ["a class of another algorithm", { tokenizer_class: "T5Tokenizer" }, "it is a bpe model, which T5Tokenizer does not read"],
  ])("refuses %s by name", async (what, config, message) => {
    const bytes = sentencePieceBytes({
      pieces: [
        ["<unk>", 0, 2],
        ["a", -1, 1],
      ],
      algorithm: 2,
    });
    const files = { "config.json": "{}", "tokenizer_config.json": JSON.stringify(config), "tokenizer.model": bytes };
    const { text } = await readManifest(writeLayout(root, { name: what, files, special: [] }));
    await expect(loadTokenizer(text!)).rejects.toThrow(message);
  });

  it("refuses damaged files as TOKENIZER_INVALID", async () => {
    const whole = sentencePieceBytes({
      pieces: [
        ["<unk>", 0, 2],
        ["abc", -1, 1],
      ],
      algorithm: 2,
    });
    const path = writeLayout(root, { name: "damaged", files: { "config.json": "{}", "tokenizer.model": "" }, special: [] });
    const { text } = await readManifest(path);
    const codes = new Set<unknown>();
    for (let length = 0; length < whole.length - 1; length++) {
      writeFileSync(join(path, "tokenizer.model"), whole.subarray(0, length));
      await loadTokenizer(text!).catch((error: { readonly code?: unknown }) => codes.add(error.code));
    }
    expect([...codes]).toEqual(["TOKENIZER_INVALID"]);
    writeFileSync(join(path, "tokenizer.model"), "no model");
    await expect(loadTokenizer(text!)).rejects.toMatchObject({ code: "TOKENIZER_INVALID" });
  });
});
