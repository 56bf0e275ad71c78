/** Fields of preprocessor_config.json: sizes in all their forms, lists of numbers, and the names that are known. */
import { InferyardError } from "../../contract/errors.ts";
import { isJsonObject } from "../../formats/json/exact-json.ts";

export type Fields = Readonly<Record<string, unknown>>;

/** A size as it is written; which fields there are says how the picture is resized. */
export interface WrittenSize {
  /** The old form: one number. */
  readonly number?: number;
  readonly height?: number;
  readonly width?: number;
  readonly shortestEdge?: number;
  readonly longestEdge?: number;
  readonly maxHeight?: number;
  readonly maxWidth?: number;
}

const sizeFields: Readonly<Record<string, keyof WrittenSize>> = {
  height: "height",
  width: "width",
  shortest_edge: "shortestEdge",
  longest_edge: "longestEdge",
  max_height: "maxHeight",
  max_width: "maxWidth",
};

/** The largest side that a configuration may ask for, in pixels. */
const maxTargetSide = 16_384;

function isSide(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 && value <= maxTargetSide;
}

/** Reads a size: a number, `[height, width]`, or an object. Throws MODEL_INVALID for anything else. */
export function readSize(value: unknown, name: string, file: string): WrittenSize {
  if (isSide(value)) return { number: value };
  if (Array.isArray(value) && value.length === 1 && isSide(value[0])) return { number: value[0] };
  if (Array.isArray(value) && value.length === 2) {
    const [height, width]: unknown[] = value;
    if (isSide(height) && isSide(width)) return { height, width };
  }
  if (isJsonObject(value)) {
    const entries = Object.entries(value).filter(([, side]) => side !== null);
    if (entries.length > 0 && entries.every(([field, side]) => Object.hasOwn(sizeFields, field) && isSide(side)))
      return Object.fromEntries(entries.map(([field, side]) => [sizeFields[field], side]));
  }
  throw new InferyardError(
    "MODEL_INVALID",
    `${file}: ${name} is ${JSON.stringify(value)}; allowed: a number of pixels up to ${maxTargetSide}, [height, width], or an object of ${Object.keys(sizeFields).join(", ")}`,
  );
}

/** Reads one number per channel; one number stands for all three. */
export function readNumbers(value: unknown, name: string, file: string): readonly number[] {
  if (typeof value === "number") return [value, value, value];
  if (Array.isArray(value) && [1, 3].includes(value.length) && value.every((entry) => typeof entry === "number")) return value;
  throw new InferyardError("MODEL_INVALID", `${file}: ${name} is ${JSON.stringify(value)}; allowed: a number per channel`);
}

/** Fields that are read. */
const readFieldNames = [
  "image_processor_type",
  "feature_extractor_type",
  "do_resize",
  "size",
  "max_size",
  "resample",
  "interpolation",
  "size_divisor",
  "crop_pct",
  "do_center_crop",
  "crop_size",
  "do_rescale",
  "rescale_factor",
  "do_normalize",
  "image_mean",
  "image_std",
  "do_pad",
  "pad_and_return_pixel_mask",
  "pad_size",
  "do_flip_channel_order",
  "do_thumbnail",
  "do_align_long_axis",
  "letterbox",
];

/** Fields that say nothing about one picture for one prediction: names of classes, forms of results, labels of training. */
const irrelevantFieldNames = [
  "processor_class",
  "_processor_class",
  "_valid_processor_keys",
  "auto_map",
  "data_format",
  "input_data_format",
  "return_tensors",
  "device",
  "disable_grouping",
  "default_to_square",
  "do_convert_rgb",
  "do_convert_annotations",
  "do_reduce_labels",
  "reduce_labels",
  "format",
  "image_seq_length",
  "image_seq_len",
  "masks_path",
  "model_input_names",
  "name_or_path",
  "num_channels",
  "return_segmentation_masks",
  "transformers_version",
];

const knownFieldNames = new Set([...readFieldNames, ...irrelevantFieldNames]);

/** Throws MODEL_UNSUPPORTED for fields that are not known, unless they are null, false or empty. */
export function refuseUnknownFields(fields: Fields, file: string): void {
  const isEmpty = (value: unknown): boolean => value === null || value === false || (Array.isArray(value) && value.length === 0);
  const unknown = Object.entries(fields).filter(([name, value]) => !knownFieldNames.has(name) && !isEmpty(value));
  if (unknown.length === 0) return;
  const names = unknown.map(([name]) => name).join(", ");
  throw new InferyardError(
    "MODEL_UNSUPPORTED",
    `${file}: how pictures are prepared depends on fields that are not known: ${names}`,
  );
}
