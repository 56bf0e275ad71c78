/** Ways to split text before byte-level BPE: token ids of llama.cpp, recorded by scripts/check-tokenizers/llamacpp/main.ts --write. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  digestOf,
  idsOf,
  splitNames,
  splitTexts,
  vocabularyMetadata,
  withSplit,
} from "../../../scripts/check-tokenizers/llamacpp/splits.ts";
import { needsData } from "../../../test/fixtures/shared-data.ts";
import { runsAll } from "../../../test/fixtures/slow.ts";

const [skip, title] = needsData("texts are split as by llama.cpp");
const goldens = JSON.parse(
  readFileSync(new URL("../../../scripts/check-tokenizers/llamacpp/goldens.json", import.meta.url), "utf8"),
) as Readonly<Record<string, string>>;
/** Of 300 texts that were recorded. */
const count = runsAll ? 300 : 60;
/** Making a tokenizer takes longer than the texts. */
const usual = ["", "default", "deepseek-v3", "lfm2", "glm4", "kimi-k2", "falcon", "qwen35", "gpt-4o", "tiny_aya"];
const names = runsAll ? splitNames : splitNames.filter((name) => usual.includes(name));

describe.skipIf(skip)(title, () => {
  const metadata = skip ? undefined : vocabularyMetadata();
  const texts = splitTexts(300).slice(0, count);

  it.each(names)("%s", async (name) => {
    expect(digestOf(idsOf(withSplit((await metadata)!, name), texts))).toBe(goldens[name]!.slice(0, 6 * count));
  });

  it("refuses a name that it does not know", async () => {
    const changed = withSplit((await metadata)!, "whitespace");
    expect(() => idsOf(changed, [])).toThrow('its text is split as "whitespace" (tokenizer.ggml.pre), which is not known');
  });
});
