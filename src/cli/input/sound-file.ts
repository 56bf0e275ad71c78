/** The sound file of a command. */
import { defaultSoundLimits, requireSoundBytes } from "../../processors/audio/sound.ts";
import type { Terminal } from "../terminal.ts";
import { readGivenFile } from "./given-file.ts";

/** The bytes of a file, or of stdin for "-". Throws INPUT_INVALID for a file that cannot be read, and LIMIT_EXCEEDED for more bytes than a sound may have. */
export async function readSoundFile(path: string, terminal: Pick<Terminal, "stdin">): Promise<Uint8Array> {
  if (path !== "-") return await readGivenFile(path, "give a sound file");
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of terminal.stdin) {
    const piece = typeof part === "string" ? new TextEncoder().encode(part) : part;
    bytes += piece.length;
    requireSoundBytes(bytes, defaultSoundLimits);
    parts.push(piece);
  }
  return Buffer.concat(parts);
}
