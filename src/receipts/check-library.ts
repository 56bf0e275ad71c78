/** Compares the library files listed in a receipt with the files on this machine. */
import { basename, dirname, join } from "node:path";
import { readNativeFiles } from "../backends/llamacpp/native-files.ts";
import { InferyardError, getMessage } from "../contract/errors.ts";
import { type LoadedFile, readLoadedFiles } from "../libraries/analysis/loaded-files.ts";
import { fileStatus } from "../platform/node/files.ts";
import { isHere } from "./check-files.ts";
import type { Receipt } from "./receipt.ts";
import type { Finding } from "./verification.ts";

/**
 * Compares the library and all files that it loads with the receipt: no file may differ, be missing or be additional. `given`: path of the library or
 * of its folder. Default: the path in the receipt. Throws INPUT_INVALID for a given file that cannot be read.
 */
export async function checkLibrary({ library }: Receipt, given: string | undefined): Promise<readonly Finding[]> {
  const { path, sha256, files } = library;
  if (files === undefined) {
    if (given === undefined) return [{ unchecked: "the receipt names no file of a library" }];
    return refused([`${given} is given, and the receipt has no digest of a library: ${library.name} ${library.version} ran`]);
  }
  if (sha256 === undefined) return checkBuild(files, given);
  const named = given ?? path;
  if (named === undefined || (given === undefined && !(await isHere(named))))
    return [{ unchecked: `the library ${path ?? library.name} is not on this machine: its digests were not compared` }];
  let found: readonly LoadedFile[];
  let file = named;
  try {
    if ((await fileStatus(named)).isDirectory()) file = join(named, basename(path ?? library.name));
    found = await readLoadedFiles(file);
  } catch (error) {
    const reason = `${file} cannot be read: ${getMessage(error)}`;
    if (given !== undefined) throw new InferyardError("INPUT_INVALID", reason, { cause: error });
    return [{ unchecked: `the library of the receipt was not compared: ${reason}` }];
  }
  const reasons = differences(found, files, file);
  if (reasons.length > 0) return refused(reasons);
  const loaded = found.length === 1 ? "" : `, and so have the ${found.length - 1} files that it loads`;
  return [{ held: `${basename(file)} has the digest of the receipt${loaded}` }];
}

/** Compares engine files whose folder the receipt does not name: a build of llama.cpp in node-llama-cpp. */
async function checkBuild(files: Files, given: string | undefined): Promise<readonly Finding[]> {
  if (given === undefined)
    return [
      {
        unchecked: `the receipt names ${files.length} files of the engine, and not where they are: their digests were not compared`,
      },
    ];
  let found: Files;
  try {
    found = await readNativeFiles((await fileStatus(given)).isDirectory() ? given : dirname(given));
  } catch (error) {
    throw new InferyardError("INPUT_INVALID", `${given} cannot be read: ${getMessage(error)}`, { cause: error });
  }
  const reasons = differentFiles(found, files, given);
  if (reasons.length > 0) return refused(reasons);
  return [{ held: `the ${files.length} files of the engine in ${given} have the digests of the receipt` }];
}

type Files = NonNullable<Receipt["library"]["files"]>;

/**
 * Describes differing files. The library itself is compared by content only, since a link may give it another name; the files it loads are compared
 * by name and content.
 */
function differences([own, ...others]: readonly LoadedFile[], [recorded, ...wanted]: Files, path: string): readonly string[] {
  const same = own?.sha256 === recorded?.sha256;
  return [
    ...(same ? [] : [`${path} has the sha256 ${own?.sha256 ?? "none"}, and the receipt says ${recorded?.sha256 ?? "none"}`]),
    ...differentFiles(others, wanted, path),
  ];
}

function differentFiles(found: Files, recorded: Files, path: string): readonly string[] {
  const reasons: string[] = [];
  const stated = new Map(recorded.map(({ name, sha256 }) => [name, sha256]));
  for (const { name, sha256 } of found) {
    const expected = stated.get(name);
    stated.delete(name);
    if (expected === undefined) reasons.push(`${path} loads ${name}, which is not among the files of the receipt`);
    else if (expected !== sha256) reasons.push(`${name} of ${path} has the sha256 ${sha256}, and the receipt says ${expected}`);
  }
  for (const name of stated.keys()) reasons.push(`the receipt names ${name}, which ${path} does not load`);
  return reasons;
}

function refused(reasons: readonly string[]): readonly Finding[] {
  return reasons.map((reason) => ({ code: "library-digest", reason }));
}
