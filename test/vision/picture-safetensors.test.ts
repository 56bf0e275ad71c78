/** Models of pictures from safetensors on the own engine, through the built package: the weights of the tiny models, whose goldens are PyTorch's. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Runtime, createRuntime, pipeline } from "inferyard";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { needsData, sharedData } from "../fixtures/shared-data.ts";
import { writePictureModel } from "./fixtures/picture-safetensors.ts";

interface Floats {
  readonly data: string;
}
interface Goldens {
  readonly items: readonly { readonly image: string; readonly logits: readonly number[]; readonly generated_text: string }[];
  readonly texts: readonly { readonly text: string; readonly text_embeds: Floats }[];
  readonly images: readonly { readonly image: string; readonly image_embeds: Floats }[];
  readonly joint: { readonly texts: readonly string[]; readonly probabilities: readonly (readonly number[])[] };
  readonly max_new_tokens: number;
}

const goldensOf = (name: string): Goldens =>
  JSON.parse(readFileSync(`${sharedData}tiny-random-${name}/goldens.json`, "utf8")) as Goldens;
const floats = ({ data }: Floats): Float32Array => new Float32Array(new Uint8Array(Buffer.from(data, "base64")).buffer);
const difference = (actual: ArrayLike<number>, expected: ArrayLike<number>): number =>
  Math.max(Math.abs(actual.length - expected.length), ...Array.from(expected, (value, at) => Math.abs(actual[at]! - value)));

const target = "native:cpu";
const folder = mkdtempSync(join(tmpdir(), "inferyard-picture-safetensors-"));
let runtime: Runtime;
beforeAll(async () => {
  runtime = await createRuntime({ host: "inline", threads: 1 });
});
afterAll(async () => {
  await runtime.dispose();
  rmSync(folder, { recursive: true });
});

const [skip, title] = needsData("models of pictures from safetensors");
describe.skipIf(skip)(title, () => {
  const picture = (name: string, file: string): string => `${sharedData}tiny-random-${name}/${file}`;

  it("ViT gives the logits of its goldens, and the states before its classifier", async () => {
    const model = await writePictureModel("vit", join(folder, "vit"));
    const { items } = goldensOf("vit");
    const pictures = items.map(({ image }) => picture("vit", image));
    const { results, target: ran } = await runtime.classifyImage(pictures, { model, target, activation: "none" });
    expect(ran).toBe(target);
    const labels = ["cat", "dog", "ship", "tree", "house"];
    for (const [at, scored] of results.entries()) {
      const logits = labels.map((label) => scored.find((one) => one.label === label)!.score);
      expect(difference(logits, items[at]!.logits)).toBeLessThan(1e-5);
    }
    const { features } = await runtime.imageFeatures(pictures[0]!, { model, target });
    expect(features[0]!.shape).toEqual([17, 32]);
  });

  it("CLIP gives the vectors and probabilities of its goldens, and the features of its own export", async () => {
    const model = await writePictureModel("clip", join(folder, "clip"));
    const { texts, images, joint } = goldensOf("clip");
    const inputs = [...texts.map(({ text }) => text), ...images.map(({ image }) => ({ image: picture("clip", image) }))];
    const { embeddings } = await runtime.embed(inputs, { model, target, normalize: false });
    const goldens = [...texts.map((text) => text.text_embeds), ...images.map((image) => image.image_embeds)].map(floats);
    expect(embeddings.map((vector, at) => difference(vector, goldens[at]!) < 1e-5)).toEqual(goldens.map(() => true));
    const pictures = images.map(({ image }) => picture("clip", image));
    const request = { model, target, labels: joint.texts, hypothesisTemplate: "{}" };
    const { results } = await runtime.classifyImage(pictures, request);
    for (const [at, scored] of results.entries()) {
      const scores = joint.texts.map((text) => scored.find(({ label }) => label === text)!.score);
      expect(difference(scores, joint.probabilities[at]!)).toBeLessThan(1e-5);
    }
    const own = await runtime.imageFeatures(pictures, { model, target });
    const exported = await runtime.imageFeatures(pictures, { model: `${sharedData}tiny-random-clip`, target: "onnx:cpu" });
    for (const [at, { shape, data }] of own.features.entries()) {
      expect(shape).toEqual(exported.features[at]!.shape);
      expect(difference(data, exported.features[at]!.data)).toBeLessThan(1e-4);
    }
  });

  it("TrOCR reads the texts of its goldens", async () => {
    const model = await writePictureModel("trocr", join(folder, "trocr"));
    const { items, max_new_tokens: maxNewTokens } = goldensOf("trocr");
    for (const { image, generated_text: text } of items) {
      const read = await runtime.read(picture("trocr", image), { model, target, maxNewTokens });
      expect(read).toMatchObject({ target, lines: [{ text }] });
    }
    const handle = await runtime.load(model, { target, kind: "language" });
    const [first] = items;
    const read = await runtime.read(picture("trocr", first!.image), { model: handle, maxNewTokens });
    expect(read.lines[0]!.text).toBe(first!.generated_text);
    await handle.dispose();
    const readLines = await pipeline("image-to-text", model, { host: "inline", target });
    const texts = await readLines([picture("trocr", first!.image)], { maxNewTokens });
    expect(texts).toEqual([[{ generated_text: first!.generated_text }]]);
    await readLines.dispose();
    await expect(runtime.generate("a", { model, target })).rejects.toMatchObject({ code: "MODEL_UNSUPPORTED" });
  });
});
