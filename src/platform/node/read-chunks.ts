/** The content of a regular file, piece by piece. */
import { openFile } from "./files.ts";

/** The content of a file in chunks of `chunkBytes`, by default 1 MiB. Throws errors of Node.js: see `openFile`, which does not wait for the writer of a pipe. */
export async function* readChunks(path: string, chunkBytes: number = 1024 * 1024): AsyncGenerator<Buffer, void> {
  const file = await openFile(path);
  try {
    for (let position = 0; ;) {
      const chunk = Buffer.allocUnsafeSlow(chunkBytes);
      // oxlint-disable-next-line no-await-in-loop
      const { bytesRead } = await file.read(chunk, 0, chunk.length, position);
      if (bytesRead === 0) return;
      position += bytesRead;
      yield chunk.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}
