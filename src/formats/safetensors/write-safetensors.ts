/** Writes safetensors files. */
import { writeAtomically } from "../../platform/node/atomic-write.ts";
import { serializeSafetensors } from "./read-safetensors.ts";
import type { Tensor } from "../../contract/tensor.ts";
import { withOutputErrors } from "../../platform/node/output-errors.ts";

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
  const writing = (): Promise<unknown> =>
    writeAtomically(path, async (file) => {
      for (const piece of [header, ...pieces]) await file.writeFile(piece);
    });
  await withOutputErrors(path, writing);
}
