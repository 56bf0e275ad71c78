/** Writes a file so that whoever reads it, and whatever happens meanwhile, finds the old text or the new one, and nothing between. */
import { randomUUID } from "node:crypto";
import { stat } from "node:fs/promises";
import { writeAtomically } from "../platform/node/atomic-write.ts";

/** The ending of the temporary file beside it, which a process that is killed leaves behind. */
const temporaryEnding = ".part";

/** The file keeps its permissions. Throws what the file system says. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const temporary = `${path}.${randomUUID()}${temporaryEnding}`;
  const before = await stat(path).catch(() => undefined); // a new file has the permissions that new files have
  await writeAtomically(
    path,
    async (file) => {
      if (before !== undefined) await file.chmod(before.mode);
      await file.writeFile(text);
    },
    temporary,
  );
}
