/** One model, written in four ways, gives the same vectors to the last bit: a real model on a real engine. */
import { createHash } from "node:crypto";
import { cp, mkdir, mkdtemp, readFile, readdir, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Runtime, createRuntime } from "inferyard";
import { pack } from "../../src/models/aimod/pack.ts";
import { writePooledBert } from "../fixtures/models/pooled-bert.ts";
import { inferyard } from "../fixtures/processes/command-line.ts";
import { miniLmGoldens, needsData, sharedData, worst } from "../fixtures/shared-data.ts";

const miniLm = `${sharedData}all-MiniLM-L6-v2`;
const [skip, name] = needsData("all-MiniLM-L6-v2 in four ways");

/** What MiniLM is without its other weights. */
const files = [
  "1_Pooling/config.json",
  "config.json",
  "config_sentence_transformers.json",
  "modules.json",
  "onnx/model.onnx",
  "sentence_bert_config.json",
  "tokenizer.json",
  "tokenizer_config.json",
];

/** The bytes of each vector. */
function bits(vectors: readonly Float32Array[]): string[] {
  return vectors.map(({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength).toString("base64"));
}

describe.skipIf(skip)(name, async () => {
  // Every eighth: short and long, of many scripts.
  const goldens = skip ? [] : miniLmGoldens().filter((_golden, index) => index % 8 === 0);
  const texts = goldens.map(({ text }) => text);
  let root = "";
  let runtime: Runtime;
  let reference: readonly Float32Array[] = [];

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), "inferyard-manifests-"));
    process.env["INFERYARD_HOME"] = join(root, "home");
    runtime = await createRuntime({ host: "inline", threads: 1 });
    reference = await vectors(miniLm);
  });
  afterAll(async () => {
    await runtime.dispose();
    delete process.env["INFERYARD_HOME"];
    await rm(root, { recursive: true });
  });

  async function vectors(model: string, options: object = {}): Promise<readonly Float32Array[]> {
    const { embeddings, target } = await runtime.embed(texts, { model, target: "onnx:cpu", ...options });
    expect(target).toBe("onnx:cpu");
    await runtime.unloadIdle();
    return embeddings;
  }

  /** A folder of links; `flat` as Termite's are, with no subfolders. */
  async function linked(folder: string, names: readonly string[], flat = false): Promise<string> {
    const path = join(root, folder);
    for (const file of names) {
      const place = join(path, flat ? (file.split("/").at(-1) ?? file) : file);
      await mkdir(join(place, ".."), { recursive: true });
      await symlink(join(miniLm, file), place);
    }
    return path;
  }

  async function termite(folder: string, names: readonly string[]): Promise<string> {
    const path = await linked(folder, names, true);
    const stated = (await readdir(path)).map(async (file) => {
      const digest = createHash("sha256")
        .update(await readFile(join(path, file)))
        .digest("hex");
      return { name: file, digest: `sha256:${digest}`, size: (await stat(join(path, file))).size };
    });
    const manifest = {
      schemaVersion: 2,
      name: "all-MiniLM-L6-v2",
      owner: "sentence-transformers",
      type: "embedder",
      backends: ["onnx"],
    };
    await writeFile(join(path, "model_manifest.json"), JSON.stringify({ ...manifest, files: await Promise.all(stated) }));
    return path;
  }

  it("as a Hugging Face folder, which gives the reference's vectors", () => {
    expect(reference).toHaveLength(goldens.length);
    expect(goldens.length).toBeGreaterThan(4);
    for (const [index, { normalized }] of goldens.entries()) expect(worst(reference[index]!, normalized)).toBeLessThan(1e-5);
  });

  it("as a Termite folder", async () => {
    const folder = await termite(
      "termite",
      files.filter((file) => !file.startsWith("1_Pooling")),
    );
    // Termite's folders have lost the module that says so.
    await expect(vectors(folder)).rejects.toMatchObject({ code: "POOLING_UNKNOWN" });
    expect(bits(await vectors(folder, { pooling: "mean" }))).toEqual(bits(reference));
    await mkdir(join(folder, "1_Pooling"));
    await symlink(join(miniLm, "1_Pooling/config.json"), join(folder, "1_Pooling/config.json"));
    expect(bits(await vectors(folder))).toEqual(bits(reference));
  });

  it("as a path straight to the .onnx beside its tokenizer", async () => {
    expect(bits(await vectors(join(miniLm, "onnx/model.onnx")))).toEqual(bits(reference));
    const folder = await linked(
      "beside",
      files.filter((file) => file !== "onnx/model.onnx"),
    );
    await symlink(join(miniLm, "onnx/model.onnx"), join(folder, "any-name.onnx"));
    expect(bits(await vectors(join(folder, "any-name.onnx")))).toEqual(bits(reference));
  });

  it("as a package made by pack: a small model, test/cli/unpacking.long.test.ts packs this one", async () => {
    const small = join(root, "small");
    writePooledBert(small);
    const file = join(root, "small.aimod");
    await pack(small, { output: file });
    expect(bits(await vectors(file))).toEqual(bits(await vectors(small)));
  });

  it("without a tokenizer: refused for text, served for tensors", async () => {
    const folder = join(root, "bare");
    await mkdir(folder);
    await symlink(join(miniLm, "onnx/model.onnx"), join(folder, "model.onnx"));
    const model = join(folder, "model.onnx");
    await expect(vectors(model)).rejects.toMatchObject({
      code: "MODEL_UNSUPPORTED",
      message: "model.onnx has no tokenizer, so it cannot take text",
    });
    const handle = await runtime.load(model, { target: "onnx:cpu" });
    const { inputIds } = goldens[0]!;
    const tensor = (fill: (index: number) => number) => {
      return {
        dataType: "int64" as const,
        shape: [1, inputIds.length],
        data: BigInt64Array.from(inputIds, (_, index) => BigInt(fill(index))),
      };
    };
    const outputs = await handle.run({
      input_ids: tensor((index) => inputIds[index]!),
      attention_mask: tensor(() => 1),
      token_type_ids: tensor(() => 0),
    });
    expect(outputs["last_hidden_state"]?.shape).toEqual([1, inputIds.length, 384]);
    await handle.dispose();
  });
});

