/** The sound file of a command. */
import { InferyardError } from "../../contract/errors.ts";
import { defaultSoundLimits, requireSoundBytes } from "../../processors/audio/sound.ts";
import { isWave } from "../../processors/audio/wav.ts";
import { readWaveHeader, readWaveSamples, type WaveHeader } from "../../processors/audio/wav-stream.ts";
import type { SpokenSound } from "../../tasks/speech/sound-input.ts";
import type { Terminal } from "../terminal.ts";
import { readGivenFile } from "./given-file.ts";

/** The bytes of a file, or of stdin for "-". Throws INPUT_INVALID for a file that cannot be read, and LIMIT_EXCEEDED for more bytes than a sound may have. */
export async function readSoundFile(path: string, terminal: Pick<Terminal, "stdin">): Promise<Uint8Array> {
  if (path !== "-") return await readGivenFile(path, "give a sound file");
  return await collect(readBytes(terminal));
}

async function* readBytes({ stdin }: Pick<Terminal, "stdin">): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const part of stdin) yield typeof part === "string" ? new TextEncoder().encode(part) : part;
}

/** All bytes. Throws LIMIT_EXCEEDED for more than a sound may have. */
async function collect(parts: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const all: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of parts) {
    bytes += part.length;
    requireSoundBytes(bytes, defaultSoundLimits);
    all.push(part);
  }
  return Buffer.concat(all);
}

/** How the sound of a command comes in. */
export interface LiveFlags {
  /** Whether stdin is transcribed while it comes in. */
  readonly live?: boolean;
  /** Hz of raw 16-bit PCM on stdin. */
  readonly sampleRate?: number;
}

/**
 * The sound of a file, or of stdin for "-". Stdin is given in chunks where it is raw PCM, a WAVE file of unknown length, or any WAVE file with `live`. Throws what
 * `readSoundFile` throws, and INPUT_INVALID for flags about stdin beside a file.
 */
export async function readSpokenSound(
  path: string,
  terminal: Pick<Terminal, "stdin">,
  { live = false, sampleRate }: LiveFlags,
): Promise<SpokenSound> {
  if (path !== "-") {
    const flag = sampleRate === undefined ? "--live" : "--sample-rate";
    if (live || sampleRate !== undefined)
      throw new InferyardError("INPUT_INVALID", `${flag} is about sound on stdin, and the sound is the file ${path}`, {
        remedy: `leave ${flag} out, or give - in place of the file`,
      });
    return await readSoundFile(path, terminal);
  }
  const parts = readBytes(terminal);
  if (sampleRate !== undefined) return { sampleRate, chunks: parts };
  let first: Uint8Array = new Uint8Array();
  let header: WaveHeader | undefined;
  const isUnclear = (): boolean => first.length < 12 || (isWave(first) && header === undefined);
  while (isUnclear()) {
    const { done, value } = await parts.next();
    if (done === true) break;
    first = Buffer.concat([first, value]);
    if (isWave(first)) header = readWaveHeader(first);
  }
  if (live && header === undefined)
    throw new InferyardError("INPUT_INVALID", "--live reads a WAVE file from stdin, and its bytes are of none", {
      remedy: "state the rate of raw 16-bit PCM with --sample-rate, or leave --live out",
    });
  if (header === undefined || (!live && header.bytes !== undefined)) return await collect(prepend(first, parts));
  return { sampleRate: header.sampleRate, chunks: readWaveSamples(header, prepend(first.subarray(header.offset), parts)) };
}

async function* prepend(first: Uint8Array, parts: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  yield first;
  yield* parts;
}
