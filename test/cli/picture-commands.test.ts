/** inferyard classify --image, embed --image, detect and image-features as a person types them. */
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeDetector } from "../fixtures/models/detector-model.ts";
import { inferyard, useDirectory } from "../fixtures/processes/command-line.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";

const [vit, clip] = [`${sharedData}tiny-random-vit`, `${sharedData}tiny-random-clip`];
const folder = mkdtempSync(join(tmpdir(), "inferyard-picture-commands-"));
afterAll(() => rmSync(folder, { recursive: true }));
useDirectory(folder);

async function json(...words: readonly string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await inferyard([...words, "--json"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout) as Record<string, unknown>;
}

const [skip, title] = needsData("inferyard classify --image");
describe.skipIf(skip)(title, () => {
  beforeAll(() => copyFileSync(`${vit}/wide.png`, join(folder, "photo.png")));

  it("the labels of pictures", async () => {
    const { code, stdout, stderr } = await inferyard(["classify", "--image", "photo.png", "--model", vit, "--top-k", "1"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^.*tiny-random-vit · \w+:cpu\n {2}photo\.png +(?:cat|dog|ship|tree|house) 0\.\d{4}\n$/u);
    expect(stderr).toMatch(/^1 picture in /u);
    const two = await json(
      "classify",
      "--image",
      "photo.png",
      "--image",
      `${vit}/small.png`,
      "--model",
      vit,
      "--background",
      "black",
    );
    expect(two).toMatchObject({ results: [{ length: 5 }, { length: 5 }] });
  });

  it("labels of one's own", async () => {
    const said = await json("classify", "--image", "photo.png", "--model", clip, "--labels", "cat,dog", "--template", "a {}");
    expect(said).toMatchObject({
      results: [[{ label: expect.stringMatching(/cat|dog/u) as string }, { score: expect.any(Number) as number }]],
    });
  });

  it.each([
    [["classify", "a text", "--image", "photo.png"], "texts were given beside --image"],
    [["classify", "--image", "photo.png", "--pair", "x"], "--pair has no effect with --image"],
    [["classify", "a text", "--background", "black"], "--background has no effect without --image"],
    [["embed", "--image", "photo.png", "--pooling", "mean"], "--pooling has no effect with --image"],
    [["embed", "a text", "--batch-size", "2"], "--batch-size has no effect without --image"],
    [["classify", "--image", "none.png"], "none.png cannot be read"],
  ])("%j fails: %s", async (words, message) => {
    const { code, stderr } = await inferyard([...words, "--model", vit]);
    expect(code).not.toBe(0);
    expect(stderr).toContain(message);
  });

  it("embed: pictures and texts in one space", async () => {
    const { code, stdout, stderr } = await inferyard(["embed", "--image", "photo.png", "a text", "--model", clip]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/16 dimensions.*\nphoto\.png +\[.*\na text +\[/u);
    expect(stderr).toMatch(/^1 picture, 1 text in /u);
    expect(await json("embed", "--image", "photo.png", "--model", clip, "--dimensions", "4")).toMatchObject({ dimensions: 4 });
  });

  it("image-features: hidden states, or one vector", async () => {
    const features = async (...flags: string[]) => await json("image-features", "photo.png", "--model", clip, ...flags);
    expect(await features()).toMatchObject({ results: [{ shape: [17, 32] }] });
    expect(await features("--pool")).toMatchObject({ results: [{ shape: [16] }] });
  });
});

describe("inferyard detect", () => {
  it("labels, scores and sides", async () => {
    writeDetector(join(folder, "detr"), [{ logits: [0, 4, 0], box: [0.25, 0.5, 0.5, 1] }]);
    await sharp({ create: { width: 80, height: 40, channels: 3, background: "red" } }).toFile(join(folder, "red.png"));
    const { code, stdout, stderr } = await inferyard(["detect", "red.png", "--model", "detr"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^detr · \w+:cpu\n {2}red\.png +dog +0\.9647 +0 0 40 40\n$/u);
    expect(stderr).toMatch(/^1 object in 1 picture/u);
    expect(await json("detect", "red.png", "--model", "detr", "--threshold", "0.99")).toMatchObject({ results: [[]] });
  });
});
