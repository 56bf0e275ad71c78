/** Writes the small files of the store. */
import { writeAtomically } from "../platform/node/atomic-write.ts";
import { diskError } from "./disk.ts";
import { stagingName } from "./staging.ts";

/**
 * Writes or replaces a text file of the store atomically. The temporary file has a name from `stagingName`, by which leftovers of
 * a killed process are recognized and removed. Throws DISK_FULL or OUTPUT_FAILED.
 */
export async function writeFileAtomically(path: string, text: string): Promise<void> {
  try {
    await writeAtomically(path, (file) => file.writeFile(text), stagingName("writing"));
  } catch (error) {
    throw diskError(path, error);
  }
}
