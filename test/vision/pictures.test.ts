/** The tasks on pictures through the built package: what they take, what they refuse, and what they give. */
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Runtime, createRuntime, pipeline } from "inferyard";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeDetector } from "../fixtures/models/detector-model.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";

interface Floats {
  readonly data: string;
}
interface ClipGoldens {
  readonly images: readonly { readonly image: string; readonly image_embeds: Floats }[];
}
const readJson = (file: string): unknown => JSON.parse(readFileSync(file, "utf8"));
const floats = ({ data }: Floats): Float32Array => new Float32Array(new Uint8Array(Buffer.from(data, "base64")).buffer);
const [vit, clip] = [`${sharedData}tiny-random-vit`, `${sharedData}tiny-random-clip`];

const folder = mkdtempSync(join(tmpdir(), "inferyard-pictures-"));
const at = (name: string): string => join(folder, name);
let runtime: Runtime;
beforeAll(async () => {
  runtime = await createRuntime({ host: "inline", threads: 1 });
});
afterAll(async () => {
  await runtime.dispose();
  rmSync(folder, { recursive: true });
});

const close = (actual: ArrayLike<number>, expected: ArrayLike<number>, tolerance = 1e-4): void => {
  expect(actual).toHaveLength(expected.length);
  for (const [index, value] of Array.from(actual).entries()) expect(Math.abs(value - expected[index]!)).toBeLessThan(tolerance);
};

const [skipForms, forms] = needsData("a picture");
describe.skipIf(skipForms)(forms, () => {
  it("is given as path, bytes, buffer, blob, data URL or samples", async () => {
    const bytes = new Uint8Array(readFileSync(`${vit}/wide.png`));
    const { data, info } = await sharp(bytes).raw().toBuffer({ resolveWithObject: true });
    const samples = { width: info.width, height: info.height, channels: 3 as const, data: new Uint8Array(data) };
    const dataUrl = `data:image/png;base64,${Buffer.from(bytes).toString("base64")}`;
    const all = [`${vit}/wide.png`, bytes, bytes.buffer, new Blob([bytes]), dataUrl, samples];
    const { results } = await runtime.classifyImage(all, { model: vit });
    expect(new Set(results.map((labels) => JSON.stringify(labels))).size).toBe(1);
    const [single] = (await runtime.classifyImage(samples, { model: vit, topK: 2 })).results;
    expect(single).toEqual(results[0]!.slice(0, 2));
  });

  it("shows its background where it is transparent", async () => {
    const clear = await sharp({ create: { width: 32, height: 32, channels: 4, background: { r: 0, g: 0, b: 0, alpha: 0 } } })
      .png()
      .toBuffer();
    const of = async (background?: "white" | "black" | "none") =>
      (await runtime.classifyImage(clear, { model: vit, ...(background === undefined ? {} : { background }) })).results;
    expect(await of()).toEqual(await of("white"));
    expect(await of("black")).toEqual(await of("none"));
    expect(await of("black")).not.toEqual(await of("white"));
  });

  it.each([
    ["https://example.com/cat.png", "INPUT_INVALID", "address"],
    ["/nowhere/at/all.png", "INPUT_INVALID", "picture 1"],
    [new TextEncoder().encode("<svg/>"), "MEDIA_TYPE_UNSUPPORTED", "SVG"],
    [new Uint8Array(0), "INPUT_INVALID", "0 bytes"],
    ["data:image/png;base64,!", "INPUT_INVALID", "base64"],
    [7, "INPUT_INVALID", "number"],
    [{ width: 2, height: 2, channels: 3, data: new Uint8Array(3) }, "INPUT_INVALID", "2 x 2"],
  ])("%j is refused with %s", async (picture, code, words) => {
    const failing = runtime.classifyImage([`${vit}/wide.png`, picture as string], { model: vit });
    await expect(failing).rejects.toMatchObject({
      code,
      message: expect.stringContaining(words) as string,
      data: { picture: 1 },
    });
  });

  it("a strip is refused that would become gigapixels, whose shorter edge a model enlarges", async () => {
    const strip = await sharp({ create: { width: 1, height: 30_000, channels: 3, background: "red" } })
      .png()
      .toBuffer();
    mkdirSync(at("enlarging"), { recursive: true });
    copyFileSync(`${vit}/onnx/model.onnx`, join(at("enlarging"), "model.onnx"));
    const preprocessor = { size: { shortest_edge: 224 }, crop_size: 32, image_mean: [0, 0, 0], image_std: [1, 1, 1] };
    writeFileSync(join(at("enlarging"), "inferyard.json"), JSON.stringify({ vision: { preprocessor } }));
    await expect(runtime.classifyImage(strip, { model: at("enlarging") })).rejects.toMatchObject({
      code: "LIMIT_EXCEEDED",
      message: expect.stringContaining("224 x 6720000") as string,
    });
  });

  it("a detector that reads texts, and a preprocessor that is not known, are refused by name", async () => {
    mkdirSync(at("owlvit"), { recursive: true });
    copyFileSync(`${clip}/onnx/model.onnx`, join(at("owlvit"), "model.onnx"));
    copyFileSync(`${clip}/preprocessor_config.json`, join(at("owlvit"), "preprocessor_config.json"));
    const owlVit = { model_type: "owlvit", architectures: ["OwlViTForObjectDetection"] };
    writeFileSync(join(at("owlvit"), "config.json"), JSON.stringify(owlVit));
    const picture = `${vit}/wide.png`;
    await expect(runtime.detectObjects(picture, { model: at("owlvit") })).rejects.toMatchObject({
      code: "MODEL_UNSUPPORTED",
      message: expect.stringContaining("owlvit") as string,
    });
    const processor = { image_processor_type: "Siglip2ImageProcessor", patch_size: 16, max_num_patches: 256 };
    writeFileSync(join(at("owlvit"), "preprocessor_config.json"), JSON.stringify(processor));
    await expect(runtime.imageFeatures(picture, { model: at("owlvit"), pool: true })).rejects.toMatchObject({
      code: "MODEL_UNSUPPORTED",
      message: expect.stringContaining("Siglip2ImageProcessor") as string,
    });
  });

  it("a model and options that do not fit are refused by name", async () => {
    const bert = `${sharedData}tiny-random-bert`;
    const picture = `${vit}/wide.png`;
    await expect(runtime.classifyImage(picture, { model: bert })).rejects.toMatchObject({ code: "MODEL_UNSUPPORTED" });
    await expect(runtime.embed({ image: picture }, { model: bert })).rejects.toMatchObject({ code: "MODEL_UNSUPPORTED" });
    await expect(runtime.classifyImage(picture, { model: vit, labels: ["a"] })).rejects.toMatchObject({
      code: "MODEL_UNSUPPORTED",
      message: expect.stringContaining("logits_per_image") as string,
    });
    await expect(runtime.detectObjects(picture, { model: vit })).rejects.toMatchObject({ code: "MODEL_UNSUPPORTED" });
    const faulty: [object, string][] = [
      [{ labels: [] }, "labels"],
      [{ hypothesisTemplate: "{}" }, "hypothesisTemplate"],
      [{ topK: 0 }, "topK"],
      [{ shade: 1 }, "shade"],
      [{ background: "pink" }, "background"],
    ];
    for (const [options, name] of faulty)
      await expect(runtime.classifyImage(picture, { model: vit, ...options })).rejects.toMatchObject({
        code: "INPUT_INVALID",
        message: expect.stringContaining(name) as string,
      });
    await expect(runtime.classifyImage([], { model: vit })).rejects.toMatchObject({ code: "INPUT_INVALID" });
    await expect(runtime.detectObjects(picture, { model: vit, threshold: 2 })).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });
});

