/** Reads what a PJRT plugin is from its file, which is not loaded. */
import { InferyardError, getMessage } from "../../../contract/errors.ts";
import { checkFit } from "../../../libraries/analysis/fit.ts";
import { readHost } from "../../../libraries/analysis/host.ts";
import { readBinary, sectionPieces } from "../../../libraries/binaries/index.ts";
import { type PluginKind, cudaMajor, kindByTables, kindByTexts } from "./plugin-kind.ts";

/** A file with the tables of a PJRT plugin that this program can load. */
export interface PluginContents {
  readonly ok: true;
  /** Kind of the plugin; undefined if the file does not show it, and then only a client of the plugin can. */
  readonly kind: PluginKind | undefined;
  /** Major version of CUDA that it is built for, if its run path shows it. */
  readonly cudaMajor: number | undefined;
}

/** Why a file is no plugin for this program, as a sentence without a full stop. */
export interface PluginRefusal {
  readonly ok: false;
  readonly reason: string;
}

/** Result of reading a file. */
export type PluginReading = PluginContents | PluginRefusal;

/** Bytes of the read-only data that are searched for texts. Known plugins have theirs in the first 2 MiB. */
const searchedBytes = 16 << 20;

/** Reads headers, symbols and a bounded part of the texts of a file. Throws nothing. */
export async function readPlugin(path: string): Promise<PluginReading> {
  try {
    const binary = await readBinary(path);
    const { problems } = checkFit(binary, await readHost(), {
      needs: [],
      indirectNeeds: [],
      versions: [],
      missingVersions: [],
    });
    if (problems.length > 0) return { ok: false, reason: problems.join("; ") };
    if (!binary.symbols.some(({ name, isExported }) => isExported && name === "GetPjrtApi"))
      return { ok: false, reason: "it is no PJRT plugin: it does not export GetPjrtApi" };
    const kind = kindByTables(binary) ?? (binary.format === "elf" ? await kindByReadOnlyData(path) : undefined);
    return { ok: true, kind, cudaMajor: cudaMajor(binary) };
  } catch (error) {
    // The readers name the file, which the caller names as well.
    const reason = getMessage(error).replace(`${path} `, "it ").replace(`there is no file ${path}`, "there is no such file");
    return { ok: false, reason: error instanceof InferyardError ? reason : `it cannot be read: ${reason}` };
  }
}

async function kindByReadOnlyData(path: string): Promise<PluginKind | undefined> {
  for await (const piece of sectionPieces(path, ".rodata", searchedBytes)) {
    const kind = kindByTexts(piece);
    if (kind !== undefined) return kind;
  }
  return undefined;
}
