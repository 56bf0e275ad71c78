/** Engines inside a single program (`inferyard-omni`): unpacked into the data folder once, before they are first needed. */
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { extract } from "tar";
import { InferyardError } from "../../contract/errors.ts";
import { publishFolder, replaceFolder } from "../../platform/node/atomic-folder.ts";
import { getSingleProgram } from "../../platform/node/start-thread.ts";
import { dataFolder } from "../../storage/data-folder.ts";
import { withDiskErrors } from "../../storage/disk.ts";
import { withLock } from "../../storage/lock.ts";
import { stagingName, sweepAbandoned } from "../../storage/staging.ts";

/** One archive of the program. */
export interface EmbeddedArchive {
  /** Key of the asset: a gzipped tar archive with the content of the folder. */
  readonly asset: string;
  /** SHA-256 of the archive, hexadecimal. */
  readonly sha256: string;
  /** Folder below the data folder that it is unpacked to: "engines/onnx". */
  readonly folder: string;
  /** A file in the folder that is there once it is complete. */
  readonly record: string;
}

/** Key of the asset with the list of archives, as JSON. */
export const archiveList = "engines.json";

/** File beside the record that has the digest of the archive that was unpacked. */
const digestName = ".archive-sha256";

/**
 * Unpacks the archives of the program that are not in the data folder, or that an older program unpacked; what the user installed there is kept. Programs that start at
 * the same time unpack each once. Does nothing in any other program. `onUnpacking`: called with the data folder before the first archive. Throws DISK_FULL,
 * OUTPUT_FAILED, and BACKEND_UNAVAILABLE for an archive with another digest.
 */
export async function unpackEmbeddedEngines(
  environment: Readonly<Record<string, string | undefined>>,
  onUnpacking: (folder: string) => void,
): Promise<void> {
  const program = getSingleProgram();
  if (program === undefined || !program.getAssetKeys().includes(archiveList)) return;
  const archives = JSON.parse(program.getAsset(archiveList, "utf8")) as readonly EmbeddedArchive[];
  const data = dataFolder({ environment });
  const missing = archives.filter((archive) => !isUnpacked(archive, data));
  if (missing.length === 0) return;
  onUnpacking(data);
  for (const { asset, sha256, folder, record } of missing) {
    const target = join(data, folder);
    const parent = dirname(target);
    await withDiskErrors(parent, () => mkdir(parent, { recursive: true }));
    await withLock(join(parent, "install.lock"), async () => {
      if (isUnpacked({ asset, sha256, folder, record }, data)) return;
      await sweepAbandoned(parent);
      const content = Buffer.from(program.getRawAsset(asset));
      if (createHash("sha256").update(content).digest("hex") !== sha256)
        throw new InferyardError("BACKEND_UNAVAILABLE", `${asset} in this program is damaged`, {
          remedy: "copy the program again",
        });
      const staging = join(parent, stagingName("unpacking"));
      const archive = join(parent, stagingName("writing"));
      try {
        await withDiskErrors(staging, async () => {
          await mkdir(staging);
          await writeFile(archive, content);
          await extract({ file: archive, cwd: staging, preserveOwner: false });
          await writeFile(join(staging, digestName), sha256);
        });
        if (existsSync(target)) await replaceFolder(staging, target, join(parent, stagingName("removing")));
        else await publishFolder(staging, target, () => Promise.resolve(false));
      } finally {
        await rm(staging, { recursive: true, force: true });
        await rm(archive, { force: true });
      }
    });
  }
}

/** Whether the archive, or something that the user installed, is in its folder. */
function isUnpacked({ sha256, folder, record }: EmbeddedArchive, data: string): boolean {
  const target = join(data, folder);
  if (!existsSync(join(target, record))) return false;
  const digest = join(target, digestName);
  return !existsSync(digest) || readFileSync(digest, "utf8") === sha256;
}
