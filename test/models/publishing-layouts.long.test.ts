/** Folders as people publish them: which class of a model they are built as, and which of their files is run. One process, models of a few kilobytes. */
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createRuntime, type Runtime } from "inferyard";
import { integer, message, model, node, tensorOf, value } from "../fixtures/models/onnx-bytes.ts";
import { inferyard } from "../fixtures/processes/command-line.ts";
import { needsData, sharedData, worst } from "../fixtures/shared-data.ts";

const reports = `${sharedData}reports`;
const [skip, name] = needsData("models as they are published");

describe.skipIf(skip)(name, () => {
  let runtime: Runtime;
  let scratch: string;
  beforeAll(async () => {
    runtime = await createRuntime({ host: "inline", threads: 1 });
    scratch = await mkdtemp(join(tmpdir(), "inferyard-layouts-"));
  });
  afterAll(async () => {
    await runtime.dispose();
    await rm(scratch, { recursive: true, force: true });
  });

  const embed = async (model: string, options: object = {}): Promise<Float32Array> =>
    (await runtime.embed("hello", { model, ...options })).embeddings[0]!;

  /** A copy of a folder of the reports, with other values in config.json (undefined: left out). */
  async function copyOf(folder: string, config: Readonly<Record<string, unknown>>): Promise<string> {
    const copy = await mkdtemp(join(scratch, "model-"));
    await cp(join(reports, folder), copy, { recursive: true });
    await rm(join(copy, "config.json"), { force: true });
    const own = JSON.parse(await readFile(join(reports, folder, "config.json"), "utf8")) as object;
    await writeFile(join(copy, "config.json"), JSON.stringify({ ...own, ...config }));
    return copy;
  }

  describe("with modules.json", () => {
    it.each(["as-masked-lm", "masked-lm-class-no-head", "pretraining-class", "no-class"])(
      "%s is the encoder of its model_type, whatever head it was trained with",
      async (folder) => {
        const right = await embed(`${reports}/masked-lm-as-embedding/as-bert-model`);
        expect(right).toHaveLength(32);
        expect(worst(await embed(`${reports}/masked-lm-as-embedding/${folder}`), right)).toBe(0);
      },
    );

    it.each(["BertForSequenceClassification", "BertForNextSentencePrediction", "BertLMHeadModel", "OurOwnModel"])(
      "so is one of the class %s",
      async (architecture) => {
        const model = await copyOf("masked-lm-as-embedding/as-masked-lm", { architectures: [architecture] });
        const right = await embed(`${reports}/masked-lm-as-embedding/as-bert-model`);
        expect(worst(await embed(model), right)).toBe(0);
      },
    );

    it("a decoder is one without a cache: the vector of Qwen3-Embedding as it was published", async () => {
      const expected = JSON.parse(await readFile(`${reports}/qwen3-embedding-published/expected.json`, "utf8")) as {
        published: { "json.embeddings.0": number[] };
      };
      const right = Float32Array.from(expected.published["json.embeddings.0"]);
      expect(worst(await embed(`${reports}/qwen3-embedding-published/model`), right)).toBeLessThan(1e-5);
    });
  });

  /** A folder with modules.json whose graph gives a row of a table for each token as `output`, and takes an empty cache with `cached`. */
  async function graphModel(output: string, cached: boolean): Promise<string> {
    const folder = await mkdtemp(join(scratch, "graph-"));
    await cp(`${reports}/masked-lm-as-embedding/as-bert-model`, folder, { recursive: true });
    await rm(join(folder, "model.safetensors"));
    const table = Float32Array.from({ length: 400 * 32 }, (_, index) => ((index * 37) % 101) / 101);
    const past = ["batch_size", 2, "past_sequence_length", 16];
    await writeFile(
      join(folder, "model.onnx"),
      model({
        opsets: { "": 17 },
        model: [74_946, 3_000_000].map((bytes) => message(14, message(1, `of ${bytes} bytes`), message(2, "x".repeat(bytes)))),
        graph: [
          value(11, "input_ids", 7, ["batch_size", "sequence_length"]),
          value(11, "attention_mask", 7, ["batch_size", "past_sequence_length + sequence_length"]),
          ...(cached ? [value(11, "past_key_values.0.key", 1, past)] : []),
          tensorOf("table", "float32", [400, 32], table),
          tensorOf("last", "int64", [1], BigInt64Array.of(2n)),
          node({ operator: "Gather", inputs: ["table", "input_ids"], outputs: ["rows"] }),
          node({ operator: "Unsqueeze", inputs: ["attention_mask", "last"], outputs: ["column"] }),
          node({
            operator: "Cast",
            inputs: ["column"],
            outputs: ["mask"],
            attributes: [[message(1, "to"), integer(3, 1), integer(20, 2)]],
          }),
          node({ operator: "Mul", inputs: ["rows", "mask"], outputs: [output] }), // refuses a mask of more than the new tokens
          value(12, output, 1, ["batch_size", "sequence_length", 32]),
          ...(cached
            ? [
                node({ operator: "Identity", inputs: ["past_key_values.0.key"], outputs: ["present.0.key"] }),
                value(12, "present.0.key", 1, past),
              ]
            : []),
        ],
      }),
    );
    return folder;
  }

  it("a decoder that was exported with the inputs of its cache embeds with an empty one", async () => {
    const right = await embed(await graphModel("last_hidden_state", false));
    const cached = await graphModel("last_hidden_state", true);
    for (const target of ["onnx:cpu", "native:cpu"]) expect(worst(await embed(cached, { target }), right)).toBeLessThan(1e-6);
  });

  it.each([
    ["damaged", Buffer.from("no graph")],
    [
      "of an operator that no engine knows",
      model({
        opsets: { "": 17, ours: 1 },
        graph: [
          value(11, "input_ids", 7, ["batch_size", "sequence_length"]),
          node({ operator: "Unheard", domain: "ours", inputs: ["input_ids"], outputs: ["last_hidden_state"] }),
          value(12, "last_hidden_state", 1, ["batch_size", "sequence_length", 32]),
        ],
      }),
    ],
  ])("a model.onnx that is %s does not stand in the way of the weights beside it", async (_what, bytes) => {
    const folder = await copyOf("masked-lm-as-embedding/as-bert-model", {});
    await writeFile(join(folder, "model.onnx"), bytes);
    const { embeddings, target, decision } = await runtime.embed("hello", { model: folder });
    const right = await embed(`${reports}/masked-lm-as-embedding/as-bert-model`);
    expect([target, decision.model.variant, decision.model.format]).toEqual([
      "native:cpu",
      expect.stringContaining("fp32"),
      "safetensors",
    ]);
    expect(worst(embeddings[0]!, right)).toBe(0);
    const told = [...(decision.model.unreadable ?? []), ...decision.candidates.filter(({ verdict }) => verdict === "failed")];
    expect(told.map(({ reason }) => reason).join()).toMatch(/model\.onnx|Unheard/);
  });

  it("logits are never pooled to a vector", async () => {
    const refused = expect.objectContaining({ code: "MODEL_UNSUPPORTED", message: expect.stringContaining("it has logits") });
    await expect(embed(await graphModel("logits", false))).rejects.toEqual(refused);
  });

  describe("without modules.json, where the request says how to pool", () => {
    it.each(["as-masked-lm", "masked-lm-class-no-head", "pretraining-class"])("%s gives its hidden states", async (folder) => {
      const model = await copyOf(`masked-lm-as-embedding/${folder}`, {});
      await rm(join(model, "modules.json"));
      const right = await embed(`${reports}/masked-lm-as-embedding/as-bert-model`);
      expect(worst(await embed(model, { pooling: "mean" }), right)).toBe(0);
    });

    it("so does a decoder, which still writes text", async () => {
      const model = await copyOf("qwen3-embedding-published/model", {});
      await rm(join(model, "modules.json"));
      const right = await embed(`${reports}/qwen3-embedding-published/model`);
      expect(worst(await embed(model, { pooling: "last", normalize: true }), right)).toBe(0);
      expect((await runtime.generate("hello", { model, target: "native", maxNewTokens: 2 })).results[0]?.tokens).toHaveLength(2);
    });

    it("and a masked language model still fills masks", async () => {
      const model = await copyOf("masked-lm-as-embedding/as-masked-lm", {});
      await rm(join(model, "modules.json"));
      expect((await runtime.fillMask("a [MASK]", { model, topK: 1 })).results[0]).toHaveLength(1);
      const encoder = await copyOf("masked-lm-as-embedding/masked-lm-class-no-head", {});
      await rm(join(encoder, "modules.json"));
      await expect(runtime.fillMask("a [MASK]", { model: encoder })).rejects.toMatchObject({ code: "MODEL_UNSUPPORTED" });
    });
  });

  it.each([
    ["generate", "tiny-random-whisper", "automatic-speech-recognition: it reads sound"],
    ["rewrite", "tiny-random-whisper", "automatic-speech-recognition: it reads sound"],
    ["generate", "tiny-random-trocr", "image-to-text: it reads pictures"],
  ])("%s names a model of sound or pictures as one: %s", async (command, folder, named) => {
    const { code, stderr } = await inferyard([command, "--model", `${sharedData}${folder}`, "Once"]);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining(`${folder} is a model for ${named}, not text [MODEL_UNSUPPORTED]`),
    ]);
  });

  describe("a path where texts are expected", () => {
    const folder = `${reports}/masked-lm-as-embedding/as-bert-model`;
    const embedded = async (...words: readonly string[]): Promise<readonly [dimensions: number, texts: number, note: string]> => {
      const { stdout, stderr } = await inferyard(["embed", "--json", ...words]);
      const { dimensions, embeddings } = JSON.parse(stdout) as { dimensions: number; embeddings: readonly unknown[] };
      return [dimensions, embeddings.length, stderr];
    };

    it("is taken as the model if it is one and texts follow, and the command says so", async () => {
      expect(await embedded(folder, "hello")).toEqual([32, 1, expect.stringContaining("is taken as the model")]);
      expect(await embedded("--quiet", folder, "hello", "there")).toEqual([32, 2, ""]);
    });

    it("is a text otherwise, and the command says so if it is a model", async () => {
      expect(await embedded(folder)).toEqual([256, 1, expect.stringContaining("is read as a text here")]);
      expect(await embedded("--model", folder, folder, "hello")).toEqual([
        32,
        2,
        expect.stringContaining("is read as a text here"),
      ]);
      expect(await embedded(reports, "hello")).toEqual([256, 2, ""]);
    });
  });

  it.each(["onnx:cpu", "wasm:cpu"])("%s reads the external data of a graph", async (target) => {
    const model = `${reports}/wasm-external-data/model`;
    const right = await embed(model, { target: "native:cpu" });
    expect(worst(await embed(model, { target }), right)).toBeLessThan(1e-5);
  });
});
