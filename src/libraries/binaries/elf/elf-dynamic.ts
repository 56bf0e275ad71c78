/** The dynamic segment of an ELF file: what the loader reads (System V ABI, chapter 5; GNU extensions in glibc's elf.h). */
import { addToList } from "../../../contract/checked.ts";
import { DamagedBinary } from "../binary-errors.ts";
import type { BinaryReader, NameTable } from "../binary-reader.ts";
import { AddressMap, type ElfHeader } from "./elf-header.ts";

/** Tags of dynamic entries that are read. */
export const tags = {
  needed: 1,
  hash: 4,
  stringTable: 5,
  symbolTable: 6,
  stringTableSize: 10,
  soname: 14,
  rpath: 15,
  runpath: 29,
  gnuHash: 0x6ffffef5,
  symbolVersions: 0x6ffffff0,
  flags1: 0x6ffffffb,
  definedVersions: 0x6ffffffc,
  definedVersionCount: 0x6ffffffd,
  requiredVersions: 0x6ffffffe,
  requiredVersionCount: 0x6fffffff,
} as const;

/** The entries of the dynamic segment, and a reader for their addresses. */
export interface DynamicSegment {
  readonly addresses: AddressMap;
  readonly strings: NameTable;
  /** Values of each tag, in the order of the file. */
  readonly values: ReadonlyMap<number, readonly number[]>;
}

const dynamicSegmentType = 2;

/** Reads the dynamic segment; undefined for a file without one, which is linked statically. Throws DamagedBinary. */
export async function readDynamic(reader: BinaryReader, { layout, segments }: ElfHeader): Promise<DynamicSegment | undefined> {
  const segment = segments.find(({ type }) => type === dynamicSegmentType);
  if (segment === undefined) return undefined;
  const table = await reader.fields(segment.offset, segment.size, layout, "the dynamic segment");
  const values = new Map<number, number[]>();
  const size = 2 * layout.wordBytes;
  for (let start = 0; start + size <= table.size; start += size) {
    reader.limits.count("entries");
    const tag = table.word(start);
    if (tag === 0) break;
    addToList(values, tag, table.word(start + layout.wordBytes));
  }
  const addresses = new AddressMap(segments);
  const [address, bytes] = [values.get(tags.stringTable)?.[0], values.get(tags.stringTableSize)?.[0]];
  if (address === undefined || bytes === undefined) throw new DamagedBinary("its dynamic segment has no string table");
  const what = "the dynamic string table";
  return { addresses, values, strings: await reader.names(addresses.position(address, what), bytes, what) };
}

/** The first value of a tag. */
export function getValue({ values }: DynamicSegment, tag: number): number | undefined {
  return values.get(tag)?.[0];
}

/** The strings that the values of a tag name. */
export function getDynamicTexts({ values, strings }: DynamicSegment, tag: number): string[] {
  return (values.get(tag) ?? []).map((offset) => strings.at(offset));
}

/** The folders of a DT_RPATH or DT_RUNPATH, which colons separate. */
export function getFolders(dynamic: DynamicSegment, tag: number): string[] {
  return getDynamicTexts(dynamic, tag).flatMap((text) => text.split(":").filter((folder) => folder !== ""));
}
