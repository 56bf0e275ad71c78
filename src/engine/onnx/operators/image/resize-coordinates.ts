/** Where an output element of a resized axis lies in the input, and which input elements it is made of. */

export interface ResizedAxis {
  readonly axis: number;
  readonly from: number;
  readonly to: number;
  readonly scale: number;
  /** By a factor of float32: `to` is `from` times that, cut off. Else by its size, and the factor is exact. */
  readonly byFactor: boolean;
  /** The part of the axis that a crop keeps, from 0 to 1. */
  readonly start: number;
  readonly end: number;
}

/**
 * https://onnx.ai/onnx/operators/onnx__Resize.html: "coordinate_transformation_mode". Factors of float32 are computed with in float32, as other
 * engines do: 3.5 / 0.7 is 5 there, and between two pixels that decides which one is nearest.
 */
export function inputCoordinate(transformation: string, at: number, axis: ResizedAxis): number {
  const { from, to, scale, byFactor, start, end } = axis;
  const length = byFactor ? from * scale : to; // the specification counts with the length before it is cut off
  const divided = (place: number): number => (byFactor ? Math.fround(place / scale) : place / scale);
  switch (transformation) {
    case "half_pixel":
      return divided(at + 0.5) - 0.5;
    case "half_pixel_symmetric":
      return (from / 2) * (1 - to / length) + divided(at + 0.5) - 0.5;
    case "pytorch_half_pixel":
      return to > 1 ? divided(at + 0.5) - 0.5 : 0;
    case "tf_half_pixel_for_nn":
      return divided(at + 0.5);
    case "align_corners":
      return length === 1 || to === 1 ? 0 : (at * (from - 1)) / (length - 1);
    case "asymmetric":
      return divided(at);
    case "tf_crop_and_resize":
      if (to === 1) return 0.5 * (start + end) * (from - 1);
      return start * (from - 1) + (at * (end - start) * (from - 1)) / (length - 1);
    default:
      throw new Error(`its coordinate_transformation_mode "${transformation}" is unknown`);
  }
}

export function nearestIndex(mode: string, at: number, scale: number): number {
  switch (mode) {
    case "round_prefer_floor":
      return Math.ceil(at - 0.5);
    case "round_prefer_ceil":
      return Math.floor(at + 0.5);
    case "floor":
      return Math.floor(at);
    case "ceil":
      return Math.ceil(at);
    case "simple":
      return scale < 1 ? Math.ceil(at) : Math.floor(at);
    default:
      throw new Error(`its nearest_mode "${mode}" is unknown`);
  }
}

export interface InterpolationOptions {
  readonly mode: string;
  /** Of cubic convolution. */
  readonly slope: number;
  /** Neighbours outside count nothing; else they are the edge's element. */
  readonly excludeOutside: boolean;
  /** Where the axis shrinks, the neighbourhood is as much wider. */
  readonly antialias: boolean;
}

interface Tap {
  readonly index: number;
  readonly weight: number;
}

/** The input elements around a coordinate, with weights that sum to 1. */
export function interpolationTaps(style: InterpolationOptions, at: number, size: number, scale: number): readonly Tap[] {
  const squeeze = style.antialias ? Math.min(scale, 1) : 1;
  const reach = style.mode === "cubic" ? 2 : 1;
  const below = Math.ceil(at) - 1;
  const first = Math.floor(-reach / squeeze) + 1;
  const taps = Array.from({ length: 2 - 2 * first }, (_, offset) => {
    const tap = below + first + offset;
    const distance = Math.abs(tap - at) * squeeze;
    const outside = tap < 0 || tap >= size;
    const weight = style.mode === "cubic" ? cubicWeight(distance, style.slope) : Math.max(0, 1 - distance);
    return { index: Math.min(Math.max(tap, 0), size - 1), weight: style.excludeOutside && outside ? 0 : weight };
  });
  const sum = taps.reduce((all, { weight }) => all + weight, 0);
  return squeeze === 1 && !style.excludeOutside ? taps : taps.map(({ index, weight }) => ({ index, weight: weight / sum }));
}

/** Keys, https://doi.org/10.1109/TASSP.1981.1163711. */
function cubicWeight(distance: number, slope: number): number {
  if (distance <= 1) return ((slope + 2) * distance - (slope + 3)) * distance * distance + 1;
  return distance < 2 ? ((slope * distance - 5 * slope) * distance + 8 * slope) * distance - 4 * slope : 0;
}
