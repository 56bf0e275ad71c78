/** preprocessor_config.json and processor_config.json of transformers, old forms and new, and timm's config.json, to `ImageSettings`. */
import { InferyardError } from "../../contract/errors.ts";
import { isJsonObject } from "../../formats/json/exact-json.ts";
import type { ImageSettings } from "./image-settings.ts";
import { readLetterbox } from "./letterbox.ts";
import { type ProcessorClass, classesOfModels, defaultNormalization, processorClasses } from "./processor-classes.ts";
import type { PictureSize } from "./resize-picture.ts";
import { type SettingsFilter, resamplingFilters } from "./resampling-filters.ts";
import { type Fields, readNumbers, readSize, refuseUnknownFields } from "./size-fields.ts";
import { isTimmConfig, readTimmSettings } from "./timm-settings.ts";
import type { SizeRule } from "./target-size.ts";

/** The files of a model that say how pictures are prepared, parsed; absent ones are undefined. */
export interface ProcessorFiles {
  readonly preprocessor?: unknown;
  readonly processor?: unknown;
  readonly config?: unknown;
  /** The field `vision.preprocessor` of inferyard.json, which takes precedence. */
  readonly stated?: unknown;
}

/**
 * Reads the settings of a model. processor_config.json takes precedence where it has an `image_processor`, as in transformers 5. Throws MODEL_UNSUPPORTED for a class
 * or a field that is not known, MODEL_INVALID for a value of the wrong type, and returns undefined where no file says anything about pictures.
 */
export function readImageSettings({ preprocessor, processor, config, stated }: ProcessorFiles): ImageSettings | undefined {
  const model: Fields = isJsonObject(config) ? config : {};
  if (isJsonObject(stated))
    return readFields({ image_processor_type: "ImageProcessor", ...stated }, model, "inferyard.json: vision.preprocessor");
  if (isJsonObject(processor) && isJsonObject(processor["image_processor"]))
    return readFields({ ...processor["image_processor"] }, model, "processor_config.json");
  if (isJsonObject(preprocessor)) return readFields(preprocessor, model, "preprocessor_config.json");
  return isTimmConfig(model) ? readTimmSettings(model) : undefined;
}

/** The name of a class without its ending, and whether it is one of the "Fast" ones, which torchvision computes. */
function readClassName(fields: Fields, model: Fields, file: string): { name: string; isFast: boolean } {
  const written = fields["image_processor_type"] ?? fields["feature_extractor_type"];
  if (typeof written !== "string") {
    const type = String(model["model_type"]);
    const name = Object.hasOwn(classesOfModels, type) ? classesOfModels[type] : undefined;
    if (name !== undefined) return { name, isFast: false };
    throw new InferyardError(
      "MODEL_UNSUPPORTED",
      `${file} has no image_processor_type, and the model type ${type} has no known image processor`,
      {
        data: { modelTypes: Object.keys(classesOfModels) },
      },
    );
  }
  const name = written.replace(/(?:ImageProcessor|FeatureExtractor|ImageFeatureExtractor)(?:Fast|Pil)?$/u, "");
  return { name, isFast: written.endsWith("Fast") };
}

function readFields(fields: Fields, model: Fields, file: string): ImageSettings {
  const { name, isFast } = readClassName(fields, model, file);
  const known =
    name === "" || name === "Image" ? plainClass : Object.hasOwn(processorClasses, name) ? processorClasses[name] : undefined;
  if (known === undefined)
    throw new InferyardError(
      "MODEL_UNSUPPORTED",
      `${file}: the image processor ${String(fields["image_processor_type"] ?? fields["feature_extractor_type"])} is not known; known are ${Object.keys(processorClasses).join(", ")}`,
    );
  refuseUnknownFields(fields, file);
  return compose({ fields, known, file, isFast });
}

/** Exports for transformers.js name `ImageFeatureExtractor` where all values are in the file: what has values is done. */
const plainClass: ProcessorClass = { filter: "bilinear" };

interface Context {
  readonly fields: Fields;
  readonly known: ProcessorClass;
  readonly file: string;
  readonly isFast: boolean;
}

