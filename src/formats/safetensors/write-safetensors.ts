/** Writes safetensors files. */
import { randomUUID } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";
import { InferyardError, messageOf } from "../../errors.ts";
import { serializeSafetensors } from "./read-safetensors.ts";
import type { Tensor } from "../../tensor.ts";

/**
 * Writes a file with these tensors. The file appears atomically: it is written to a temporary file that is flushed and renamed. The same tensors and metadata always
 * give the same bytes. Throws OUTPUT_FAILED for errors of the file system, INPUT_INVALID as `serializeSafetensors` does.
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
