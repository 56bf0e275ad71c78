/** The size that a file may have to be read as a library. */
import { InferyardError, messageOf } from "../../contract/errors.ts";
import { openFile } from "../../platform/node/files.ts";

/** Maximum size of a library in bytes. The largest known one, PyTorch's for CUDA, has 2 GB. */
const maxLibraryBytes = 4 * 2 ** 30;

/** Throws INPUT_INVALID for what is no regular file, without waiting for the writer of a pipe, and LIMIT_EXCEEDED for a file too large for a library. */
export async function checkLibrarySize(path: string): Promise<void> {
  const file = await openFile(path).catch((error: unknown) => {
    throw new InferyardError("INPUT_INVALID", `${path} cannot be read: ${messageOf(error)}`, { cause: error });
  });
  try {
    const { size } = await file.stat();
    if (size > maxLibraryBytes) {
      throw new InferyardError("LIMIT_EXCEEDED", `${path} has ${size} bytes, and a library may have ${maxLibraryBytes}`, {
        data: { limit: maxLibraryBytes },
      });
    }
  } finally {
    await file.close();
  }
}
