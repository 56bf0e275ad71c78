/**
 * Fast Fourier transform of real frames: a complex transform of half the length (Stockham's autosort algorithm, mixed radix) whose result is
 * split into the spectrum of the even and of the odd samples. In 64-bit floats, without allocation per frame.
 */

/** Computes power spectra of real frames of one length. The arrays are reused by each call. */
export interface RealFft {
  /** Samples of a frame: even. */
  readonly length: number;
  /** Writes |X[k]|^2 of the discrete Fourier transform of `frame` to `power`, for k from 0 to `length` / 2. `frame` is `[length]`. */
  powerSpectrum(frame: Float64Array, power: Float64Array): void;
}

/** A pass of the transform: butterflies of `radix` values that are `rows` * `stride` elements apart. */
interface Stage {
  readonly radix: number;
  readonly rows: number;
  readonly stride: number;
  /** Real and imaginary parts of exp(-2 pi i row k / (radix rows)), `[rows, radix]`. */
  readonly cosines: Float64Array;
  readonly sines: Float64Array;
  /** Real and imaginary parts of exp(-2 pi i k / radix). */
  readonly rootCosines: Float64Array;
  readonly rootSines: Float64Array;
}

/** Complex values as two arrays. */
interface Complex {
  readonly real: Float64Array;
  readonly imaginary: Float64Array;
}

/** The radices of a length: 4 as often as it divides, then the prime factors. */
function factorize(length: number): number[] {
  const factors: number[] = [];
  let rest = length;
  for (const factor of [4, ...Array.from({ length: Math.max(0, length - 1) }, (_, index) => index + 2)])
    for (; rest % factor === 0 && rest > 1; rest /= factor) factors.push(factor);
  return factors;
}

function planStages(length: number): Stage[] {
  const stages: Stage[] = [];
  let stride = 1;
  for (const radix of factorize(length)) {
    const rows = length / stride / radix;
    const angle = (row: number, k: number): number => (-2 * Math.PI * ((row * k) % (radix * rows))) / (radix * rows);
    const twiddles = (part: (angle: number) => number): Float64Array =>
      Float64Array.from({ length: rows * radix }, (_, index) => part(angle(Math.floor(index / radix), index % radix)));
    const roots = (part: (angle: number) => number): Float64Array =>
      Float64Array.from({ length: radix }, (_, k) => part((-2 * Math.PI * k) / radix));
    stages.push({
      radix,
      rows,
      stride,
      cosines: twiddles(Math.cos),
      sines: twiddles(Math.sin),
      rootCosines: roots(Math.cos),
      rootSines: roots(Math.sin),
    });
    stride *= radix;
  }
  return stages;
}

/** A butterfly of four: no multiplications but those by the twiddle factors. */
function runRadix4({ rows, stride, cosines, sines }: Stage, input: Complex, output: Complex): void {
  const { real: xr, imaginary: xi } = input;
  const { real: yr, imaginary: yi } = output;
  const step = rows * stride;
  for (let row = 0; row < rows; row++) {
    const c1 = cosines[row * 4 + 1] ?? 0;
    const s1 = sines[row * 4 + 1] ?? 0;
    const c2 = cosines[row * 4 + 2] ?? 0;
    const s2 = sines[row * 4 + 2] ?? 0;
    const c3 = cosines[row * 4 + 3] ?? 0;
    const s3 = sines[row * 4 + 3] ?? 0;
    for (let lane = 0; lane < stride; lane++) {
      const from = row * stride + lane;
      const to = row * 4 * stride + lane;
      const ar = xr[from] ?? 0;
      const ai = xi[from] ?? 0;
      const br = xr[from + step] ?? 0;
      const bi = xi[from + step] ?? 0;
      const cr = xr[from + 2 * step] ?? 0;
      const ci = xi[from + 2 * step] ?? 0;
      const dr = xr[from + 3 * step] ?? 0;
      const di = xi[from + 3 * step] ?? 0;
      const evenSumR = ar + cr;
      const evenSumI = ai + ci;
      const evenDifferenceR = ar - cr;
      const evenDifferenceI = ai - ci;
      const oddSumR = br + dr;
      const oddSumI = bi + di;
      const oddDifferenceR = bi - di;
      const oddDifferenceI = dr - br;
      yr[to] = evenSumR + oddSumR;
      yi[to] = evenSumI + oddSumI;
      const r1 = evenDifferenceR + oddDifferenceR;
      const i1 = evenDifferenceI + oddDifferenceI;
      yr[to + stride] = r1 * c1 - i1 * s1;
      yi[to + stride] = r1 * s1 + i1 * c1;
      const r2 = evenSumR - oddSumR;
      const i2 = evenSumI - oddSumI;
      yr[to + 2 * stride] = r2 * c2 - i2 * s2;
      yi[to + 2 * stride] = r2 * s2 + i2 * c2;
      const r3 = evenDifferenceR - oddDifferenceR;
      const i3 = evenDifferenceI - oddDifferenceI;
      yr[to + 3 * stride] = r3 * c3 - i3 * s3;
      yi[to + 3 * stride] = r3 * s3 + i3 * c3;
    }
  }
}

