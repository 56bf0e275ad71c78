/** Size limit for files that are read as libraries. */
import { InferyardError, getMessage } from "../../contract/errors.ts";
import { openFile } from "../../platform/node/files.ts";

/** Maximum size of a library in bytes. The largest known one, PyTorch's for CUDA, has 2 GB. */
const maxLibraryBytes = 4 * 2 ** 30;

/**
 * Throws INPUT_INVALID for a path that is not a regular file (a pipe is not opened, so that the call cannot block), and LIMIT_EXCEEDED for a file
 * larger than a library may be.
 */
export async function checkLibrarySize(path: string): Promise<void> {
  const file = await openFile(path).catch((error: unknown) => {
    throw new InferyardError("INPUT_INVALID", `${path} cannot be read: ${getMessage(error)}`, { cause: error });
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