const [skipEmbedding, embedding] = needsData("embeddings of pictures and texts");
describe.skipIf(skipEmbedding)(embedding, () => {
  it("have unit length, of as many dimensions as are wanted; a text alone is in the same space", async () => {
    const inputs = [{ image: `${clip}/wide.png` }, { text: "a photo of a cat" }, "a photo of a cat"];
    const { embeddings, tokens } = await runtime.embed(inputs, { model: clip, dimensions: 8 });
    for (const vector of embeddings) expect(Math.hypot(...vector)).toBeCloseTo(1, 5);
    expect(embeddings.map(({ length }) => length)).toEqual([8, 8, 8]);
    expect(embeddings[1]).toEqual(embeddings[2]);
    expect(tokens).toEqual([0, 10, 10]);
    const alone = await runtime.embed("a photo of a cat", { model: clip, dimensions: 8 });
    expect(alone.embeddings[0]).toEqual(embeddings[2]);
  });

  it("come from a joint graph as well", async () => {
    const joint = at("joint");
    mkdirSync(joint, { recursive: true });
    for (const file of ["config.json", "preprocessor_config.json", "tokenizer.json", "tokenizer_config.json"])
      copyFileSync(`${clip}/${file}`, join(joint, file));
    copyFileSync(`${clip}/onnx/model.onnx`, join(joint, "model.onnx"));
    const picture = { image: `${clip}/wide.png` };
    const [apart, together] = await Promise.all([clip, joint].map((model) => runtime.embed([picture], { model })));
    expect(together!.dimensions).toBe(16);
    close(together!.embeddings[0]!, apart!.embeddings[0]!);
  });

  it("take a handle, and run on its target", async () => {
    const handle = await runtime.load(clip, { target: "onnx:cpu" });
    const { target, embeddings } = await runtime.embed([{ image: `${clip}/wide.png` }, "a cat"], { model: handle });
    expect(target).toBe("onnx:cpu");
    expect(embeddings).toHaveLength(2);
    await handle.dispose();
  });
});

