/** Models whose safetensors weights are split over several files: the same texts, vectors and checks as from one file. */
import { cpSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRuntime } from "inferyard";
import { inspectModel } from "inferyard/inspect";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Tensor } from "../../src/contract/tensor.ts";
import { readManifest } from "../../src/models/index.ts";
import { readSafetensorsHeader, readSafetensorsTensor } from "../../src/formats/safetensors/read-safetensors.ts";
import { writeSafetensors } from "../../src/formats/safetensors/write-safetensors.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";

const [skip, title] = needsData("weights in several files");
const root = mkdtempSync(join(tmpdir(), "inferyard-sharded-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** A copy of a model with its weights in three files, as save_pretrained with a maximum size of files writes it. */
async function split(name: string): Promise<string> {
  const folder = join(root, name);
  cpSync(`${sharedData}${name}`, folder, { recursive: true, filter: (path) => !/\.onnx|model\.safetensors$|goldens/.test(path) });
  const header = await readSafetensorsHeader(`${sharedData}${name}/model.safetensors`);
  const parts: Record<string, Tensor>[] = [{}, {}, {}];
  const weightMap: Record<string, string> = {};
  const fileOf = (part: number): string => `model-0000${part + 1}-of-00003.safetensors`;
  for (const [index, tensor] of [...header.tensors.keys()].entries()) {
    const part = Math.floor((index * parts.length) / header.tensors.size);
    parts[part]![tensor] = await readSafetensorsTensor(header, tensor);
    weightMap[tensor] = fileOf(part);
  }
  for (const [part, tensors] of parts.entries()) await writeSafetensors(join(folder, fileOf(part)), tensors, { format: "pt" });
  writeFileSync(join(folder, "model.safetensors.index.json"), JSON.stringify({ metadata: {}, weight_map: weightMap }));
  return folder;
}

describe.skipIf(skip)(title, () => {
  let llama: string;
  beforeAll(async () => {
    llama = await split("tiny-random-llama");
  });

  it("give the text that one file gives, in a process and inline", async () => {
    const prompt = [1, 5, 9, 30];
    for (const host of ["inline", "process"] as const) {
      await using runtime = await createRuntime({ target: "native", host, threads: 1 });
      const tokensOf = async (model: string): Promise<readonly number[]> =>
        (await runtime.generate(prompt, { model, maxNewTokens: 12 })).results[0]!.tokens;
      expect(await tokensOf(llama)).toEqual(await tokensOf(`${sharedData}tiny-random-llama/model.safetensors`));
      expect(await tokensOf(join(llama, "model.safetensors.index.json"))).toEqual(await tokensOf(llama));
    }
  });

  it("give the vectors that one file gives", async () => {
    const bert = await split("tiny-random-bert");
    await using runtime = await createRuntime({ target: "native", host: "inline", threads: 1 });
    const vectorOf = async (model: string): Promise<readonly number[]> => [
      ...(await runtime.embed("two words", { model, pooling: "mean" })).embeddings[0]!,
    ];
    expect(await vectorOf(bert)).toEqual(await vectorOf(`${sharedData}tiny-random-bert/model.safetensors`));
  });

  it("are one variant with the bytes of all files, and are inspected as one", async () => {
    const { variants } = await readManifest(llama);
    expect(variants.map(({ path, format, name }) => ({ path, format, name }))).toEqual([
      { path: join(llama, "model.safetensors.index.json"), format: "safetensors", name: "fp32" },
    ]);
    const { files } = await inspectModel(llama);
    const whole = await inspectModel(`${sharedData}tiny-random-llama/model.safetensors`);
    expect(files[0]).toMatchObject({ format: "safetensors", parameters: (whole.files[0] as { parameters: number }).parameters });
    expect(files[0]!.bytes).toBe(variants[0]!.bytes);
  });

  it("are refused with the name of the part that is cut off or missing", async () => {
    const part = "model-00002-of-00003.safetensors";
    const cut = join(root, "cut");
    cpSync(llama, cut, { recursive: true });
    truncateSync(join(cut, part), 100);
    await expect(readManifest(cut)).rejects.toMatchObject({
      code: "MODEL_INVALID",
      message: expect.stringContaining(`cut/${part}`),
    });
    rmSync(join(cut, part));
    await expect(readManifest(cut)).rejects.toMatchObject({ code: "MODEL_INVALID", remedy: expect.stringContaining("download") });
  });
});
