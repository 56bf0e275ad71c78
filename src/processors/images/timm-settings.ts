/** How pictures are prepared by timm's config.json: the transforms that timm makes for evaluation. */
import { InferyardError } from "../../contract/errors.ts";
import { isJsonObject } from "../../formats/json/exact-json.ts";
import type { ImageSettings } from "./image-settings.ts";
import { resamplingFilters } from "./resampling-filters.ts";
import { type Fields, readNumbers } from "./size-fields.ts";

/** Whether a config.json is one that timm wrote. */
export function isTimmConfig(config: Fields): boolean {
  return isJsonObject(config["pretrained_cfg"]);
}

/**
 * Resize and centre crop of `pretrained_cfg`: the picture is resized to `input_size / crop_pct`, by its shorter edge for `crop_mode` "center" and to a square for
 * "squash", and its middle is taken. Throws MODEL_UNSUPPORTED for another `crop_mode` or filter.
 */
export function readTimmSettings(config: Fields): ImageSettings {
  const written = config["pretrained_cfg"];
  const fields: Fields = isJsonObject(written) ? written : {};
  const file = "config.json";
  const input = fields["input_size"];
  if (!Array.isArray(input) || input.length !== 3 || !input.every((side) => Number.isSafeInteger(side) && side > 0))
    throw new InferyardError(
      "MODEL_INVALID",
      `${file}: pretrained_cfg.input_size is ${JSON.stringify(input)}; allowed: [channels, height, width]`,
    );
  const [channels, height, width] = input.map(Number);
  if (channels !== 3 && channels !== 1)
    throw new InferyardError("MODEL_UNSUPPORTED", `${file}: pretrained_cfg.input_size has ${channels} channels; allowed: 1, 3`);
  const part = fields["crop_pct"] ?? 0.875;
  const mode = fields["crop_mode"] ?? "center";
  const filter = resamplingFilters.find((name) => name === (fields["interpolation"] ?? "bilinear"));
  if (typeof part !== "number" || part <= 0)
    throw new InferyardError("MODEL_INVALID", `${file}: pretrained_cfg.crop_pct is ${JSON.stringify(part)}; allowed: above 0`);
  if ((mode !== "center" && mode !== "squash") || (mode === "center" && height !== width) || filter === undefined)
    throw new InferyardError(
      "MODEL_UNSUPPORTED",
      `${file}: pretrained_cfg has crop_mode ${JSON.stringify(mode)}, interpolation ${JSON.stringify(fields["interpolation"])} and input_size ${JSON.stringify(input)}; allowed: center with equal sides, squash, and the filters ${resamplingFilters.join(", ")}`,
    );
  const scaled = (side = 1): number => Math.floor(side / part);
  return {
    resize: {
      filter,
      rule:
        mode === "center"
          ? { kind: "shortest-edge", edge: scaled(height) }
          : { kind: "exact", height: scaled(height), width: scaled(width) },
    },
    cropCentre: { height: height ?? 1, width: width ?? 1 },
    reverseChannels: false,
    factor: 1 / 255,
    normalization: {
      mean: readNumbers(fields["mean"], "pretrained_cfg.mean", file),
      std: readNumbers(fields["std"], "pretrained_cfg.std", file),
    },
    channels,
    reference: "pillow",
  };
}
