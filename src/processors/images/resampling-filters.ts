/** The filters of Pillow's `Image.resize`, and the weights of the source pixels of each output pixel. */

/** A filter by its name in Pillow's `Image.Resampling`. */
export type ResamplingFilter = "nearest" | "lanczos" | "bilinear" | "bicubic" | "box" | "hamming";

/** A filter of Pillow, or OpenCV's bilinear one, which has no antialiasing. */
export type SettingsFilter = ResamplingFilter | "opencv-linear";

/** The filters by the number that `resample` has in configurations. */
export const resamplingFilters: readonly ResamplingFilter[] = ["nearest", "lanczos", "bilinear", "bicubic", "box", "hamming"];

/** A filter as a function of the distance in source pixels; zero beyond `support`. */
interface Kernel {
  readonly support: number;
  weight(distance: number): number;
}

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(x * Math.PI) / (x * Math.PI);
}

/** Parameter of the cubic convolution (Keys 1981); OpenCV and torchvision without antialiasing have -0.75. */
const cubic = -0.5;

/** The constants of the Hamming window, which Pillow has as 32-bit floats. */
const [hammingBase, hammingSwing] = [Math.fround(0.54), Math.fround(0.46)];

const kernels: Readonly<Record<Exclude<ResamplingFilter, "nearest">, Kernel>> = {
  box: { support: 0.5, weight: (x) => (x > -0.5 && x <= 0.5 ? 1 : 0) },
  bilinear: { support: 1, weight: (x) => Math.max(0, 1 - Math.abs(x)) },
  hamming: {
    support: 1,
    weight: (x) => {
      const distance = Math.abs(x);
      if (distance === 0) return 1;
      return distance >= 1 ? 0 : sinc(distance) * (hammingBase + hammingSwing * Math.cos(distance * Math.PI));
    },
  },
  bicubic: {
    support: 2,
    weight: (x) => {
      const distance = Math.abs(x);
      if (distance < 1) return ((cubic + 2) * distance - (cubic + 3)) * distance * distance + 1;
      return distance < 2 ? (((distance - 5) * distance + 8) * distance - 4) * cubic : 0;
    },
  },
  lanczos: { support: 3, weight: (x) => (x >= -3 && x < 3 ? sinc(x) * sinc(x / 3) : 0) },
};

/** Weights of one axis in fixed point. Output pixel `i` is the sum of `counts[i]` source pixels from `starts[i]` with the weights from `i * stride`. */
export interface AxisWeights {
  readonly starts: Int32Array;
  readonly counts: Int32Array;
  readonly weights: Int32Array;
  readonly stride: number;
  /** Bits after the binary point. */
  readonly bits: number;
}

/** How weights become integers: Pillow's 22 bits, or PyTorch's 16-bit integers with as many bits as the largest weight leaves. */
export type WeightPrecision = "pillow" | "torch";

/**
 * Weights with antialiasing: where the picture shrinks, the filter is stretched over as many source pixels as one output pixel covers. The same sums in the same
 * order as Pillow's `precompute_coeffs` and `normalize_coeffs_8bpc`.
 */
export function createAxisWeights(
  source: number,
  target: number,
  filter: Exclude<ResamplingFilter, "nearest">,
  precision: WeightPrecision,
): AxisWeights {
  const kernel = kernels[filter];
  const scale = source / target;
  const stretch = Math.max(scale, 1);
  const support = kernel.support * stretch;
  const inverse = 1 / stretch;
  const stride = Math.ceil(support) * 2 + 1;
  const starts = new Int32Array(target);
  const counts = new Int32Array(target);
  const exact = new Float64Array(target * stride);
  for (let out = 0; out < target; out++) {
    const centre = (out + 0.5) * scale;
    const start = Math.max(0, Math.trunc(centre - support + 0.5));
    const count = Math.min(source, Math.trunc(centre + support + 0.5)) - start;
    let sum = 0;
    for (let tap = 0; tap < count; tap++) {
      const weight = kernel.weight((tap + start - centre + 0.5) * inverse);
      exact[out * stride + tap] = weight;
      sum += weight;
    }
    if (sum !== 0) for (let tap = 0; tap < count; tap++) exact[out * stride + tap] = (exact[out * stride + tap] ?? 0) / sum;
    starts[out] = start;
    counts[out] = count;
  }
  const bits = precision === "pillow" ? 22 : bitsWithin16(exact);
  const weights = Int32Array.from(exact, (weight) => Math.trunc(weight * 2 ** bits + (weight < 0 ? -0.5 : 0.5)));
  return { starts, counts, weights, stride, bits };
}

/** The most bits after the binary point, up to 22, with which the largest weight is a signed integer of 16 bits. */
function bitsWithin16(weights: Float64Array): number {
  const largest = weights.reduce((most, weight) => Math.max(most, weight), 0);
  let bits = 0;
  while (bits < 22 && Math.trunc(0.5 + largest * 2 ** (bits + 1)) < 2 ** 15) bits++;
  return bits;
}
