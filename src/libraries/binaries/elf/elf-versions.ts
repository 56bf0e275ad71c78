/** Symbol versions of ELF files (Drepper, "ELF Symbol Versioning"; the LSB's chapter "Symbol Versioning"). */
import type { RequiredVersion } from "../binary-file.ts";
import type { BinaryFields, BinaryReader, NumberLayout } from "../binary-reader.ts";
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
  const records = { position: dynamic.addresses.position(address, what), size: 16, nextAt: 12, what };
  for await (const [record, position] of getLinked(reader, layout, records, getValue(dynamic, tags.requiredVersionCount))) {
    const library = dynamic.strings.at(record.uint32(4));
    const entries = { ...records, position: position + record.uint32(8) };
    for await (const [entry] of getLinked(reader, layout, entries, record.uint16(2))) {
      const version = dynamic.strings.at(entry.uint32(8));
      byIndex.set(entry.uint16(6), { version, library });
      required.push({ library, version, ...((entry.uint16(4) & weak) === 0 ? {} : { isWeak: true }) });
    }
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
  const records = { position: dynamic.addresses.position(address, what), size: 20, nextAt: 16, what };
  for await (const [record, position] of getLinked(reader, layout, records, getValue(dynamic, tags.definedVersionCount))) {
    const name = await reader.fields(position + record.uint32(12), 8, layout, what); // the first is its own, others are its parents
    const version = dynamic.strings.at(name.uint32(0));
    byIndex.set(record.uint16(4), { version, library: undefined });
    if ((record.uint16(2) & baseDefinition) === 0) defined.push(version);
  }
  return defined;
}

/** Records that each state the distance to the next: at most `count` of them, with their positions. */
async function* getLinked(
  reader: BinaryReader,
  layout: NumberLayout,
  first: { readonly position: number; readonly size: number; readonly nextAt: number; readonly what: string },
  count: number = 0,
): AsyncGenerator<readonly [record: BinaryFields, position: number]> {
  let { position } = first;
  for (let left = count; left > 0; left -= 1) {
    reader.limits.count("entries");
    const record = await reader.fields(position, first.size, layout, first.what);
    yield [record, position];
    const next = record.uint32(first.nextAt);
    if (next === 0) return;
    position += next;
  }
}