const [skipLanguage, languageName] = needsData("a language model in a folder of Kapsl");

describe.skipIf(skipLanguage)(languageName, () => {
  let folder = "";
  beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "inferyard-llm-"))));
  afterAll(() => rm(folder, { recursive: true }));

  /** A copy of a model with a metadata.json that states these fields. */
  async function packaged(model: string, stated: object): Promise<string> {
    const copy = await mkdtemp(join(folder, "model-"));
    await cp(`${sharedData}${model}`, copy, { recursive: true });
    const json = { project_name: "writer", version: "1", created_at: "now", ...stated };
    await writeFile(join(copy, "metadata.json"), JSON.stringify(json));
    return copy;
  }

  it.each([
    ["the framework llm", "tiny-random-gpt2", { framework: "llm", model_file: "onnx/model.onnx" }],
    ["the task generate", "tiny-random-gpt2", { framework: "onnx", task: "generate", model_file: "onnx/model.onnx" }],
    ["weights of safetensors", "tiny-random-gpt2", { framework: "native", task: "generate", model_file: "model.safetensors" }],
  ])("%s writes what the same folder writes without it", async (_what, model, stated) => {
    const words = ["generate", "--max-new-tokens", "6", "--json", "Once upon"];
    const texts = [];
    for (const reference of [`${sharedData}${model}`, await packaged(model, stated)]) {
      const { stdout, stderr } = await inferyard([...words, "--model", reference]);
      expect(stderr).not.toContain("MODEL_UNSUPPORTED");
      texts.push((JSON.parse(stdout) as { results: readonly { text: string }[] }).results[0]?.text);
    }
    expect(texts[1]).toBe(texts[0]);
  });

  it("from one text to another, where the files say so", async () => {
    const json = await packaged("tiny-random-t5", { framework: "llm", model_file: "onnx/decoder_model_merged.onnx" });
    const { stdout } = await inferyard(["explain", json]);
    expect(stdout).toMatch(/^writer {3}text2text-generation/);
  });

  it("model_file is what runs, beside weights of other formats", async () => {
    const mixed = await packaged("tiny-random-gpt2", { framework: "gguf", model_file: "q.gguf" });
    await cp(`${sharedData}gguf-tiny-llama/tiny-llama-q8_0.gguf`, join(mixed, "q.gguf"));
    const { stdout } = await inferyard(["explain", mixed, "--json"]);
    const { candidates } = JSON.parse(stdout) as { candidates: readonly { verdict: string; reason: string }[] };
    expect(candidates.find(({ verdict }) => verdict === "would-run")?.reason).toMatch(/, q$/);
  });
});
