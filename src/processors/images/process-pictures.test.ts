import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { needsData, sharedData } from "../../../test/fixtures/shared-data.ts";
import { decodePicture } from "./decode-picture.ts";
import type { Picture } from "./picture.ts";
import { processPictures } from "./process-pictures.ts";
import { readImageSettings } from "./read-image-settings.ts";
import { resizePicture } from "./resize-picture.ts";
import { computeTargetSize } from "./target-size.ts";

/** Pixel values of transformers' own processors: scripts/goldens/images/process-pictures.py. Binary fields are base64. */
interface Goldens {
  readonly pictures: readonly { readonly width: number; readonly height: number; readonly data: string }[];
  readonly goldens: readonly {
    readonly configuration: Record<string, unknown>;
    readonly pictures: readonly number[];
    readonly shape: readonly number[];
    readonly values: string;
    readonly mask?: string;
  }[];
}

const read = JSON.parse(readFileSync(new URL("process-goldens.json", import.meta.url), "utf8")) as Goldens;
const bytesOf = (base64: string) => new Uint8Array(Buffer.from(base64, "base64"));
const floatsOf = (base64: string) => new Float32Array(bytesOf(base64).buffer);
const pictures = read.pictures.map(({ data, ...size }): Picture => ({ ...size, channels: 3, data: bytesOf(data) }));

/** Settings of a configuration as preprocessor_config.json has it. */
const settingsOf = (preprocessor: object) => readImageSettings({ preprocessor })!;

function largestDifference(actual: Float32Array, expected: Float32Array): number {
  return actual.reduce((largest, value, index) => Math.max(largest, Math.abs(value - expected[index]!)), 0);
}

describe("pixel values equal those of transformers", () => {
  test.each(read.goldens.map((golden) => ({ title: JSON.stringify(golden.configuration), ...golden })))(
    "$title",
    ({ configuration, pictures: indices, shape, values, mask }) => {
      const batch = processPictures(
        indices.map((index) => pictures[index]!),
        settingsOf(configuration),
      );
      expect(batch.shape).toEqual(shape);
      expect(largestDifference(batch.data, floatsOf(values))).toBe(0);
      if (mask !== undefined) expect(batch.mask).toEqual(bytesOf(mask)); // oxlint-disable-line vitest/no-conditional-expect
    },
  );
});

const [skip, name] = needsData("pixel values of the shared models");
describe.skipIf(skip)(name, () => {
  test.each(["tiny-random-vit", "tiny-random-clip", "tiny-random-trocr"])("%s", async (model) => {
    const json = (file: string) => JSON.parse(readFileSync(`${sharedData}${model}/${file}`, "utf8")) as Record<string, unknown>;
    const goldens = json("goldens.json") as Record<
      "items" | "images",
      { image: string; pixel_values: { data: string } }[] | undefined
    >;
    const settings = settingsOf(json("preprocessor_config.json"));
    for (const { image, pixel_values: expected } of goldens.items ?? goldens.images!) {
      const picture = await decodePicture(readFileSync(`${sharedData}${model}/${image}`));
      expect(largestDifference(processPictures([picture], settings).data, floatsOf(expected.data))).toBeLessThan(1e-6);
    }
  });
});

