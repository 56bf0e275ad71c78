/** Packs the folder of a model into one file, in the format of Kapsl's packages. */
import { createHash } from "node:crypto";
import { type FileHandle, stat } from "node:fs/promises";
import { relative, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { InferyardError, abortError, quoteOption, invalidInput, outputFailed } from "../../contract/errors.ts";
import { type ModelReference, readResolvedManifest, requireReadable, resolveReference } from "../index.ts";
import { type Folder, escapesFolder, readJsonObject, displayNameIn, readStatus } from "../model-folder.ts";
import { writeAtomically } from "../../platform/node/atomic-write.ts";
import { type ArchiveFile, toArchive } from "./archive-writer.ts";
import { isKapslMetadata, metadataName } from "./metadata-json.ts";
import { createMetadata } from "./create-metadata.ts";
import { packageFiles } from "./package-files.ts";
import { packageExtension } from "./package-name.ts";

/** Options of `pack`, which writes a model to an .aimod package. */
export interface PackOptions {
  /** Path of the package. Default: NAME.aimod in the current folder. */
  readonly output?: string;
  /** Name of the model in the package. Default: the name in its manifest. */
  readonly name?: string;
  /** Whether an existing file is replaced. Default: false; an existing file is then OUTPUT_FAILED before any work. */
  readonly replace?: boolean;
  readonly signal?: AbortSignal;
}

/** Path, size and digest of the .aimod package that was written. */
export interface PackReport {
  /** Name of the model in the package. */
  readonly name: string;
  /** Path of the package as it was given. */
  readonly output: string;
  /** Number of files in the package. */
  readonly files: number;
  /** Bytes of the files. */
  readonly contentBytes: number;
  /** Bytes of the package. */
  readonly bytes: number;
  /** Hexadecimal digest of the package. */
  readonly sha256: string;
}

/**
 * Packs the model that a reference names into an .aimod package. The package is written to a temporary file and renamed. The same files give the same bytes on
 * the same version of Node.js. Throws errors of reading the model, INPUT_INVALID for a folder that cannot be packed, OUTPUT_FAILED for errors of the file
 * system or an existing file, and ABORTED.
 */
export async function pack(reference: string, options: PackOptions = {}): Promise<PackReport> {
  const { replace = false, signal } = options;
  const resolved = await resolveReference(reference);
  const folder = await getFolder(resolved);
  const manifest = await readResolvedManifest(resolved);
  requireReadable(manifest);
  const name = options.name ?? manifest.name;
  const output = options.output ?? `${getFileName(name)}${packageExtension}`;
  await checkOutput(output, folder, replace);
  const own = await readJsonObject(folder, metadataName);
  if (own !== undefined && !isKapslMetadata(own)) throw otherMetadata(folder);
  const metadata =
    own === undefined ? createMetadata(manifest, name) : { ...own, project_name: options.name ?? own["project_name"] };
  const content = Buffer.from(`${JSON.stringify(metadata, null, 2)}\n`);
  // metadata.json comes first, so that a reader of the archive finds it without reading the weights.
  const files: ArchiveFile[] = [{ name: metadataName, size: content.length, content }, ...(await packageFiles(folder))];
  const written = await writePackage(output, files, signal);
  return { name: String(metadata.project_name), output, ...written };
}

async function getFolder(reference: ModelReference): Promise<Folder> {
  const folder = await reference.locate();
  const status = await readStatus(folder.path, folder.displayName);
  // A missing folder is reported by the reader of the manifest.
  if (status === undefined || status.isDirectory()) return folder;
  throw invalidInput(`${reference.text} is a file, and a package is made of a folder`, "give the folder of the model");
}

/** The name without the characters that file names cannot have. */
function getFileName(name: string): string {
  return name.replaceAll(/[/\\:]/g, "-");
}

async function checkOutput(output: string, folder: Folder, replace: boolean): Promise<void> {
  if (!escapesFolder(relative(folder.path, resolve(output)) || ".")) {
    throw invalidInput(`${output} would lie in the folder that is packed`, `choose another ${quoteOption("output")}`);
  }
  if (replace || (await stat(output).catch(() => undefined)) === undefined) return;
  throw new InferyardError("OUTPUT_FAILED", `${output} is already there`, {
    remedy: `choose another ${quoteOption("output")}, or set ${quoteOption("replace", true)}`,
  });
}

function otherMetadata(folder: Folder): InferyardError {
  return invalidInput(
    `${displayNameIn(folder, metadataName)} has the name a package keeps its manifest under`,
    "rename this file, or move it out of the folder",
  );
}

async function writePackage(
  output: string,
  files: readonly ArchiveFile[],
  signal: AbortSignal | undefined,
): Promise<Pick<PackReport, "files" | "contentBytes" | "bytes" | "sha256">> {
  const target = resolve(output);
  try {
    const written = await writeAtomically(target, (file) => writeArchive(file, files, signal));
    const contentBytes = files.reduce((sum, { size }) => sum + size, 0);
    return { files: files.length, contentBytes, ...written };
  } catch (error) {
    if (signal?.aborted === true) throw abortError(signal);
    throw outputFailed(output, error, `free space and check the permissions, or choose another ${quoteOption("output")}`);
  }
}

/** Writes the package to an open file. Returns its size and digest. */
async function writeArchive(
  file: FileHandle,
  files: readonly ArchiveFile[],
  signal: AbortSignal | undefined,
): Promise<Pick<PackReport, "bytes" | "sha256">> {
  const hash = createHash("sha256");
  let bytes = 0;
  const gzip = createGzip({ chunkSize: 256 * 1024 });
  // An error of the pipeline destroys `gzip`, so that the loop below throws it.
  const fed = Promise.allSettled([pipeline(toArchive(files), gzip, signal === undefined ? {} : { signal })]);
  try {
    for await (const chunk of gzip as AsyncIterable<Buffer>) {
      const piece = bytes === 0 ? withoutGzipSystem(chunk) : chunk;
      bytes += piece.length;
      hash.update(piece);
      await file.appendFile(piece);
    }
  } finally {
    gzip.destroy();
    await fed;
  }
  return { bytes, sha256: hash.digest("hex") };
}

/** Sets byte 9 of a gzip file, the operating system (RFC 1952), to 255, "unknown". */
function withoutGzipSystem(start: Buffer): Buffer {
  const piece = Buffer.from(start);
  piece[9] = 255;
  return piece;
}
