import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { needsData, sharedData } from "../../test/fixtures/shared-data.ts";
import type { InferyardError } from "../contract/errors.ts";
import { writeSafetensors } from "../formats/safetensors/write-safetensors.ts";
import { zeros } from "../contract/tensor.ts";
import { inspectFile, inspectModel } from "./index.ts";
import type { SafetensorsInspection } from "./safetensors-inspection.ts";

let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "inferyard-safetensors-"))));
afterAll(async () => await rm(folder, { recursive: true, force: true }));

async function inspect(displayName?: string): Promise<SafetensorsInspection> {
  return (await inspectFile(
    join(folder, "x.safetensors"),
    displayName === undefined ? {} : { displayName },
  )) as SafetensorsInspection;
}

describe("a safetensors file", () => {
  it("is described by its tensors, their types and its metadata", async () => {
    const tensors = { a: zeros("float32", [2, 3]), b: zeros("float16", [4]), c: zeros("float16", [5]) };
    await writeSafetensors(join(folder, "x.safetensors"), tensors, { format: "pt", long: "x".repeat(10_000) });
    expect(await inspect("./x.safetensors")).toMatchObject({
      format: "safetensors",
      path: "./x.safetensors",
      parameters: 15,
      types: [
        { type: "F32", tensors: 1, parameters: 6, bytes: 24 },
        { type: "F16", tensors: 2, parameters: 9, bytes: 18 },
      ],
      metadata: { format: { value: "pt", bytes: 2 }, long: { value: "x".repeat(4096), bytes: 10_000 } },
    });
  });

  it("is what config.json beside it says, and nothing where there is none", async () => {
    await writeSafetensors(join(folder, "x.safetensors"), { embeddings: zeros("float32", [2, 3]) });
    const verdict = async (): Promise<unknown> => (await inspect()).backends.find(({ backend }) => backend === "native");
    expect(await verdict()).toMatchObject({ verdict: "unknown" });
    await writeFile(join(folder, "config.json"), '{"architectures": ["LlamaForCausalLM"]}');
    expect((await inspect()).architecture).toBe("LlamaForCausalLM");
    expect(await verdict()).toMatchObject({ verdict: "expected", reason: "it knows LlamaForCausalLM" });
    await writeFile(join(folder, "config.json"), '{"architectures": ["FalconForCausalLM"]}');
    expect(await verdict()).toMatchObject({
      verdict: "no",
      reason: expect.stringMatching(
        /^of safetensors it knows StaticModel, BertModel, .* and \d+ more, and this is FalconForCausalLM$/,
      ) as string,
    });
    await writeFile(join(folder, "config.json"), '{"model_type": "model2vec"}');
    expect(await verdict()).toMatchObject({ verdict: "expected" });
    await rm(join(folder, "config.json"));
  });

  it("with a header of lists without end is refused before they are parsed", async () => {
    const header = Buffer.concat([Buffer.from('{"a":['), Buffer.alloc(9_000_000, "[],"), Buffer.from("1]}")]);
    const length = Buffer.alloc(8);
    length.writeBigUInt64LE(BigInt(header.length));
    await writeFile(join(folder, "x.safetensors"), Buffer.concat([length, header]));
    await expect(inspect("./x.safetensors")).rejects.toMatchObject({
      code: "MODEL_UNSUPPORTED",
      message: expect.stringContaining("the header of ./x.safetensors has 6000002 commas and brackets") as string,
    });
  });
});

describe("what is no model file", () => {
  const refusal = async (reference: string): Promise<unknown> =>
    await inspectModel(reference).then(
      () => "read",
      ({ code, message }: InferyardError) => `${code} ${message}`,
    );

  it.each([
    ["./none.onnx", /^MODEL_NOT_FOUND there is no file or folder \.\/none\.onnx/],
    ["no-such-model", /^MODEL_NOT_FOUND there is no model "no-such-model"/],
  ])("%s", async (reference, words) => expect(await refusal(reference)).toMatch(words));

  it("a file of another kind, an empty one, and a folder without a model", async () => {
    await writeFile(join(folder, "notes.txt"), "notes");
    await writeFile(join(folder, "empty.gguf"), "");
    expect(await refusal(join(folder, "notes.txt"))).toMatch(/^MODEL_UNSUPPORTED .*notes\.txt/);
    expect(await refusal(join(folder, "empty.gguf"))).toMatch(/^MODEL_INVALID .*empty\.gguf is empty/);
    await expect(inspectFile(join(folder, "notes.txt"))).rejects.toMatchObject({ code: "MODEL_UNSUPPORTED" });
    await expect(inspectFile(join(folder, "none.gguf"))).rejects.toMatchObject({ code: "MODEL_NOT_FOUND" });
    const empty = await mkdtemp(join(folder, "empty-"));
    expect(await refusal(empty)).toMatch(/^MODEL_NOT_FOUND .* holds no model/);
  });
});

const [skip, name] = needsData("models of others");

describe.skipIf(skip)(name, () => {
  it("a folder is inspected file by file, by the names a user would type", async () => {
    const { name: model, tasks, files } = await inspectModel(`${sharedData}all-MiniLM-L6-v2`);
    expect({ model, tasks }).toEqual({ model: "all-MiniLM-L6-v2", tasks: ["feature-extraction"] });
    expect(files.map(({ format, path }) => [format, path.slice(sharedData.length)])).toEqual([
      ["onnx", "all-MiniLM-L6-v2/onnx/model.onnx"],
      ["onnx", "all-MiniLM-L6-v2/onnx/model_quantized.onnx"],
      ["safetensors", "all-MiniLM-L6-v2/model.safetensors"],
    ]);
    expect(files[2]).toMatchObject({ architecture: "BertModel", parameters: 22_713_216 });
  });

  it("one file of a folder is inspected alone, even where the folder is no whole model", async () => {
    await copyFile(`${sharedData}vision/SqueezeNet_fp16.onnx`, join(folder, "lone.onnx"));
    await writeFile(join(folder, "config.json"), "{ broken");
    const { files } = await inspectModel(join(folder, "lone.onnx"));
    expect(files).toMatchObject([{ format: "onnx", parameters: 1_235_496 }]);
    await rm(join(folder, "config.json"));
  });
});

it("the built-in model is one that native runs", async () => {
  const { name: model, files } = await inspectModel("builtin");
  expect({ model, count: files.length }).toMatchObject({ count: 1 });
  expect(files[0]).toMatchObject({ format: "safetensors", path: "builtin/model.safetensors", architecture: "StaticModel" });
  expect(files[0]?.backends.map(({ backend, verdict }) => [backend, verdict])).toEqual([
    ["onnx", "no"],
    ["xla", "no"],
    ["llamacpp", "no"],
    ["native", "expected"],
    ["wasm", "no"],
    ["library", "no"],
  ]);
});