describe("configurations", () => {
  const vit = { image_processor_type: "ViTImageProcessor" };
  test.each([
    [{ image_processor_type: "FlavaImageProcessor" }, "MODEL_UNSUPPORTED", "FlavaImageProcessor"],
    [{ size: 3 }, "MODEL_UNSUPPORTED", "image_processor_type"],
    [{ ...vit, do_sharpen: true }, "MODEL_UNSUPPORTED", "do_sharpen"],
    [{ ...vit, size: "large" }, "MODEL_INVALID", "size"],
    [{ ...vit, size: { height: 1e9, width: 3 } }, "MODEL_INVALID", "size"],
    [{ ...vit, resample: 9 }, "MODEL_INVALID", "resample"],
    [{ ...vit, do_resize: "yes" }, "MODEL_INVALID", "do_resize"],
    [{ ...vit, image_std: [0, 1, 1] }, "MODEL_INVALID", "image_std"],
    [{ ...vit, image_mean: [1, 2] }, "MODEL_INVALID", "image_mean"],
    [{ ...vit, rescale_factor: 0 }, "MODEL_INVALID", "rescale_factor"],
    [{ image_processor_type: "ViTImageProcessorFast", resample: 4 }, "MODEL_UNSUPPORTED", "box"],
    [{ image_processor_type: "GLPNImageProcessor", size_divisor: -1 }, "MODEL_INVALID", "size_divisor"],
    [{ image_processor_type: "ConvNextImageProcessor", size: 224, crop_pct: 3 }, "MODEL_INVALID", "crop_pct"],
  ])("%j is refused with %s", (configuration, code, named) => {
    expect(() => settingsOf(configuration)).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(named) as string }),
    );
  });

  test("a class that is not named follows from the model type", () => {
    const fields = { size: { height: 4, width: 4 } };
    expect(readImageSettings({ preprocessor: fields, config: { model_type: "swin" } })).toEqual(
      settingsOf({ ...vit, ...fields }),
    );
  });

  test("processor_config.json of transformers 5 takes precedence", () => {
    const processor = { processor_class: "CLIPProcessor", image_processor: { ...vit, size: 5 } };
    const expected = settingsOf({ ...vit, size: 5 });
    expect(readImageSettings({ processor, preprocessor: { ...vit, size: 9 } })).toEqual(expected);
    expect(readImageSettings({ processor: { processor_class: "CLIPProcessor" } })).toBeUndefined();
  });

  test("timm's configuration resizes by crop_pct and takes the middle", () => {
    const pretrained = {
      input_size: [3, 6, 6],
      crop_pct: 0.75,
      crop_mode: "center",
      interpolation: "bicubic",
      mean: [0, 0, 0],
      std: [1, 1, 1],
    };
    const settings = readImageSettings({ config: { pretrained_cfg: pretrained } })!;
    expect(settings).toMatchObject({
      resize: { rule: { kind: "shortest-edge", edge: 8 }, filter: "bicubic" },
      cropCentre: { width: 6, height: 6 },
    });
    expect(processPictures([pictures[0]!], settings).shape).toEqual([1, 3, 6, 6]);
    const border = { config: { pretrained_cfg: { ...pretrained, crop_mode: "border" } } };
    expect(() => readImageSettings(border)).toThrow(expect.objectContaining({ code: "MODEL_UNSUPPORTED" }));
  });

  test("the fast classes round as torchvision does: within one level of Pillow's", () => {
    const size = { height: 6, width: 8 };
    const slow = processPictures([pictures[0]!], settingsOf({ ...vit, size, do_normalize: false, do_rescale: false })).data;
    const fast = settingsOf({ image_processor_type: "ViTImageProcessorFast", size, do_normalize: false, do_rescale: false });
    expect(fast.reference).toBe("torchvision");
    expect(largestDifference(processPictures([pictures[0]!], fast).data, slow)).toBeLessThanOrEqual(1);
  });
});

describe("pictures that do not fit", () => {
  test("sizes that differ in a batch without padding", () => {
    const settings = settingsOf({ image_processor_type: "ViTImageProcessor", do_resize: false });
    expect(() => processPictures([pictures[0]!, pictures[1]!], settings)).toThrow(
      expect.objectContaining({ code: "INPUT_INVALID" }),
    );
  });

  test("a side that would have no pixel", () => {
    const rule = { kind: "multiple", multiple: 32 } as const;
    expect(() => computeTargetSize({ width: 40, height: 20 }, rule)).toThrow(/40 x 20 pixels would be resized to 32 x 0/u);
  });
});

test("Pillow 12 resizes rows first where Pillow 13 resizes columns first", () => {
  const data = Uint8Array.from({ length: 40 * 6 }, (_, index) => ((index * 7919) % 13 < 6 ? 255 : 0));
  const tall: Picture = { width: 6, height: 40, channels: 1, data };
  const size = { width: 4, height: 5 };
  const rowsFirst = resizePicture(resizePicture(tall, { width: 4, height: 40 }, "lanczos"), size, "lanczos");
  const columnsFirst = resizePicture(resizePicture(tall, { width: 6, height: 5 }, "lanczos"), size, "lanczos");
  expect(resizePicture(tall, size, "lanczos", "pillow-12")).toEqual(rowsFirst);
  expect(resizePicture(tall, size, "lanczos")).toEqual(columnsFirst);
  expect(rowsFirst).not.toEqual(columnsFirst);
});
