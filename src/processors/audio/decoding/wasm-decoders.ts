/** Decoders in WebAssembly: packages that are imported when a file of their format is first decoded. */

import { getMessage, InferyardError } from "../../../contract/errors.ts";
import type { SoundDecoder } from "./sound-format.ts";

/** Samples that a decoder returns. */
export interface DecodedPiece {
  readonly channelData: readonly Float32Array[];
  readonly samplesDecoded: number;
  /** Hz. */
  readonly sampleRate: number;
  /** Bits of a sample in the file. Absent: it has none. */
  readonly bitDepth?: number;
  readonly errors: readonly { readonly message: string }[];
}

/** What is used of a decoder's class. */
export interface WasmDecoder {
  /** Resolves when the program is compiled. */
  readonly ready: Promise<void>;
  decode(bytes: Uint8Array): DecodedPiece | Promise<DecodedPiece>;
  /** Returns what is left after the last bytes. Absent: nothing is left. */
  flush?(): Promise<DecodedPiece>;
  free(): void;
}

/** A package with a decoder. */
interface DecoderPackage {
  readonly name: string;
  readonly exported: string;
  load(): Promise<unknown>;
}

/** An optional peer. Its name is no literal in the import, so that a bundler does not need it. */
const opusPackage = "ogg-opus-decoder";

const packages: Readonly<Record<Exclude<SoundDecoder, "wave" | "ffmpeg">, DecoderPackage>> = {
  mpeg: { name: "mpg123-decoder", exported: "MPEGDecoder", load: () => import("mpg123-decoder") },
  flac: { name: "@wasm-audio-decoders/flac", exported: "FLACDecoder", load: () => import("@wasm-audio-decoders/flac") },
  vorbis: {
    name: "@wasm-audio-decoders/ogg-vorbis",
    exported: "OggVorbisDecoder",
    load: () => import("@wasm-audio-decoders/ogg-vorbis"),
  },
  opus: { name: opusPackage, exported: "OggOpusDecoder", load: () => import(opusPackage) },
};

/** Formats that have a WebAssembly decoder. */
export type WasmFormat = keyof typeof packages;

/** Makes a decoder. Throws BACKEND_UNAVAILABLE, with the command that installs it, if its package is absent. `load` replaces the import, for tests. */
export async function createWasmDecoder(
  format: WasmFormat,
  fileFormat: string,
  load: () => Promise<unknown> = packages[format].load,
): Promise<WasmDecoder> {
  const { name, exported } = packages[format];
  try {
    const module = (await load()) as Readonly<Record<string, new () => WasmDecoder>>;
    const Decoder = module[exported];
    if (Decoder === undefined) throw new Error(`it does not export ${exported}`);
    const decoder = new Decoder();
    await decoder.ready;
    return decoder;
  } catch (error) {
    throw new InferyardError(
      "BACKEND_UNAVAILABLE",
      `${fileFormat} is decoded by the package ${name}, which could not be loaded: ${getMessage(error)}`,
      {
        remedy: `npm install ${name}`,
        cause: error,
      },
    );
  }
}
