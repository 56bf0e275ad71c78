/** Durability of folder entries. */
import { open } from "node:fs/promises";

/** Flushes a folder (fsync), so that files created, renamed or removed in it stay so after a loss of power. Does nothing on Windows, which has no such call. */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
