/** Models of pictures against goldens on every engine of the CPU, through the built package. */
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Runtime, createRuntime } from "inferyard";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { needsData, sharedData } from "../fixtures/shared-data.ts";
import { onRequest } from "../fixtures/slow.ts";

interface Floats {
  readonly data: string;
}
interface VitGoldens {
  readonly items: readonly { readonly image: string; readonly logits: readonly number[] }[];
}
interface ClipGoldens {
  readonly texts: readonly { readonly text: string; readonly text_embeds: Floats }[];
  readonly images: readonly { readonly image: string; readonly image_embeds: Floats }[];
  readonly joint: { readonly texts: readonly string[]; readonly probabilities: readonly (readonly number[])[] };
}
/** scripts/goldens/images/trained-models.py */
interface TrainedGoldens {
  readonly squeezenet: readonly { readonly label: number; readonly score: number }[];
  readonly rfb: readonly { readonly score: number; readonly box: readonly number[] }[];
}

const readJson = (file: string): unknown => JSON.parse(readFileSync(file, "utf8"));
const floats = ({ data }: Floats): Float32Array => new Float32Array(new Uint8Array(Buffer.from(data, "base64")).buffer);
const [vit, clip] = [`${sharedData}tiny-random-vit`, `${sharedData}tiny-random-clip`];
const astronaut = new URL("../fixtures/pictures/astronaut.jpg", import.meta.url);
const trained = readJson(new URL("../fixtures/pictures/goldens.json", import.meta.url).pathname) as TrainedGoldens;

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

/** A folder with one file of the shared data as its model, and an inferyard.json. */
function declare(name: string, file: string, vision: object): string {
  mkdirSync(at(name), { recursive: true });
  copyFileSync(`${sharedData}${file}`, join(at(name), "model.onnx"));
  writeFileSync(join(at(name), "inferyard.json"), JSON.stringify({ vision }));
  return at(name);
}

const close = (actual: ArrayLike<number>, expected: ArrayLike<number>, tolerance = 1e-4): void => {
  expect(actual).toHaveLength(expected.length);
  for (const [index, value] of Array.from(actual).entries()) expect(Math.abs(value - expected[index]!)).toBeLessThan(tolerance);
};

const rfbTitle = "RFB finds the face that OpenCV and onnxruntime find";
const squeezeNetTitle = "SqueezeNet's best labels are onnxruntime's";
const [skip, title] = needsData("pictures of the shared data");
describe.skipIf(skip).each(["native", "onnx:cpu", "wasm"])(`${title} on %s`, (target) => {
  // The own engine computes all models each time; the other two are one implementation beside the session.
  const [isTrainedSkipped, rfb] = target === "native" ? [false, rfbTitle] : onRequest(rfbTitle);
  const [, squeezeNet] = target === "native" ? [false, squeezeNetTitle] : onRequest(squeezeNetTitle);

  it("ViT gives the logits of its goldens", async () => {
    const { items } = readJson(`${vit}/goldens.json`) as VitGoldens;
    const pictures = items.map(({ image }) => `${vit}/${image}`);
    const { results, target: ran } = await runtime.classifyImage(pictures, { model: vit, target, activation: "none" });
    expect(ran.split(":")[0]).toBe(target.split(":")[0]);
    for (const [index, scored] of results.entries()) {
      const logits = ["cat", "dog", "ship", "tree", "house"].map((label) => scored.find((one) => one.label === label)!.score);
      close(logits, items[index]!.logits);
    }
  });

  it("CLIP gives the vectors and the probabilities of its goldens", async () => {
    const { texts, images, joint } = readJson(`${clip}/goldens.json`) as ClipGoldens;
    const inputs = [...texts.map(({ text }) => text), ...images.map(({ image }) => ({ image: `${clip}/${image}` }))];
    const { embeddings, dimensions } = await runtime.embed(inputs, { model: clip, target, normalize: false });
    const goldens = [...texts.map((text) => text.text_embeds), ...images.map((image) => image.image_embeds)].map(floats);
    expect(dimensions).toBe(16);
    for (const [index, vector] of embeddings.entries()) close(vector, goldens[index]!);
    const pictures = images.map(({ image }) => readFileSync(`${clip}/${image}`));
    const request = { model: clip, target, labels: joint.texts, hypothesisTemplate: "{}" };
    const { results } = await runtime.classifyImage(pictures, request);
    for (const [index, scored] of results.entries()) {
      const scores = joint.texts.map((text) => scored.find(({ label }) => label === text)!.score);
      close(scores, joint.probabilities[index]!);
    }
  });

  it.skipIf(isTrainedSkipped)(rfb, async () => {
    const model = declare("rfb", "vision/version-RFB-320_simplified.onnx", {
      preprocessor: {
        size: { width: 320, height: 240 },
        resample: "opencv-linear",
        do_rescale: false,
        image_mean: [127, 127, 127],
        image_std: [128, 128, 128],
      },
      labels: ["face"],
      detector: { layout: "rfb", threshold: 0.7, overlap: 0.3 },
    });
    const { results } = await runtime.detectObjects(readFileSync(astronaut), { model, target });
    expect(results[0]!.map(({ label }) => label)).toEqual(trained.rfb.map(() => "face"));
    for (const [index, { score, box }] of results[0]!.entries()) {
      close([score], [trained.rfb[index]!.score]);
      close([box.xmin, box.ymin, box.xmax, box.ymax], trained.rfb[index]!.box, 0.01);
    }
  });

  it.skipIf(isTrainedSkipped)(squeezeNet, async () => {
    const model = declare("squeezenet", "vision/SqueezeNet_fp16.onnx", {
      preprocessor: {
        size: { shortest_edge: 256 },
        crop_size: 224,
        image_mean: [0.485, 0.456, 0.406],
        image_std: [0.229, 0.224, 0.225],
      },
      activation: "none",
    });
    const { results } = await runtime.classifyImage(readFileSync(astronaut), { model, target, topK: 5 });
    expect(results[0]!.map(({ label }) => label)).toEqual(trained.squeezenet.map(({ label }) => `LABEL_${label}`));
    close(
      results[0]!.map(({ score }) => score),
      trained.squeezenet.map(({ score }) => score),
      1e-3,
    );
  });
});
