/** Resampling by any ratio: each output sample is a weighted sum of the input samples around its time. */

import { createResamplingKernel, resampledLength, type Resampler, type ResamplingRatio } from "./resampling-filter.ts";

/** Times between two input samples for which the weights are tabulated; between them results are interpolated (error below 5e-6). */
const phases = 512;

/** A resampler whose state is the last input samples. */
export function createPolyphaseResampler(ratio: ResamplingRatio): Resampler {
  const { input, output } = ratio;
  const kernel = createResamplingKernel(ratio);
  const scale = Math.min(1, output / input);
  const half = Math.ceil(kernel.halfWidth / scale) + 1;
  const count = 2 * half;
  /** Weights of the input samples around a time that is phase / `phases` after one of them, `[phases + 1, count]`. */
  const weights = Float64Array.from({ length: (phases + 1) * count }, (_, index) => {
    const tap = index % count;
    return scale * kernel.value((tap - half + 1 - (index - tap) / count / phases) * scale);
  });
  /** Samples from index `start` of the sound on; zeros before the sound. */
  let pending = new Float32Array(half - 1);
  let start = 1 - half;
  let received = 0;
  let produced = 0;

  function produce(end: number): Float32Array {
    const samples = new Float32Array(Math.max(0, end - produced));
    for (let index = 0; index < samples.length; index++, produced++) {
      const position = produced * input;
      const whole = Math.floor(position / output);
      const phase = ((position - whole * output) / output) * phases;
      const row = Math.floor(phase);
      const offset = row * count;
      const first = whole - half + 1 - start;
      let [low, high] = [0, 0];
      for (let tap = 0; tap < count; tap++) {
        const sample = pending[first + tap] ?? 0;
        low += (weights[offset + tap] ?? 0) * sample;
        high += (weights[offset + count + tap] ?? 0) * sample;
      }
      samples[index] = low + (high - low) * (phase - row);
    }
    return samples;
  }

  /** Appends samples, and drops those before the first that is still needed. */
  function append(samples: Float32Array): void {
    const needed = Math.floor((produced * input) / output) - half + 1;
    const dropped = Math.max(0, Math.min(pending.length, needed - start));
    const next = new Float32Array(pending.length - dropped + samples.length);
    next.set(pending.subarray(dropped));
    next.set(samples, pending.length - dropped);
    pending = next;
    start += dropped;
  }

  return {
    push(samples) {
      append(samples);
      received += samples.length;
      // Output sample j reads up to input sample floor(j input / output) + half.
      return produce(Math.ceil(((received - half) * output) / input));
    },
    finish() {
      append(new Float32Array(half + 1));
      return produce(resampledLength(received, ratio));
    },
  };
}
