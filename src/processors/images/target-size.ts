/** The size that a picture is resized to: the rules of transformers' image processors. */
import { InferyardError } from "../../contract/errors.ts";
import type { PictureSize } from "./resize-picture.ts";

/** How the size of the resized picture follows from that of the picture. Sizes are pixels. */
export type SizeRule =
  /** Exactly this size, whatever the proportions. */
  | { readonly kind: "exact"; readonly width: number; readonly height: number }
  /** The shorter side gets `edge`, the longer one in proportion, cut to whole pixels. */
  | { readonly kind: "shortest-edge"; readonly edge: number }
  /** As "shortest-edge", unless the longer side would exceed `longest`: then that one gets `longest`. `multiple`: both sides are cut to multiples of it. */
  | { readonly kind: "within-edges"; readonly shortest: number; readonly longest: number; readonly multiple: number }
  /** As large as fits into this size with the same proportions. */
  | { readonly kind: "fit"; readonly maxWidth: number; readonly maxHeight: number }
  /** Both sides are cut to multiples. */
  | { readonly kind: "multiple"; readonly multiple: number }
  /** ViLT: the shorter side gets `shortest`, the longer at most `longest`, both are rounded, then cut to multiples. */
  | { readonly kind: "rounded-edges"; readonly shortest: number; readonly longest: number; readonly multiple: number };

/** Applies a rule. Throws INPUT_INVALID where a side would have no pixel. */
export function computeTargetSize(picture: PictureSize, rule: SizeRule): PictureSize {
  const size = applyRule(picture, rule);
  if (size.width >= 1 && size.height >= 1) return size;
  throw new InferyardError(
    "INPUT_INVALID",
    `a picture of ${picture.width} x ${picture.height} pixels would be resized to ${size.width} x ${size.height}; the model needs at least 1 x 1`,
  );
}

function applyRule({ width, height }: PictureSize, rule: SizeRule): PictureSize {
  switch (rule.kind) {
    case "exact":
      return { width: rule.width, height: rule.height };
    case "shortest-edge": {
      const longer = Math.trunc((rule.edge * Math.max(width, height)) / Math.min(width, height));
      return width <= height ? { width: rule.edge, height: longer } : { width: longer, height: rule.edge };
    }
    case "within-edges": {
      const { width: wide, height: high } = withinEdges({ width, height }, rule);
      return { width: wide - (wide % rule.multiple), height: high - (high % rule.multiple) };
    }
    case "fit": {
      const scale = Math.min(rule.maxHeight / height, rule.maxWidth / width);
      return { width: Math.trunc(width * scale), height: Math.trunc(height * scale) };
    }
    case "multiple":
      return { width: width - (width % rule.multiple), height: height - (height % rule.multiple) };
    case "rounded-edges":
      return roundedEdges({ width, height }, rule);
  }
}

/** Rounding of Python's `round`: halves go to the even number. */
function roundHalfToEven(value: number): number {
  const rounded = Math.round(value);
  return value - Math.trunc(value) === 0.5 && rounded % 2 !== 0 ? rounded - 1 : rounded;
}

/** DETR's rule. The size before rounding counts for the longer side. */
function withinEdges({ width, height }: PictureSize, { shortest, longest }: { shortest: number; longest: number }): PictureSize {
  const [short, long] = [Math.min(width, height), Math.max(width, height)];
  const exact = (long / short) * shortest > longest ? (longest * short) / long : shortest;
  const edge = roundHalfToEven(exact);
  if (short === edge) return { width, height };
  return width < height
    ? { width: edge, height: Math.trunc((exact * height) / width) }
    : { width: Math.trunc((exact * width) / height), height: edge };
}

function roundedEdges(
  { width, height }: PictureSize,
  { shortest, longest, multiple }: { shortest: number; longest: number; multiple: number },
): PictureSize {
  const scale = shortest / Math.min(width, height);
  let [wide, high] = height < width ? [scale * width, shortest] : [shortest, scale * height];
  if (Math.max(wide, high) > longest) {
    const smaller = longest / Math.max(wide, high);
    [wide, high] = [smaller * wide, smaller * high];
  }
  const cut = (side: number): number => Math.floor(Math.trunc(side + 0.5) / multiple) * multiple;
  return { width: cut(wide), height: cut(high) };
}
