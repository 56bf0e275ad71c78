/** Samples of a long sound, of which the beginning is dropped. */

/** Smallest capacity, in samples: 4 s at 16 kHz. */
const minCapacity = 1 << 16;

/** A buffer of consecutive samples. Positions are samples from the start of the sound. */
export class SampleBuffer {
  #data = new Float32Array(minCapacity);
  #start = 0;
  #length = 0;

  /** Position behind the last sample. */
  get end(): number {
    return this.#start + this.#length;
  }

  append(samples: Float32Array): void {
    const needed = this.#length + samples.length;
    if (needed > this.#data.length) {
      const grown = new Float32Array(Math.max(needed, 2 * this.#data.length));
      grown.set(this.#data.subarray(0, this.#length));
      this.#data = grown;
    }
    this.#data.set(samples, this.#length);
    this.#length = needed;
  }

  /** Drops the samples before a position. */
  dropBefore(position: number): void {
    const dropped = Math.min(this.#length, Math.max(0, Math.floor(position) - this.#start));
    // Moved only when half of what is held can go, so that small chunks cost little.
    if (dropped === 0 || dropped < this.#length / 2) return;
    this.#data.copyWithin(0, dropped, this.#length);
    this.#start += dropped;
    this.#length -= dropped;
  }

  /** A view of the samples from `from` to before `to`, valid until the next `append` or `dropBefore`. */
  slice(from: number, to: number): Float32Array {
    return this.#data.subarray(Math.max(0, from - this.#start), Math.min(this.#length, to - this.#start));
  }
}
