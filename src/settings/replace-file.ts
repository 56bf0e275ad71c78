/** Replaces a file atomically: readers see the old text or the new one, also after a crash. */
import { randomUUID } from "node:crypto";
import { stat } from "node:fs/promises";
import { writeAtomically } from "../platform/node/atomic-write.ts";

/** Replaces the content of the file, or creates it. Its permissions do not change. Throws the errors of the file system. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const before = await stat(path).catch(() => undefined); // undefined for a new file
  await writeAtomically(
    path,
    async (file) => {
      if (before !== undefined) await file.chmod(before.mode);
      await file.writeFile(text);
    },
    `.${randomUUID()}.part`, // remains if the process is killed
  );
}
