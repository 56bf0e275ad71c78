/** Triangular filters on the mel scale, as `transformers.audio_utils.mel_filter_bank` builds them. */

/** Slaney: linear below 1 kHz, logarithmic above (Auditory Toolbox); htk: 2595 log10(1 + f / 700); kaldi: 1127 ln(1 + f / 700). */
export type MelScale = "slaney" | "htk" | "kaldi";

export interface MelFilterSettings {
  /** Number of filters. */
  readonly mels: number;
  /** Frequency bins of a spectrum: half the transform's length plus 1. */
  readonly bins: number;
  /** Lower edge of the first filter in Hz. */
  readonly minFrequency: number;
  /** Upper edge of the last filter in Hz. */
  readonly maxFrequency: number;
  /** Hz. */
  readonly sampleRate: number;
  readonly scale: MelScale;
  /** slaney: each filter has unit area; none: each has a peak of 1. */
  readonly norm: "slaney" | "none";
  /** true: the sides of a filter are straight on the mel scale (Kaldi); false: over frequencies in Hz. */
  readonly triangularizeInMelSpace: boolean;
}

/** Applies mel filters to a power spectrum. */
export interface MelFilters {
  readonly mels: number;
  /** Writes the weighted sum of each filter over `power` (`[bins]`) to `energies` (`[mels]`). */
  apply(power: Float64Array, energies: Float64Array): void;
}

const slaneyBreak = { hertz: 1000, mel: 15, step: 27 / Math.log(6.4) } as const;

function hertzToMel(hertz: number, scale: MelScale): number {
  if (scale === "htk") return 2595 * Math.log10(1 + hertz / 700);
  if (scale === "kaldi") return 1127 * Math.log(1 + hertz / 700);
  if (hertz < slaneyBreak.hertz) return (3 * hertz) / 200;
  return slaneyBreak.mel + Math.log(hertz / slaneyBreak.hertz) * slaneyBreak.step;
}

function melToHertz(mel: number, scale: MelScale): number {
  if (scale === "htk") return 700 * (10 ** (mel / 2595) - 1);
  if (scale === "kaldi") return 700 * (Math.exp(mel / 1127) - 1);
  if (mel < slaneyBreak.mel) return (200 * mel) / 3;
  return slaneyBreak.hertz * Math.exp((mel - slaneyBreak.mel) / slaneyBreak.step);
}

/** Filters that hold only the bins where they are above zero. */
export function createMelFilters(settings: MelFilterSettings): MelFilters {
  const { mels, bins, sampleRate, scale, triangularizeInMelSpace } = settings;
  const lowest = hertzToMel(settings.minFrequency, scale);
  const highest = hertzToMel(settings.maxFrequency, scale);
  const edge = (index: number): number => {
    const mel = lowest + ((highest - lowest) * index) / (mels + 1);
    return triangularizeInMelSpace ? mel : melToHertz(mel, scale);
  };
  const frequency = (bin: number): number => {
    const hertz = (bin * sampleRate) / (2 * (bins - 1));
    return triangularizeInMelSpace ? hertzToMel(hertz, scale) : hertz;
  };
  const first = new Int32Array(mels);
  const starts = new Int32Array(mels + 1);
  const values: number[] = [];
  for (let mel = 0; mel < mels; mel++) {
    const [left, peak, right] = [edge(mel), edge(mel + 1), edge(mel + 2)];
    const area = settings.norm === "slaney" ? 2 / (right - left) : 1;
    const weights = Array.from(
      { length: bins },
      (_, bin) =>
        area * Math.max(0, Math.min((frequency(bin) - left) / (peak - left), (right - frequency(bin)) / (right - peak))),
    );
    const begin = weights.findIndex((weight) => weight > 0);
    const end = weights.findLastIndex((weight) => weight > 0) + 1;
    first[mel] = Math.max(0, begin);
    if (begin >= 0) values.push(...weights.slice(begin, end));
    starts[mel + 1] = values.length;
  }
  const weights = Float64Array.from(values);
  return {
    mels,
    apply(power, energies) {
      for (let mel = 0; mel < mels; mel++) {
        const start = starts[mel] ?? 0;
        const end = starts[mel + 1] ?? 0;
        const offset = (first[mel] ?? 0) - start;
        let sum = 0;
        for (let index = start; index < end; index++) sum += (weights[index] ?? 0) * (power[index + offset] ?? 0);
        energies[mel] = sum;
      }
    },
  };
}