describe.skipIf(skipEmbedding)("the memory of decoded pictures", () => {
  it("is shared by all calls, which wait for it; a picture that exceeds it is refused, and one that is damaged gives it back", async () => {
    const small = `${vit}/same-size.png`; // 32 x 32
    const own = await createRuntime({ host: "inline", threads: 1, maxPictureMemory: 32 * 32 * 8 });
    const classify = (picture: string | Uint8Array) => own.classifyImage(picture, { model: vit });
    const damaged = readFileSync(small).subarray(0, 300);
    const [first, ...others] = await Promise.allSettled([small, damaged, small, `${vit}/wide.png`, small].map(classify));
    expect(first).toMatchObject({ status: "fulfilled" });
    expect(others).toMatchObject([
      { reason: { code: "INPUT_INVALID" } },
      { status: "fulfilled" },
      { reason: { code: "LIMIT_EXCEEDED", message: expect.stringContaining("8192") as string } },
      { status: "fulfilled" },
    ]);
    const aborted = own.classifyImage(small, { model: vit, signal: AbortSignal.abort() });
    await expect(aborted).rejects.toMatchObject({ code: "ABORTED" });
    await expect(classify(small)).resolves.toMatchObject({ results: [expect.anything()] });
    await own.dispose();
    await expect(createRuntime({ maxPictureMemory: "plenty" })).rejects.toMatchObject({ code: "CONFIG_INVALID" });
  });
});

describe("DETR's outputs", () => {
  it("are boxes in pixels of the picture, above the threshold, best first", async () => {
    writeDetector(at("detr"), [
      { logits: [1, 0, -1], box: [0.5, 0.5, 0.5, 0.25] },
      { logits: [0, 4, 0], box: [0.25, 0.5, 0.5, 1] },
      { logits: [0, 0, 9], box: [0.5, 0.5, 1, 1] },
    ]);
    const picture = await sharp({ create: { width: 80, height: 40, channels: 3, background: "red" } })
      .png()
      .toBuffer();
    const { results } = await runtime.detectObjects(picture, { model: at("detr"), threshold: 0.6 });
    const softmax = (own: number, ...others: number[]) =>
      Math.exp(own) / [own, ...others].reduce((sum, each) => sum + Math.exp(each), 0);
    expect(results).toEqual([
      [
        { label: "dog", score: expect.closeTo(softmax(4, 0, 0), 5) as number, box: { xmin: 0, ymin: 0, xmax: 40, ymax: 40 } },
        { label: "cat", score: expect.closeTo(softmax(1, 0, -1), 5) as number, box: { xmin: 20, ymin: 15, xmax: 60, ymax: 25 } },
      ],
    ]);
    const { results: best } = await runtime.detectObjects([picture, picture], { model: at("detr"), topK: 1 });
    expect(best.map((found) => found.map(({ label }) => label))).toEqual([["dog"], ["dog"]]);
  });
});

const [skipPipelines, pipelines] = needsData("pipelines of transformers.js on pictures");
describe.skipIf(skipPipelines)(pipelines, () => {
  it("give one result for one picture, a list for a list", async () => {
    const classify = await pipeline("image-classification", vit, { host: "inline" });
    const [best] = await classify(`${vit}/wide.png`, { topK: 1 });
    expect(await classify([`${vit}/wide.png`], { topK: 1 })).toEqual([[best]]);
    await classify.dispose();
    const zeroShot = await pipeline("zero-shot-image-classification", clip, { host: "inline" });
    const scored = await zeroShot(`${clip}/wide.png`, ["cat", "dog"]);
    expect(scored.reduce((sum, { score }) => sum + score, 0)).toBeCloseTo(1, 5);
    await zeroShot.dispose();
    const extract = await pipeline("image-feature-extraction", clip, { host: "inline" });
    expect((await extract(`${clip}/wide.png`)).shape).toEqual([17, 32]);
    const { images } = readJson(`${clip}/goldens.json`) as ClipGoldens;
    const { shape, data } = await extract(`${clip}/wide.png`, { pool: true });
    expect(shape).toEqual([16]);
    close(data, floats(images.find(({ image }) => image === "wide.png")!.image_embeds));
    await extract.dispose();
  });

  it("need a model", async () => {
    await expect(pipeline("object-detection")).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });
});