/** A butterfly of any odd number of values, or of two: pairs of values that are symmetric about the first share their products. */
function runRadix({ radix, rows, stride, cosines, sines, rootCosines, rootSines }: Stage, input: Complex, output: Complex): void {
  const { real: xr, imaginary: xi } = input;
  const { real: yr, imaginary: yi } = output;
  const step = rows * stride;
  for (let row = 0; row < rows; row++) {
    for (let lane = 0; lane < stride; lane++) {
      const from = row * stride + lane;
      const to = row * radix * stride + lane;
      for (let k = 0; k <= radix >> 1; k++) {
        let evenR = xr[from] ?? 0;
        let evenI = xi[from] ?? 0;
        let oddR = 0;
        let oddI = 0;
        for (let term = 1; term <= radix >> 1; term++) {
          const low = from + term * step;
          const high = from + (radix - term) * step;
          const cosine = rootCosines[(term * k) % radix] ?? 0;
          const sine = rootSines[(term * k) % radix] ?? 0;
          if (low === high) {
            evenR += (xr[low] ?? 0) * cosine;
            evenI += (xi[low] ?? 0) * cosine;
            continue;
          }
          evenR += ((xr[low] ?? 0) + (xr[high] ?? 0)) * cosine;
          evenI += ((xi[low] ?? 0) + (xi[high] ?? 0)) * cosine;
          oddR -= ((xi[low] ?? 0) - (xi[high] ?? 0)) * sine;
          oddI += ((xr[low] ?? 0) - (xr[high] ?? 0)) * sine;
        }
        const twiddle = row * radix + k;
        writeRotated(output, to + k * stride, evenR + oddR, evenI + oddI, cosines[twiddle] ?? 0, sines[twiddle] ?? 0);
        if (k === 0 || k * 2 === radix) continue;
        const mirrored = row * radix + radix - k;
        const target = to + (radix - k) * stride;
        const cosine = cosines[mirrored] ?? 0;
        const sine = sines[mirrored] ?? 0;
        yr[target] = (evenR - oddR) * cosine - (evenI - oddI) * sine;
        yi[target] = (evenR - oddR) * sine + (evenI - oddI) * cosine;
      }
    }
  }
}

function writeRotated({ real, imaginary }: Complex, at: number, r: number, i: number, cosine: number, sine: number): void {
  real[at] = r * cosine - i * sine;
  imaginary[at] = r * sine + i * cosine;
}

/** A transform of real frames of `length` samples, an even number. */
export function createRealFft(length: number): RealFft {
  if (!Number.isInteger(length) || length < 2 || length % 2 !== 0)
    throw new RangeError(`a real transform of ${length} samples; the length must be even and 2 or more`);
  const half = length / 2;
  const stages = planStages(half);
  const complex = (): Complex => ({ real: new Float64Array(half), imaginary: new Float64Array(half) });
  const buffers: readonly [Complex, Complex] = [complex(), complex()];
  const cosines = Float64Array.from({ length: half + 1 }, (_, k) => Math.cos((-2 * Math.PI * k) / length));
  const sines = Float64Array.from({ length: half + 1 }, (_, k) => Math.sin((-2 * Math.PI * k) / length));
  return {
    length,
    powerSpectrum(frame, power) {
      let [current, next] = buffers;
      for (let index = 0; index < half; index++) {
        current.real[index] = frame[2 * index] ?? 0;
        current.imaginary[index] = frame[2 * index + 1] ?? 0;
      }
      for (const stage of stages) {
        if (stage.radix === 4) runRadix4(stage, current, next);
        else runRadix(stage, current, next);
        [current, next] = [next, current];
      }
      const { real, imaginary } = current;
      for (let k = 0; k <= half; k++) {
        const low = k === half ? 0 : k;
        const high = k === 0 ? 0 : half - k;
        const evenR = ((real[low] ?? 0) + (real[high] ?? 0)) / 2;
        const evenI = ((imaginary[low] ?? 0) - (imaginary[high] ?? 0)) / 2;
        const oddR = ((imaginary[low] ?? 0) + (imaginary[high] ?? 0)) / 2;
        const oddI = ((real[high] ?? 0) - (real[low] ?? 0)) / 2;
        const cosine = cosines[k] ?? 0;
        const sine = sines[k] ?? 0;
        const r = evenR + oddR * cosine - oddI * sine;
        const i = evenI + oddR * sine + oddI * cosine;
        power[k] = r * r + i * i;
      }
    },
  };
}
