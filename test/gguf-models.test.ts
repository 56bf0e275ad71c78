/** Models from GGUF files on the engines that run them, held to values of PyTorch with the same weights. */
import { readFileSync } from "node:fs";
import type { Backend, LanguageModel } from "inferyard/backend";
import { native } from "inferyard/backends/native";
import { createRuntime } from "inferyard";
import { describe, expect, it } from "vitest";
import { readManifest } from "../src/models/index.ts";
import { needsData, sharedData } from "./shared-data.ts";

interface Item {
  readonly text: string;
  readonly input_ids: readonly number[];
  readonly greedy_12: readonly number[];
  readonly greedy_margin: number;
  readonly last_token_logits: { readonly data: string };
}

interface Goldens {
  readonly files: readonly { readonly file: string; readonly type: string; readonly items: readonly Item[] }[];
}

const folder = `${sharedData}gguf-tiny-llama`;
const [skip, title] = needsData("gguf-tiny-llama");
const { files } = skip ? { files: [] } : (JSON.parse(readFileSync(`${folder}/goldens.json`, "utf8")) as Goldens);

/** Largest difference from the logits, and the engines that quantise activations too, whose logits are compared by their angle. */
const tolerance = (type: string): number => (type === "F32" ? 1e-4 : 1e-3);

async function load(backend: Backend, file: string): Promise<LanguageModel> {
  const { variants } = await readManifest(`${folder}/${file}`);
  const [model] = variants;
  const loaded = await backend.loadLanguage?.({ ...model, path: `${folder}/${file}` } as never, { type: "cpu", index: 0 }, {});
  if (loaded === undefined) throw new Error(`${backend.name} has no language models`);
  return loaded;
}

function floats(base64: string): Float32Array {
  const bytes = Buffer.from(base64, "base64");
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
}

describe.skipIf(skip)(title, () => {
  it.each(files)("$file on native", async ({ file, type, items }) => {
    const model = await load(native(), file);
    try {
      for (const { input_ids: prompt, greedy_12: greedy, greedy_margin: margin, last_token_logits: golden } of items) {
        const sequence = await model.createSequence();
        let [logits = new Float32Array()] = await model.decode([{ sequence, tokens: prompt }]);
        const expected = floats(golden.data);
        expect(Math.max(...expected.map((value, index) => Math.abs(value - (logits[index] ?? Number.NaN))))).toBeLessThan(
          tolerance(type),
        );
        const tokens: number[] = [];
        for (let step = 0; step < greedy.length; step += 1) {
          tokens.push(logits.indexOf(Math.max(...logits)));
          [logits = new Float32Array()] = await model.decode([{ sequence, tokens: tokens.slice(-1) }]);
        }
        // Where the two highest logits are closer than the tolerance, either may come first.
        expect(margin > 2 * tolerance(type) ? tokens : greedy).toEqual(greedy);
        await model.releaseSequence(sequence);
      }
    } finally {
      await model.dispose();
    }
  });

  it("tinyllm writes English, the same each time", async () => {
    const runtime = await createRuntime();
    try {
      const texts: string[] = [];
      for (let time = 0; time < 2; time += 1) {
        const { results, target } = await runtime.generate("Once upon a time", {
          model: `${sharedData}tinyllm/tinyllm.gguf`,
          maxNewTokens: 40,
          temperature: 0,
        });
        expect(target).toBe("native:cpu");
        texts.push(results[0]?.text ?? "");
      }
      expect(texts[0]).toBe(
        ", there was a little girl named Lily. She loved to play outside in the park. One day, she saw a big, red ball.",
      );
      expect(texts[1]).toBe(texts[0]);
    } finally {
      await runtime.dispose();
    }
  });
});
