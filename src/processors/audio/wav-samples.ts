/** Samples of WAVE files as 32-bit floats. */

/** How the samples of a WAVE file are encoded: PCM (unsigned up to 8 bits, signed above), floats, or the logarithmic 8-bit codes of ITU-T G.711. */
export type WaveEncoding = "unsigned" | "signed" | "float" | "a-law" | "mu-law";

export interface SampleLayout {
  readonly encoding: WaveEncoding;
  readonly bytesPerSample: number;
  /** Receives the samples; its length is the number of samples that are read. */
  readonly output: Float32Array;
}

const littleEndian = true;

/** The 16-bit value of an A-law code: even bits are inverted, then a sign, a segment of 3 bits and a step of 4 bits. */
function expandALaw(code: number): number {
  const bits = code ^ 0x55;
  const segment = (bits >> 4) & 7;
  const step = ((bits & 15) << 4) + 8;
  const magnitude = segment === 0 ? step : (step + 0x100) << (segment - 1);
  return bits & 0x80 ? magnitude : -magnitude;
}

/** The 16-bit value of a mu-law code: all bits are inverted; the magnitude has a bias of 132. */
function expandMuLaw(code: number): number {
  const bits = ~code & 0xff;
  const magnitude = ((((bits & 15) << 3) + 132) << ((bits >> 4) & 7)) - 132;
  return bits & 0x80 ? -magnitude : magnitude;
}

/** The value of each 8-bit code, with full scale at 32,768. */
function expansionTable(expand: (code: number) => number): Float32Array {
  return Float32Array.from({ length: 256 }, (_, code) => expand(code) / 32_768);
}

const expansions: Readonly<Record<"a-law" | "mu-law", Float32Array>> = {
  "a-law": expansionTable(expandALaw),
  "mu-law": expansionTable(expandMuLaw),
};

/** Fills `layout.output` from `view`: the first sample is at `offset`, the next ones `stride` bytes apart. */
export function decodeSamples(view: DataView, offset: number, stride: number, layout: SampleLayout): void {
  const { encoding, bytesPerSample, output } = layout;
  const count = output.length;
  let at = offset;
  if (encoding === "a-law" || encoding === "mu-law") {
    const table = expansions[encoding];
    for (let index = 0; index < count; index++, at += stride) output[index] = table[view.getUint8(at)] ?? 0;
  } else if (encoding === "unsigned") {
    for (let index = 0; index < count; index++, at += stride) output[index] = (view.getUint8(at) - 128) / 128;
  } else if (encoding === "float") {
    if (bytesPerSample === 4)
      for (let index = 0; index < count; index++, at += stride) output[index] = view.getFloat32(at, littleEndian);
    else for (let index = 0; index < count; index++, at += stride) output[index] = view.getFloat64(at, littleEndian);
  } else if (bytesPerSample === 2) {
    for (let index = 0; index < count; index++, at += stride) output[index] = view.getInt16(at, littleEndian) / 32_768;
  } else if (bytesPerSample === 3) {
    for (let index = 0; index < count; index++, at += stride)
      output[index] = (view.getUint16(at, littleEndian) + view.getInt8(at + 2) * 65_536) / 8_388_608;
  } else {
    for (let index = 0; index < count; index++, at += stride) output[index] = view.getInt32(at, littleEndian) / 2_147_483_648;
  }
}
