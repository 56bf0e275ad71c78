/** Writes the safetensors format to a disk; `safetensors.ts` says what the bytes are. */
import { randomUUID } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";
import { InferyardError, messageOf } from "../../errors.ts";
import { serializeSafetensors } from "./read-safetensors.ts";
import type { Tensor } from "../../tensor.ts";

/**
 * Writes a file that holds these tensors: into a temporary file beside it, flushed, then renamed, so that `path` is never half
 * written. The same tensors and metadata always give the same bytes. OUTPUT_FAILED where the disk refuses.
 */
export async function writeSafetensors(
  path: string,
  tensors: Readonly<Record<string, Tensor>>,
  metadata: Readonly<Record<string, string>> = {},
): Promise<void> {
  const { header, pieces } = serializeSafetensors(tensors, metadata);
  const temporary = `${path}.${process.pid}.${randomUUID()}.tmp`;
  try {
    const file = await open(temporary, "wx");
    try {
      for (const piece of [header, ...pieces]) await file.writeFile(piece);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (cause) {
    await rm(temporary, { force: true });
    throw new InferyardError("OUTPUT_FAILED", `cannot write ${path}: ${messageOf(cause)}`, {
      cause,
      remedy: "check that the folder exists, is writable and has space left",
    });
  }
}