/** Whether a step is done: the configuration's word, or that of the class. */
function isDone({ fields, file }: Context, name: string, byDefault: boolean): boolean {
  const value = fields[name] ?? byDefault;
  if (typeof value === "boolean") return value;
  throw new InferyardError("MODEL_INVALID", `${file}: ${name} is ${JSON.stringify(value)}; allowed: true, false`);
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function compose(context: Context): ImageSettings {
  const { fields, known, isFast } = context;
  const filter = readFilter(context);
  const reference = isFast && filter !== "lanczos" ? "torchvision" : "pillow";
  const crop = isDone(context, "do_center_crop", known.doCenterCrop ?? (known === plainClass && isGiven(fields["crop_size"])));
  const steps = isDone(context, "do_resize", true) ? resizeSteps(context, filter) : {};
  const isPadded = isDone(context, fields["do_pad"] === undefined ? "pad_and_return_pixel_mask" : "do_pad", known.doPad ?? false);
  const cropCentre = crop ? exactSize(context, "crop_size", fields["crop_size"] ?? known.cropSize) : steps.cropCentre;
  return {
    ...steps,
    cropCentre,
    letterbox: fields["letterbox"] === undefined ? undefined : readLetterbox(fields["letterbox"], context.file),
    ...(known.special === "donut" ? donutSteps(context, filter, isPadded) : {}),
    reverseChannels: isDone(context, "do_flip_channel_order", known.doFlipChannelOrder ?? false),
    padEnd: isPadded && known.special !== "donut" ? padSize(context) : undefined,
    factor: isDone(context, "do_rescale", true) ? readFactor(context) : undefined,
    normalization: isDone(context, "do_normalize", known.doNormalize ?? (known !== plainClass || isGiven(fields["image_mean"])))
      ? readNormalization(context)
      : undefined,
    channels: 3,
    reference,
  };
}

const settingsFilters: readonly SettingsFilter[] = [...resamplingFilters, "opencv-linear"];

function readFilter({ fields, known, file, isFast }: Context): SettingsFilter {
  const resample = fields["resample"] ?? fields["interpolation"] ?? resamplingFilters.indexOf(known.filter);
  const filter = typeof resample === "number" ? resamplingFilters[resample] : settingsFilters.find((name) => name === resample);
  if (filter === undefined)
    throw new InferyardError(
      "MODEL_INVALID",
      `${file}: resample is ${JSON.stringify(resample)}; allowed: 0 to 5, or ${settingsFilters.join(", ")}`,
    );
  if (isFast && (filter === "box" || filter === "hamming"))
    throw new InferyardError(
      "MODEL_UNSUPPORTED",
      `${file}: the filter ${filter} is not one that torchvision resizes tensors with`,
    );
  return filter;
}

function readFactor({ fields, file }: Context): number {
  const factor = fields["rescale_factor"] ?? 1 / 255;
  if (typeof factor === "number" && Number.isFinite(factor) && factor > 0) return factor;
  throw new InferyardError("MODEL_INVALID", `${file}: rescale_factor is ${JSON.stringify(factor)}; allowed: a positive number`);
}

function readNormalization({ fields, known, file }: Context): { mean: readonly number[]; std: readonly number[] } {
  const mean = readNumbers(fields["image_mean"] ?? known.mean ?? defaultNormalization.mean, "image_mean", file);
  const std = readNumbers(fields["image_std"] ?? known.std ?? defaultNormalization.std, "image_std", file);
  if (std.includes(0)) throw new InferyardError("MODEL_INVALID", `${file}: image_std has a zero`);
  return { mean, std };
}

/** A size that must name both sides. */
function exactSize({ file }: Context, name: string, value: unknown): PictureSize {
  const size = readSize(value, name, file);
  if (size.height !== undefined && size.width !== undefined) return { height: size.height, width: size.width };
  const side = size.number ?? size.shortestEdge;
  if (side !== undefined) return { height: side, width: side };
  throw new InferyardError(
    "MODEL_INVALID",
    `${file}: ${name} is ${JSON.stringify(value)}; allowed: a number, or an object with height and width`,
  );
}

function padSize(context: Context): PictureSize | "batch" {
  const size = context.fields["pad_size"];
  return size === undefined || size === null ? "batch" : exactSize(context, "pad_size", size);
}

function resizeSteps(context: Context, filter: SettingsFilter): Pick<ImageSettings, "resize" | "cropCentre"> {
  const { fields, known, file } = context;
  const value = fields["size"] ?? known.size;
  const multiple = readMultiple(context);
  if (fields["letterbox"] !== undefined) return { resize: { rule: { kind: "multiple", multiple: 1 }, filter } };
  if (value === undefined && multiple > 1) return { resize: { rule: { kind: "multiple", multiple }, filter } };
  const size = readSize(value, "size", file);
  // A number is both sides, or the shorter edge, as the class has it.
  if (size.number !== undefined) {
    const longest = known.maxSize === undefined ? undefined : (fields["max_size"] ?? known.maxSize);
    return resizeSteps({ ...context, fields: { ...fields, size: numberSize(size.number, known, longest) } }, filter);
  }
  const edge = size.shortestEdge;
  const isCut = known.special === "convnext" || (known === plainClass && fields["crop_pct"] !== undefined);
  if (edge !== undefined && isCut) return convNextSteps(edge, context, filter);
  if (edge !== undefined && known.special === "levit")
    return { resize: { rule: { kind: "shortest-edge", edge: Math.trunc((256 / 224) * edge) }, filter } };
  if (edge !== undefined && known.special === "vilt") {
    const longest = Math.trunc((1333 / 800) * edge);
    return { resize: { rule: { kind: "rounded-edges", shortest: edge, longest, multiple }, filter } };
  }
  return { resize: { rule: sizeRule(size, { multiple, value, file }), filter } };
}

function numberSize(size: number, { isSquare = true }: ProcessorClass, longest: unknown): Fields {
  if (isSquare) return { height: size, width: size };
  return longest === undefined ? { shortest_edge: size } : { shortest_edge: size, longest_edge: longest };
}

function sizeRule(
  size: ReturnType<typeof readSize>,
  { multiple, value, file }: { multiple: number; value: unknown; file: string },
): SizeRule {
  const { shortestEdge, longestEdge, maxHeight, maxWidth, height, width } = size;
  if (shortestEdge !== undefined && longestEdge !== undefined)
    return { kind: "within-edges", shortest: shortestEdge, longest: longestEdge, multiple };
  if (shortestEdge !== undefined) return { kind: "shortest-edge", edge: shortestEdge };
  if (maxHeight !== undefined && maxWidth !== undefined) return { kind: "fit", maxHeight, maxWidth };
  if (longestEdge !== undefined) return { kind: "fit", maxHeight: longestEdge, maxWidth: longestEdge };
  if (height !== undefined && width !== undefined) return { kind: "exact", height, width };
  throw new InferyardError(
    "MODEL_INVALID",
    `${file}: size is ${JSON.stringify(value)}; allowed: height and width, shortest_edge, longest_edge, max_height and max_width`,
  );
}

/** `size_divisor`, or 16 for YOLOS, whose patches have 16 pixels; 1 for all others. */
function readMultiple({ fields, known, file }: Context): number {
  const multiple = fields["size_divisor"] ?? known.sizeDivisor ?? (known.special === "yolos" ? 16 : 1);
  if (typeof multiple === "number" && Number.isSafeInteger(multiple) && multiple > 0) return multiple;
  throw new InferyardError(
    "MODEL_INVALID",
    `${file}: size_divisor is ${JSON.stringify(multiple)}; allowed: a positive whole number`,
  );
}

/** Below 384 pixels a larger picture is resized and its middle taken; from there on the picture is stretched to a square. */
function convNextSteps(
  edge: number,
  { fields, known, file }: Context,
  filter: SettingsFilter,
): Pick<ImageSettings, "resize" | "cropCentre"> {
  if (edge >= 384) return { resize: { rule: { kind: "exact", width: edge, height: edge }, filter } };
  const part = fields["crop_pct"] ?? known.cropPct;
  if (typeof part !== "number" || part <= 0 || part > 1)
    throw new InferyardError("MODEL_INVALID", `${file}: crop_pct is ${JSON.stringify(part)}; allowed: above 0, up to 1`);
  return {
    resize: { rule: { kind: "shortest-edge", edge: Math.trunc(edge / part) }, filter },
    cropCentre: { width: edge, height: edge },
  };
}

function donutSteps(context: Context, filter: SettingsFilter, isPadded: boolean): Partial<ImageSettings> {
  const { fields, known } = context;
  const written = fields["size"] ?? known.size;
  // A list has the width first, unlike lists of all other classes.
  const size = exactSize(context, "size", Array.isArray(written) ? written.toReversed() : written);
  return {
    alignLongAxis: isDone(context, "do_align_long_axis", false) ? size : undefined,
    resize: isDone(context, "do_resize", true)
      ? { rule: { kind: "shortest-edge", edge: Math.min(size.width, size.height) }, filter }
      : undefined,
    thumbnail: isDone(context, "do_thumbnail", true) ? { ...size, filter } : undefined,
    padCentre: isPadded ? size : undefined,
  };
}
