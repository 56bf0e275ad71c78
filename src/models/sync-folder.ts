/** Makes what was created, renamed or removed in a folder outlast a loss of power. */
import { open } from "node:fs/promises";

/** Windows has no such call for folders: there it does nothing. */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
