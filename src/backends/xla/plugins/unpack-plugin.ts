/** Takes the plugin out of a wheel, and nothing else. */
import { mkdir, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { InferyardError, quoteOption } from "../../../contract/errors.ts";
import { ZipArchive, type ZipEntry } from "../../../libraries/wheels/index.ts";
import { withDiskErrors } from "../../../storage/disk.ts";
import { isSharedLibrary } from "./plugin-locations.ts";
import type { PluginReader } from "./plugin-reader.ts";
import type { PluginContents } from "./read-plugin.ts";

/** A plugin that was unpacked. */
export interface UnpackedPlugin {
  /** Absolute path of the library. */
  readonly path: string;
  /** SHA-256 of the library, hexadecimal. */
  readonly sha256: string;
  readonly bytes: number;
  readonly contents: PluginContents;
  readonly package: string;
  readonly version: string;
  /** The licence that the package declares; undefined if it declares none. */
  readonly license: string | undefined;
}

/** Mode of a library's folder: only the user can write it, whatever the umask permits. */
export const folderMode = 0o755;
const maxMetadataBytes = 4 << 20;
/** Libraries of a wheel that are tried. Wheels with a plugin have one. */
const maxLibraries = 4;

/**
 * Unpacks the plugin of a wheel into `folder`, which is created. Throws INPUT_INVALID for a file that is not a complete wheel or does not agree with its own
 * record, LIMIT_EXCEEDED, and LIBRARY_INCOMPATIBLE if the wheel holds no plugin for this machine. Files written before an error are kept; the caller removes
 * the folder.
 */
export async function unpackPlugin(wheel: string, name: string, folder: string, reader: PluginReader): Promise<UnpackedPlugin> {
  const archive = await ZipArchive.open(wheel, name);
  try {
    const metadata = await readMetadata(archive, name);
    const record = await readRecord(archive);
    const libraries = archive.entries
      .filter(({ path }) => isSharedLibrary(basename(path)))
      .toSorted((a, b) => b.bytes - a.bytes)
      .slice(0, maxLibraries);
    const reasons: string[] = [];
    await withDiskErrors(folder, () => mkdir(folder, { recursive: true, mode: folderMode }));
    for (const entry of libraries) {
      const path = join(folder, basename(entry.path));
      const { bytes, sha256 } = await archive.extract(entry, path, (start) => refuseOtherFiles(start, entry, name));
      const stated = record.get(entry.path);
      if (stated !== undefined && stated !== Buffer.from(sha256, "hex").toString("base64url"))
        throw new InferyardError(
          "INPUT_INVALID",
          `${name} does not agree with its RECORD: the digest of ${entry.path} is another one`,
          {
            remedy: "download it again",
          },
        );
      const contents = await reader.read(path);
      if (contents.ok) return { path, sha256, bytes, contents, ...metadata };
      reasons.push(`${entry.path}: ${contents.reason}`);
      await rm(path, { force: true });
    }
    const reason = reasons.length === 0 ? "it holds no shared library" : reasons.join("; ");
    throw new InferyardError("LIBRARY_INCOMPATIBLE", `${name} holds no PJRT plugin for this machine: ${reason}`, {
      remedy: `name the file of another package: ${quoteOption("from")}`,
    });
  } finally {
    await archive.close();
  }
}

/** Ends the unpacking of what is no library by its first bytes, such as gigabytes of zeros. */
function refuseOtherFiles(start: Buffer, { path }: ZipEntry, name: string): void {
  const magic = start.toString("latin1", 0, 4);
  const isLibrary =
    magic === "\u007FELF" || magic.startsWith("MZ") || /^(?:cf|ce)faedfe|^cafebabe/.test(start.toString("hex", 0, 4));
  if (isLibrary) return;
  throw new InferyardError(
    "LIBRARY_INCOMPATIBLE",
    `${name} holds no PJRT plugin for this machine: ${path} is no library by its first bytes`,
    {
      remedy: `name the file of another package: ${quoteOption("from")}`,
    },
  );
}

/** Name, version and licence by the METADATA of the wheel. */
async function readMetadata(
  archive: ZipArchive,
  name: string,
): Promise<{ readonly package: string; readonly version: string; readonly license: string | undefined }> {
  const entry = archive.entries.find(({ path }) => /^[^/]+\.dist-info\/METADATA$/.test(path));
  if (entry === undefined) throw invalid(name, "it has no METADATA, as wheels have");
  const [head = ""] = (await archive.read(entry, maxMetadataBytes)).toString("utf8").split(/\r?\n\r?\n/);
  const field = (label: string): string | undefined => new RegExp(`^${label}:[ \\t]*(\\S.*?)[ \\t]*$`, "im").exec(head)?.[1];
  const [stated, version] = [field("Name"), field("Version")];
  if (stated === undefined || !/^[\w.-]{1,100}$/.test(stated)) throw invalid(name, "its METADATA has no name of a package");
  if (version === undefined || !/^[\w.+!-]{1,64}$/.test(version)) throw invalid(name, "its METADATA has no version");
  const license = field("License-Expression") ?? field("License");
  return {
    package: stated,
    version,
    license: license === undefined || license === "UNKNOWN" ? undefined : license.slice(0, 100),
  };
}

/** Digests by path: lines "path,sha256=<base64url>,size". */
async function readRecord(archive: ZipArchive): Promise<ReadonlyMap<string, string>> {
  const entry = archive.entries.find(({ path }) => /^[^/]+\.dist-info\/RECORD$/.test(path));
  if (entry === undefined) return new Map();
  const text = (await archive.read(entry, maxMetadataBytes)).toString("utf8");
  return new Map(
    text.split(/\r?\n/).flatMap((line): [string, string][] => {
      const [, quoted, plain, digest = ""] = /^(?:"([^"]*)"|([^",]*)),sha256=([\w-]+)=*,\d*$/.exec(line) ?? [];
      const path = quoted ?? plain;
      return path === undefined ? [] : [[path, digest]];
    }),
  );
}

function invalid(name: string, problem: string): InferyardError {
  return new InferyardError("INPUT_INVALID", `${name} is not a whole wheel: ${problem}`, {
    remedy: "download or build it again",
  });
}
