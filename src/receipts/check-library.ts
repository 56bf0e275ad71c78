/** Holds the files of a receipt's library against those of this machine. */
import { basename, join } from "node:path";
import { InferyardError, messageOf } from "../contract/errors.ts";
import { type LoadedFile, readLoadedFiles } from "../libraries/ggml/loaded-files.ts";
import { fileStatus } from "../platform/node/files.ts";
import { type FileCheck, isHere } from "./check-files.ts";
import type { Receipt } from "./receipt.ts";

/**
 * Compares the library and all files that it loads: none may differ, be missing or be there besides. `given`: the path of the library or of its folder; without one the path
 * that the receipt names. Throws INPUT_INVALID for a given file that cannot be read.
 */
export async function checkLibrary({ library }: Receipt, given: string | undefined): Promise<FileCheck> {
  const { path, sha256, files } = library;
  if (sha256 === undefined || files === undefined) {
    if (given === undefined) return unchecked("the receipt names no file of a library");
    return refused([`${given} is given, and the receipt has no digest of a library: ${library.name} ${library.version} ran`]);
  }
  const named = given ?? path;
  if (named === undefined || (given === undefined && !(await isHere(named))))
    return unchecked(`the library ${path ?? library.name} is not on this machine: its digests were not compared`);
  let found: readonly LoadedFile[];
  let file = named;
  try {
    if ((await fileStatus(named)).isDirectory()) file = join(named, basename(path ?? library.name));
    found = await readLoadedFiles(file);
  } catch (error) {
    const reason = `${file} cannot be read: ${messageOf(error)}`;
    if (given !== undefined) throw new InferyardError("INPUT_INVALID", reason, { cause: error });
    return unchecked(`the library of the receipt was not compared: ${reason}`);
  }
  const reasons = differences(found, files, file);
  if (reasons.length > 0) return refused(reasons);
  const loaded = found.length === 1 ? "" : `, and so have the ${found.length - 1} files that it loads`;
  return { refusals: [], held: [`${basename(file)} has the digest of the receipt${loaded}`], unchecked: [] };
}

/** The library itself is compared by its content, since a link may give it another name; what it loads by name and content. */
function differences(
  [own, ...others]: readonly LoadedFile[],
  [recorded, ...wanted]: NonNullable<Receipt["library"]["files"]>,
  path: string,
): readonly string[] {
  const other = (name: string, found: string, stated: string): string =>
    `${name} has the sha256 ${found}, and the receipt says ${stated}`;
  const reasons: string[] = [];
  if (own?.sha256 !== recorded?.sha256) reasons.push(other(path, own?.sha256 ?? "none", recorded?.sha256 ?? "none"));
  const stated = new Map(wanted.map(({ name, sha256 }) => [name, sha256]));
  for (const { name, path: file, sha256 } of others) {
    const expected = stated.get(name);
    stated.delete(name);
    if (expected === undefined) reasons.push(`${path} loads ${name}, which is not among the files of the receipt`);
    else if (expected !== sha256) reasons.push(other(file, sha256, expected));
  }
  for (const name of stated.keys()) reasons.push(`the receipt names ${name}, which ${path} does not load`);
  return reasons;
}

function refused(reasons: readonly string[]): FileCheck {
  return { refusals: reasons.map((reason) => ({ code: "library-digest", reason })), held: [], unchecked: [] };
}

function unchecked(reason: string): FileCheck {
  return { refusals: [], held: [], unchecked: [reason] };
}
