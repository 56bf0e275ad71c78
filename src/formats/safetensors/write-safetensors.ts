/** Writes safetensors files. */
import { outputFailed } from "../../contract/errors.ts";
import { writeAtomically } from "../../platform/node/atomic-write.ts";
import { serializeSafetensors } from "./read-safetensors.ts";
import type { Tensor } from "../../contract/tensor.ts";

/**
 * Writes a safetensors file with these tensors. The file appears atomically: a temporary file is written, flushed and renamed.
 * The same tensors and metadata always give the same bytes. Throws OUTPUT_FAILED for errors of the file system, and INPUT_INVALID
 * if a tensor's data does not fill its shape or has a type that the format does not have.
 */
export async function writeSafetensors(
  path: string,
  tensors: Readonly<Record<string, Tensor>>,
  metadata: Readonly<Record<string, string>> = {},
): Promise<void> {
  const { header, pieces } = serializeSafetensors(tensors, metadata);
  try {
    await writeAtomically(path, async (file) => {
      for (const piece of [header, ...pieces]) await file.writeFile(piece);
    });
  } catch (cause) {
    throw outputFailed(path, cause, "check that the folder exists, is writable and has space left");
  }
}
