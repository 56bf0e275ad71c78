/** Complex fast Fourier transform: Stockham's autosort algorithm with butterflies of mixed radix, for any length. */

/** Complex values as two arrays of one length. */
export interface Complex {
  readonly real: Float64Array;
  readonly imaginary: Float64Array;
}

export function createComplex(length: number): Complex {
  return { real: new Float64Array(length), imaginary: new Float64Array(length) };
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

/** The radices of a length: 4 as often as it divides, then the prime factors. */
export function factorizeLength(length: number): number[] {
  const factors: number[] = [];
  let rest = length;
  let factor = 4;
  while (rest > 1) {
    if (rest % factor === 0) {
      factors.push(factor);
      rest /= factor;
    } else if (factor === 4 && rest % 2 === 0) {
      factors.push(2);
      rest /= 2;
    } else factor = factor === 4 ? 3 : factor + 2;
  }
  return factors;
}

function planStages(length: number): Stage[] {
  const stages: Stage[] = [];
  let stride = 1;
  for (const radix of factorizeLength(length)) {
    const rows = length / stride / radix;
    const angle = (index: number): number =>
      (-2 * Math.PI * ((Math.floor(index / radix) * (index % radix)) % (radix * rows))) / (radix * rows);
    stages.push({
      radix,
      rows,
      stride,
      cosines: Float64Array.from({ length: rows * radix }, (_, index) => Math.cos(angle(index))),
      sines: Float64Array.from({ length: rows * radix }, (_, index) => Math.sin(angle(index))),
      rootCosines: Float64Array.from({ length: radix }, (_, k) => Math.cos((-2 * Math.PI * k) / radix)),
      rootSines: Float64Array.from({ length: radix }, (_, k) => Math.sin((-2 * Math.PI * k) / radix)),
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
      yr[to] = ar + cr + br + dr;
      yi[to] = ai + ci + bi + di;
      const r1 = ar - cr + bi - di;
      const i1 = ai - ci + dr - br;
      yr[to + stride] = r1 * c1 - i1 * s1;
      yi[to + stride] = r1 * s1 + i1 * c1;
      const r2 = ar + cr - br - dr;
      const i2 = ai + ci - bi - di;
      yr[to + 2 * stride] = r2 * c2 - i2 * s2;
      yi[to + 2 * stride] = r2 * s2 + i2 * c2;
      const r3 = ar - cr - bi + di;
      const i3 = ai - ci - dr + br;
      yr[to + 3 * stride] = r3 * c3 - i3 * s3;
      yi[to + 3 * stride] = r3 * s3 + i3 * c3;
    }
  }
}

/** A butterfly of five, with the products of Rader's real form: two cosines and two sines of the pairs (1, 4) and (2, 3). */
function runRadix5({ rows, stride, cosines, sines }: Stage, input: Complex, output: Complex): void {
  const { real: xr, imaginary: xi } = input;
  const { real: yr, imaginary: yi } = output;
  const step = rows * stride;
  const [u1, u2] = [Math.cos((2 * Math.PI) / 5), Math.cos((4 * Math.PI) / 5)];
  const [v1, v2] = [Math.sin((2 * Math.PI) / 5), Math.sin((4 * Math.PI) / 5)];
  for (let row = 0; row < rows; row++) {
    const c1 = cosines[row * 5 + 1] ?? 0;
    const s1 = sines[row * 5 + 1] ?? 0;
    const c2 = cosines[row * 5 + 2] ?? 0;
    const s2 = sines[row * 5 + 2] ?? 0;
    const c3 = cosines[row * 5 + 3] ?? 0;
    const s3 = sines[row * 5 + 3] ?? 0;
    const c4 = cosines[row * 5 + 4] ?? 0;
    const s4 = sines[row * 5 + 4] ?? 0;
    for (let lane = 0; lane < stride; lane++) {
      const from = row * stride + lane;
      const to = row * 5 * stride + lane;
      const ar = xr[from] ?? 0;
      const ai = xi[from] ?? 0;
      const br = xr[from + step] ?? 0;
      const bi = xi[from + step] ?? 0;
      const cr = xr[from + 2 * step] ?? 0;
      const ci = xi[from + 2 * step] ?? 0;
      const dr = xr[from + 3 * step] ?? 0;
      const di = xi[from + 3 * step] ?? 0;
      const er = xr[from + 4 * step] ?? 0;
      const ei = xi[from + 4 * step] ?? 0;
      const p1r = ar + u1 * (br + er) + u2 * (cr + dr);
      const p1i = ai + u1 * (bi + ei) + u2 * (ci + di);
      const p2r = ar + u2 * (br + er) + u1 * (cr + dr);
      const p2i = ai + u2 * (bi + ei) + u1 * (ci + di);
      const q1r = v1 * (bi - ei) + v2 * (ci - di);
      const q1i = v1 * (er - br) + v2 * (dr - cr);
      const q2r = v2 * (bi - ei) - v1 * (ci - di);
      const q2i = v2 * (er - br) - v1 * (dr - cr);
      yr[to] = ar + br + cr + dr + er;
      yi[to] = ai + bi + ci + di + ei;
      yr[to + stride] = (p1r + q1r) * c1 - (p1i + q1i) * s1;
      yi[to + stride] = (p1r + q1r) * s1 + (p1i + q1i) * c1;
      yr[to + 2 * stride] = (p2r + q2r) * c2 - (p2i + q2i) * s2;
      yi[to + 2 * stride] = (p2r + q2r) * s2 + (p2i + q2i) * c2;
      yr[to + 3 * stride] = (p2r - q2r) * c3 - (p2i - q2i) * s3;
      yi[to + 3 * stride] = (p2r - q2r) * s3 + (p2i - q2i) * c3;
      yr[to + 4 * stride] = (p1r - q1r) * c4 - (p1i - q1i) * s4;
      yi[to + 4 * stride] = (p1r - q1r) * s4 + (p1i - q1i) * c4;
    }
  }
}

/** A butterfly of two. */
function runRadix2({ rows, stride, cosines, sines }: Stage, input: Complex, output: Complex): void {
  const { real: xr, imaginary: xi } = input;
  const { real: yr, imaginary: yi } = output;
  const step = rows * stride;
  for (let row = 0; row < rows; row++) {
    const cosine = cosines[row * 2 + 1] ?? 0;
    const sine = sines[row * 2 + 1] ?? 0;
    for (let lane = 0; lane < stride; lane++) {
      const from = row * stride + lane;
      const to = row * 2 * stride + lane;
      const ar = xr[from] ?? 0;
      const ai = xi[from] ?? 0;
      const br = xr[from + step] ?? 0;
      const bi = xi[from + step] ?? 0;
      yr[to] = ar + br;
      yi[to] = ai + bi;
      yr[to + stride] = (ar - br) * cosine - (ai - bi) * sine;
      yi[to + stride] = (ar - br) * sine + (ai - bi) * cosine;
    }
  }
}

/** A butterfly of any odd number of values: the outputs k and radix - k share the sums over pairs of inputs. */
function runOddRadix(
  { radix, rows, stride, cosines, sines, rootCosines, rootSines }: Stage,
  input: Complex,
  output: Complex,
): void {
  const { real: xr, imaginary: xi } = input;
  const { real: yr, imaginary: yi } = output;
  const step = rows * stride;
  for (let row = 0; row < rows; row++) {
    for (let lane = 0; lane < stride; lane++) {
      const from = row * stride + lane;
      const to = row * radix * stride + lane;
      for (let k = 0; 2 * k < radix; k++) {
        let evenR = xr[from] ?? 0;
        let evenI = xi[from] ?? 0;
        let oddR = 0;
        let oddI = 0;
        let root = 0;
        for (let term = 1; 2 * term < radix; term++) {
          const low = from + term * step;
          const high = from + (radix - term) * step;
          root += k;
          if (root >= radix) root -= radix;
          const cosine = rootCosines[root] ?? 0;
          const sine = rootSines[root] ?? 0;
          evenR += ((xr[low] ?? 0) + (xr[high] ?? 0)) * cosine;
          evenI += ((xi[low] ?? 0) + (xi[high] ?? 0)) * cosine;
          oddR -= ((xi[low] ?? 0) - (xi[high] ?? 0)) * sine;
          oddI += ((xr[low] ?? 0) - (xr[high] ?? 0)) * sine;
        }
        const c = cosines[row * radix + k] ?? 0;
        const s = sines[row * radix + k] ?? 0;
        yr[to + k * stride] = (evenR + oddR) * c - (evenI + oddI) * s;
        yi[to + k * stride] = (evenR + oddR) * s + (evenI + oddI) * c;
        if (k === 0) continue;
        const cm = cosines[row * radix + radix - k] ?? 0;
        const sm = sines[row * radix + radix - k] ?? 0;
        yr[to + (radix - k) * stride] = (evenR - oddR) * cm - (evenI - oddI) * sm;
        yi[to + (radix - k) * stride] = (evenR - oddR) * sm + (evenI - oddI) * cm;
      }
    }
  }
}

function runStage(stage: Stage, input: Complex, output: Complex): void {
  if (stage.radix === 4) runRadix4(stage, input, output);
  else if (stage.radix === 5) runRadix5(stage, input, output);
  else if (stage.radix === 2) runRadix2(stage, input, output);
  else runOddRadix(stage, input, output);
}

/**
 * A transform of `length` complex values, X[k] = sum x[n] exp(-2 pi i n k / length). The result is in an array of the transform's own, which the
 * next call overwrites; the input is left as it is.
 */
export function createComplexFft(length: number): (input: Complex) => Complex {
  const stages = planStages(length);
  const buffers: readonly [Complex, Complex] = [createComplex(length), createComplex(length)];
  return (input) => {
    let current = input;
    let [next, other] = buffers;
    for (const stage of stages) {
      runStage(stage, current, next);
      current = next;
      [next, other] = [other, next];
    }
    return current;
  };
}
