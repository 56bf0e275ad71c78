/** Symbol versions of ELF files (Drepper, "ELF Symbol Versioning"; the LSB's chapter "Symbol Versioning"). */
import type { RequiredVersion } from "../binary-file.ts";
import type { BinaryReader, NumberLayout } from "../binary-reader.ts";
import { type DynamicSegment, tags, getValue } from "./elf-dynamic.ts";

/** A version that symbols refer to by its index. `library`: the one that must define it; undefined where this file does. */
export interface SymbolVersion {
  readonly version: string;
  readonly library: string | undefined;
}

/** The versions of a file. */
export interface ElfVersions {
  readonly required: readonly RequiredVersion[];
  readonly defined: readonly string[];
  readonly byIndex: ReadonlyMap<number, SymbolVersion>;
}

/** The definition that names the file itself. */
const baseDefinition = 1;
/** Flag VER_FLG_WEAK: the loader does not fail if the version is missing. */
const weak = 2;

/** Reads the versions that a file requires and defines. Throws DamagedBinary. */
export async function readVersions(reader: BinaryReader, layout: NumberLayout, dynamic: DynamicSegment): Promise<ElfVersions> {
  const byIndex = new Map<number, SymbolVersion>();
  const required = await readRequired(reader, layout, dynamic, byIndex);
  const defined = await readDefined(reader, layout, dynamic, byIndex);
  return { required, defined, byIndex };
}

async function readRequired(
  reader: BinaryReader,
  layout: NumberLayout,
  dynamic: DynamicSegment,
  byIndex: Map<number, SymbolVersion>,
): Promise<RequiredVersion[]> {
  const address = getValue(dynamic, tags.requiredVersions);
  if (address === undefined) return [];
  const what = "the table of required versions";
  const required: RequiredVersion[] = [];
  let position = dynamic.addresses.position(address, what);
  for (let left = getValue(dynamic, tags.requiredVersionCount) ?? 0; left > 0; left -= 1) {
    reader.limits.count("entries");
    const record = await reader.fields(position, 16, layout, what);
    const library = dynamic.strings.at(record.uint32(4));
    let aux = position + record.uint32(8);
    for (let versions = record.uint16(2); versions > 0; versions -= 1) {
      reader.limits.count("entries");
      const entry = await reader.fields(aux, 16, layout, what);
      const version = dynamic.strings.at(entry.uint32(8));
      byIndex.set(entry.uint16(6), { version, library });
      required.push({ library, version, ...((entry.uint16(4) & weak) === 0 ? {} : { isWeak: true }) });
      const next = entry.uint32(12);
      if (next === 0) break;
      aux += next;
    }
    const next = record.uint32(12);
    if (next === 0) break;
    position += next;
  }
  return required;
}

async function readDefined(
  reader: BinaryReader,
  layout: NumberLayout,
  dynamic: DynamicSegment,
  byIndex: Map<number, SymbolVersion>,
): Promise<string[]> {
  const address = getValue(dynamic, tags.definedVersions);
  if (address === undefined) return [];
  const what = "the table of defined versions";
  const defined: string[] = [];
  let position = dynamic.addresses.position(address, what);
  for (let left = getValue(dynamic, tags.definedVersionCount) ?? 0; left > 0; left -= 1) {
    reader.limits.count("entries");
    const record = await reader.fields(position, 20, layout, what);
    const name = await reader.fields(position + record.uint32(12), 8, layout, what); // the first is its own, others are its parents
    const version = dynamic.strings.at(name.uint32(0));
    byIndex.set(record.uint16(4), { version, library: undefined });
    if ((record.uint16(2) & baseDefinition) === 0) defined.push(version);
    const next = record.uint32(16);
    if (next === 0) break;
    position += next;
  }
  return defined;
}
