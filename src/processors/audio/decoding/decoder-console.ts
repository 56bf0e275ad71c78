/** Keeps what decoder packages write to the console about damaged files off it: the same is in the errors that they return. */

/** Begins a message of the packages mpg123-decoder, opus-decoder and @wasm-audio-decoders/flac. */
const decoderMessage = /^(mpg123-decoder: |libopus -?\d+ |@wasm-audio-decoders\/)/;

/** The console is state of the process, and so is this: how many calls filter it, and what it was before. */
const filter: { calls: number; original: Console["error"] | undefined; own: Console["error"] | undefined } = {
  calls: 0,
  original: undefined,
  own: undefined,
};

/** Runs the work of a decoder. Meanwhile `console.error` leaves out messages of decoders, and passes on all others. */
export async function withoutDecoderMessages<Result>(work: () => Result | Promise<Result>): Promise<Result> {
  const { console: output } = globalThis;
  if (filter.calls === 0) {
    const original = output.error;
    const own = (...values: unknown[]): void => {
      if (typeof values[0] !== "string" || !decoderMessage.test(values[0])) original.apply(output, values);
    };
    Object.assign(filter, { original, own });
    output.error = own;
  }
  filter.calls += 1;
  try {
    return await work();
  } finally {
    filter.calls -= 1;
    if (filter.calls === 0 && filter.original !== undefined && output.error === filter.own) output.error = filter.original;
  }
}
