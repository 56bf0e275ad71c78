/** Both engines of GGUF models under load and on damaged files. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createRuntime, InferyardError, type Runtime } from "inferyard";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { needsData, sharedData } from "../fixtures/shared-data.ts";
import { amount, onRequest } from "../fixtures/slow.ts";

const [skip, title] = needsData("GGUF models");
const tinyllm = `${sharedData}tinyllm/tinyllm.gguf`;
const folder = mkdtempSync(join(tmpdir(), "inferyard-gguf-engines-"));
afterAll(() => rmSync(folder, { recursive: true }));

const [skipPerplexity, perplexity] = onRequest("their perplexities of tinyllm, in each type that we write, agree within 0.5 %");

it.skipIf(skip || skipPerplexity)(perplexity, () => {
  const program = fileURLToPath(new URL("../../bench/quality/perplexity.mjs", import.meta.url));
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, "--json"], { encoding: "utf8", timeout: 200_000 });
  expect(status, stderr).toBe(0);
  const { models } = JSON.parse(stdout) as {
    readonly models: readonly { readonly file: string; readonly native: number; readonly llamacpp: number }[];
  };
  expect(models.map(({ file }) => file)).toContain("tinyllm-q4_0.gguf");
  for (const { native, llamacpp } of models) expect(Math.abs(native / llamacpp - 1)).toBeLessThan(0.005);
});

/** llama.cpp's threads wait for each other by spinning, so each engine gets one; it starts a process for each file. */
const engines = [
  { target: "native", files: amount(50, 8), texts: 32 },
  { target: "llamacpp", files: amount(12, 4), texts: amount(32, 12) },
] as const;

describe.skipIf(skip).each(engines)(`${title} on $target`, ({ target, files, texts }) => {
  let runtime: Runtime;
  beforeAll(async () => void (runtime = await createRuntime({ threads: 1 })));
  afterAll(() => runtime.dispose());

  it(`${texts} texts at once are those that each gets alone, and one that is stopped disturbs none`, async () => {
    const prompts = Array.from({ length: texts }, (_, index) => {
      const beginning = ["Once upon a time", "Tom and Lily", "The big red ball", "One day a dog"][index % 4] ?? "";
      return beginning + " was ".repeat(index % 7);
    });
    const write = async (index: number): Promise<string | undefined> => {
      const options = { model: tinyllm, target, maxNewTokens: 8 + ((index * 5) % 40), temperature: 0.8, seed: index + 1 };
      return (await runtime.generate(prompts[index] ?? "", options)).results[0]?.text;
    };
    const alone: (string | undefined)[] = [];
    for (const index of prompts.keys()) alone.push(await write(index));
    const controller = new AbortController();
    const options = { model: tinyllm, target, maxNewTokens: 100, ignoreEndTokens: true, signal: controller.signal };
    const stream = await runtime.generate("Stopped", { ...options, stream: true });
    const together = Promise.all([...prompts.keys()].map(write));
    const stopped = (async () => {
      for await (const event of stream) if (event.type === "text") controller.abort();
    })();
    await expect(stopped).rejects.toMatchObject({ code: "ABORTED" });
    expect(await together).toEqual(alone);
  });

  it(`${files} damaged files give an answer or a typed error, and the next model answers`, async () => {
    const names = ["tiny-llama-q8_0", "tiny-llama-256-q4_k", "tiny-llama-f32"];
    const whole = [...names.map((name) => `${sharedData}gguf-tiny-llama/${name}.gguf`), tinyllm].map((path) =>
      readFileSync(path),
    );
    let state = 1;
    const below = (limit: number): number => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return Math.floor((state / 2 ** 32) * limit);
    };
    const untyped: unknown[] = [];
    for (let index = 0; index < files; index += 1) {
      const bytes = Buffer.from(whole[index % whole.length] ?? Buffer.alloc(0));
      const range = below(5) > 0 ? 14_000 : bytes.length; // mostly in the header
      for (let count = 1 + below(8); count > 0; count -= 1) bytes[below(range)] = below(256);
      const path = join(folder, `${target}-${index}.gguf`);
      writeFileSync(path, below(10) === 0 ? bytes.subarray(0, below(bytes.length)) : bytes);
      await runtime.generate("Once", { model: path, target, maxNewTokens: 3 }).catch((error: unknown) => {
        if (!(error instanceof InferyardError)) untyped.push(error);
      });
      rmSync(path);
    }
    expect(untyped).toEqual([]);
    const { results } = await runtime.generate("Once upon a time", { model: tinyllm, target, maxNewTokens: 5, temperature: 0 });
    expect(results[0]?.text).toBe(", there was a little");
  });
});
