/** Pictures in requests: /api/classify, /api/embed and /api/detect; no socket. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRuntime } from "inferyard";
import { type Handler, createHandler } from "inferyard/server";
import { afterAll, describe, expect, it } from "vitest";
import { writeDetector } from "../fixtures/models/detector-model.ts";
import { hasSharedData, needsData, sharedData } from "../fixtures/shared-data.ts";

const folder = mkdtempSync(join(tmpdir(), "inferyard-picture-routes-"));
writeDetector(join(folder, "detr"), [{ logits: [0, 4, 0], box: [0.25, 0.5, 0.5, 1] }]);
const models = { detr: join(folder, "detr"), vit: `${sharedData}tiny-random-vit`, clip: `${sharedData}tiny-random-clip` };
const runtime = await createRuntime({ host: "inline", threads: 1 });
afterAll(async () => {
  await runtime.dispose();
  rmSync(folder, { recursive: true });
});
const handler: Handler = createHandler(runtime, { models: hasSharedData ? models : { detr: models.detr } });

async function post(path: string, body: unknown): Promise<{ readonly status: number; readonly body: unknown }> {
  const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  const response = await handler(new Request(`http://localhost${path}`, init));
  return { status: response.status, body: await response.json() };
}

const [skip, title] = needsData("pictures in requests");
describe.skipIf(skip)(title, () => {
  const base64 = hasSharedData ? readFileSync(`${models.vit}/wide.png`).toString("base64") : "";
  const url = `data:image/png;base64,${base64}`;
  const picture = `${models.vit}/wide.png`;

  it("/api/classify gives what the library gives, for the model's labels and for others", async () => {
    const { results } = await runtime.classifyImage(picture, { model: models.vit, topK: 2 });
    expect(await post("/api/classify", { model: "vit", images: [{ url }], top_k: 2 })).toEqual({
      status: 200,
      body: { model: "vit", classifications: results },
    });
    const { results: own } = await runtime.classifyImage(picture, { model: models.clip, labels: ["cat", "dog"] });
    const { body } = await post("/api/classify", { model: "clip", images: [{ url }], labels: ["cat", "dog"] });
    expect(body).toEqual({ model: "clip", classifications: own });
  });

  it("/api/embed takes parts: texts, data URLs and base64", async () => {
    const input = [
      { type: "text", text: "a cat" },
      { type: "image_url", image_url: { url } },
      { type: "media", data: base64, mime_type: "image/png" },
    ];
    const { status, body } = await post("/api/embed", { model: "clip", input, dimensions: 4 });
    expect({ status, body }).toMatchObject({ status: 200, body: { model: "clip", dimensions: 4, embeddings: { length: 3 } } });
    const { embeddings } = body as { embeddings: number[][] };
    expect(embeddings[1]).toEqual(embeddings[2]);
    const own = await runtime.embed(["a cat", { image: picture }], { model: models.clip, dimensions: 4 });
    for (const [index, vector] of own.embeddings.entries())
      for (const [column, value] of vector.entries()) expect(embeddings[index]![column]).toBeCloseTo(value, 5);
  });

  it.each([
    ["/api/classify", { model: "vit", images: [{ url: "https://example.com/a.png" }] }, 400],
    ["/api/classify", { model: "vit", images: [{ url: "/etc/passwd" }] }, 400],
    ["/api/classify", { model: "vit", images: [{ url: "data:image/svg+xml;base64,PHN2Zy8+" }] }, 415],
    ["/api/classify", { model: "vit", images: [] }, 400],
    ["/api/classify", { model: "vit", images: [{ url: "x" }], texts: ["a"] }, 400],
    ["/api/classify", { model: "vit", images: [{ url: "x" }], multi_label: true }, 400],
    ["/api/classify", { model: "vit", texts: ["a"], background: "black" }, 400],
    ["/api/classify", { model: "vit" }, 400],
    ["/api/embed", { model: "clip", input: [{ type: "image_url", image_url: { url: "file:///etc/passwd" } }] }, 400],
    ["/api/embed", { model: "clip", input: [{ type: "media", data: "AAAA", mime_type: "audio/wav" }] }, 400],
    ["/api/embed", { model: "clip", input: [{ type: "media", data: "!" }] }, 400],
    ["/api/detect", { model: "detr", images: [{ url: "data:image/png;base64,AAAA" }] }, 415],
  ])("%s with %j is refused", async (path, body, status) => {
    expect(await post(path, body)).toMatchObject({ status });
  });
});

it("/api/detect gives labels, scores and boxes", async () => {
  const red = readFileSync(new URL("../fixtures/pictures/astronaut.jpg", import.meta.url)).toString("base64");
  const images = [{ url: `data:image/jpeg;base64,${red}` }];
  const { status, body } = await post("/api/detect", { model: "detr", images, threshold: 0.9 });
  expect(status).toBe(200);
  const box = { xmin: 0, ymin: 0, xmax: 80, ymax: 160 };
  expect(body).toEqual({ model: "detr", detections: [[{ label: "dog", score: expect.closeTo(0.9647, 4) as number, box }]] });
});
