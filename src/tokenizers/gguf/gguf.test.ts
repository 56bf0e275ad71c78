import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { needsData, sharedData } from "../../../test/fixtures/shared-data.ts";
import { loadTokenizer, type Tokenizer } from "../index.ts";

async function tokenizerOf(path: string): Promise<Tokenizer> {
  return await loadTokenizer({
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
}

const [skip, name] = needsData("vocabularies of llama.cpp");

describe.skipIf(skip)(name, () => {
  it.each(["llama-spm", "gpt-2", "bert-bge", "phi-3"])("gives the tokens of llama.cpp for %s", async (vocabulary) => {
    const path = `${sharedData}gguf-vocab/ggml-vocab-${vocabulary}.gguf`;
    const tokenizer = await tokenizerOf(path);
    const separator = "\n__ggml_vocab_test__\n";
    const input = await readFile(`${path}.inp`, "utf8");
    const texts = (input.endsWith(separator) ? input.slice(0, -separator.length) : input).split(separator);
    const lines = (await readFile(`${path}.out`, "utf8")).replace(/\n$/, "").split("\n");
    expect(texts).toHaveLength(lines.length);
    for (const [index, text] of texts.entries()) {
      const expected = (lines[index] ?? "").split(" ").filter(Boolean).map(Number);
      expect([...tokenizer.encode(text, { addSpecialTokens: false }).ids], JSON.stringify(text)).toEqual(expected);
    }
  });

  it("gives the tokens and texts of transformers for gguf-tiny-llama", async () => {
    const folder = `${sharedData}gguf-tiny-llama`;
    interface Probe {
      readonly text: string;
      readonly input_ids: readonly number[];
      readonly decoded_skip_special: string;
    }
    const { tokenizer_probes: probes } = JSON.parse(await readFile(`${folder}/goldens.json`, "utf8")) as {
      tokenizer_probes: readonly Probe[];
    };
    const tokenizer = await tokenizerOf(`${folder}/tiny-llama-f32.gguf`);
    for (const { text, input_ids: ids, decoded_skip_special: decoded } of probes) {
      expect([...tokenizer.encode(text).ids], JSON.stringify(text)).toEqual(ids);
      expect(tokenizer.decode(ids, { skipSpecialTokens: true })).toBe(decoded);
    }
  });
});
