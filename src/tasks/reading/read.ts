/** The task that reads the text of a picture on a loaded model. */
import { InferyardError, quoteOption } from "../../contract/errors.ts";
import type { Manifest } from "../../models/manifest.ts";
import { findPageReader, readDictionary } from "../../models/page-reader.ts";
import { checkOptions } from "../../runtime/options/option.ts";
import type { PictureSource } from "../../processors/images/picture-source.ts";
import type { MediaModel } from "../definition/media-task.ts";
import { withDecoded } from "../vision/picture-samples.ts";
import { findLineDecoder, readLine, readsFields } from "./read-line.ts";
import { toThreeChannels } from "./page-colours.ts";
import { type ReadPageOptions, readPageOptions } from "./read-options.ts";
import { type ReadPage, readPage } from "./read-page.ts";

/**
 * Reads a page with the networks of PP-OCR, one line with TrOCR, or fields with Donut. Throws MODEL_UNSUPPORTED for a model that does not read pages, INPUT_INVALID for options that are not allowed, and what
 * `readPicture` throws.
 */
export async function read(model: MediaModel, picture: PictureSource, options: ReadPageOptions = {}): Promise<ReadPage> {
  checkOptions(readPageOptions, options);
  const { manifest } = model;
  const decoder = findLineDecoder(model);
  if (decoder !== undefined) {
    const isOfFields = readsFields(manifest);
    refuseOptions(options, ["order", "words"], `${manifest.name} reads ${isOfFields ? "fields" : "one line"}`);
    if (!isOfFields) refuseOptions(options, ["prompt"], `${manifest.name} reads one line, not fields`);
    return readLine(model, decoder, picture, options);
  }
  const parts = findPageReader(manifest.variants);
  if (parts === undefined)
    throw new InferyardError(
      "MODEL_UNSUPPORTED",
      `${describeModel(manifest)} is not among the models that read the text of pictures here`,
      {
        remedy:
          "name a folder with the networks of PP-OCR (*det*.onnx, *rec*.onnx and perhaps *cls*.onnx), or with TrOCR or Donut",
      },
    );
  refuseOptions(options, ["maxNewTokens", "prompt"], `${manifest.name} reads whole pages`);
  const [recognizer, detector, classifier, dictionary] = await Promise.all([
    model.part(parts.recognizer),
    model.part(parts.detector),
    parts.classifier === undefined ? undefined : model.part(parts.classifier),
    readDictionary(manifest, parts),
  ]);
  const { pictureBudget: budget } = model;
  return withDecoded(picture, { channels: 4, budget, signal: options.signal }, (page) =>
    readPage({ detector, recognizer, classifier, dictionary }, toThreeChannels(page), options),
  );
}

/** A model by its name and, where its config.json states one, its type. */
function describeModel({ name, variants }: Manifest): string {
  const type = variants[0]?.config["model_type"];
  return typeof type === "string" ? `${name}, of the type ${JSON.stringify(type)},` : name;
}

/** Throws INPUT_INVALID for options that have no effect on a model; `reason` says why. */
function refuseOptions(options: ReadPageOptions, names: readonly (keyof ReadPageOptions)[], reason: string): void {
  const name = names.find((each) => options[each] !== undefined);
  if (name === undefined) return;
  throw new InferyardError("INPUT_INVALID", `${quoteOption(name)} has no effect: ${reason}`, {
    remedy: `leave ${quoteOption(name)} out`,
  });
}
