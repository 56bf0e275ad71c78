/** Coordinates and interpolation weights of ONNX Resize along one axis: https://onnx.ai/onnx/operators/onnx__Resize.html. */
/** How one axis of an image is resized: its sizes before and after, and how output positions map to input coordinates. */
export interface ResizedAxis {
  readonly axis: number;
  /** Size of the input. */
  readonly from: number;
  /** Size of the output. */
  readonly to: number;
  readonly scale: number;
  /** Whether the node gives a scale, in float32, and `to` is `from` times that, truncated. Else it gives `to`, and the scale is exact. */
  readonly byFactor: boolean;
  /** Start and end of the cropped region, from 0 to 1. */
  readonly start: number;
  readonly end: number;
}

/**
 * The input coordinate of output element `index` under a coordinate_transformation_mode. Division by a float32 scale is rounded to float32, as in other
 * engines: 3.5 / 0.7 is 5 then, which decides the nearest of two pixels.
 */
export function inputCoordinate(transformation: string, index: number, axis: ResizedAxis): number {
  const { from, to, scale, byFactor, start, end } = axis;
  const length = byFactor ? from * scale : to; // the specification uses the length before it is truncated
  const divided = (coordinate: number): number => (byFactor ? Math.fround(coordinate / scale) : coordinate / scale);
  switch (transformation) {
    case "half_pixel":
      return divided(index + 0.5) - 0.5;
    case "half_pixel_symmetric":
      return (from / 2) * (1 - to / length) + divided(index + 0.5) - 0.5;
    case "pytorch_half_pixel":
      return to > 1 ? divided(index + 0.5) - 0.5 : 0;
    case "tf_half_pixel_for_nn":
      return divided(index + 0.5);
    case "align_corners":
      return length === 1 || to === 1 ? 0 : (index * (from - 1)) / (length - 1);
    case "asymmetric":
      return divided(index);
    case "tf_crop_and_resize":
      if (to === 1) return 0.5 * (start + end) * (from - 1);
      return start * (from - 1) + (index * (end - start) * (from - 1)) / (length - 1);
    default:
      throw new Error(`coordinate_transformation_mode "${transformation}" is unknown`);
  }
}

/**
 * The input index nearest to `coordinate` under an ONNX `nearest_mode`; not clamped to the input. "simple" is the mode of Upsample: floor, or ceil if
 * the axis shrinks. Throws for an unknown mode.
 */
export function nearestIndex(mode: string, coordinate: number, scale: number): number {
  switch (mode) {
    case "round_prefer_floor":
      return Math.ceil(coordinate - 0.5);
    case "round_prefer_ceil":
      return Math.floor(coordinate + 0.5);
    case "floor":
      return Math.floor(coordinate);
    case "ceil":
      return Math.ceil(coordinate);
    case "simple":
      return scale < 1 ? Math.ceil(coordinate) : Math.floor(coordinate);
    default:
      throw new Error(`nearest_mode "${mode}" is unknown`);
  }
}

/** Options of linear and cubic interpolation, as the attributes of ONNX Resize state them. */
export interface InterpolationOptions {
  /** "linear" or "cubic". */
  readonly mode: string;
  /** The coefficient a of cubic convolution. */
  readonly slope: number;
  /**
   * Elements outside of the input get weight 0, and the others are rescaled so that they sum to 1. If false, the elements at the edge are repeated.
   */
  readonly excludeOutside: boolean;
  /** If the axis shrinks, the filter covers more input elements, by the factor of the reduction. Without it, shrinking skips elements. */
  readonly antialias: boolean;
}

interface Tap {
  readonly index: number;
  readonly weight: number;
}

/**
 * The input elements (taps) that one output element is interpolated from, with their weights, which sum to 1. `coordinate` is in input elements,
 * `size` their number.
 */
export function interpolationTaps(style: InterpolationOptions, coordinate: number, size: number, scale: number): readonly Tap[] {
  const squeeze = style.antialias ? Math.min(scale, 1) : 1;
  const reach = style.mode === "cubic" ? 2 : 1;
  const below = Math.ceil(coordinate) - 1;
  const first = Math.floor(-reach / squeeze) + 1;
  const taps = Array.from({ length: 2 - 2 * first }, (_, offset) => {
    const tap = below + first + offset;
    const distance = Math.abs(tap - coordinate) * squeeze;
    const outside = tap < 0 || tap >= size;
    const weight = style.mode === "cubic" ? cubicWeight(distance, style.slope) : Math.max(0, 1 - distance);
    return { index: Math.min(Math.max(tap, 0), size - 1), weight: style.excludeOutside && outside ? 0 : weight };
  });
  const sum = taps.reduce((all, { weight }) => all + weight, 0);
  return squeeze === 1 && !style.excludeOutside ? taps : taps.map(({ index, weight }) => ({ index, weight: weight / sum }));
}

/** The kernel of cubic convolution: Keys, https://doi.org/10.1109/TASSP.1981.1163711. */
function cubicWeight(distance: number, slope: number): number {
  if (distance <= 1) return ((slope + 2) * distance - (slope + 3)) * distance * distance + 1;
  return distance < 2 ? ((slope * distance - 5 * slope) * distance + 8 * slope) * distance - 4 * slope : 0;
}
