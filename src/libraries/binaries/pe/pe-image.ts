/** Headers of PE files (Microsoft's "PE Format"), and the mapping of addresses to positions. */
import { DamagedBinary } from "../binary-errors.ts";
import type { BinaryReader, BinaryFields, NumberLayout } from "../binary-reader.ts";

/** PE files are little-endian on every machine. */
export const littleEndian: NumberLayout = { littleEndian: true, wordBytes: 4 };

/** A section of a PE file. */
export interface PeSection {
  readonly name: string;
  readonly address: number;
  readonly position: number;
  /** Bytes in the file. */
  readonly size: number;
  readonly isCode: boolean;
}

/** A range of the image that the header refers to. Addresses are relative to where the image is loaded. */
export interface DataDirectory {
  readonly address: number;
  readonly size: number;
}

/** The header of a PE file. */
export interface PeImage {
  readonly machine: number;
  readonly characteristics: number;
  readonly layout: NumberLayout;
  readonly sections: readonly PeSection[];
  /** Exports are 0, imports 1, debugging 6, delayed imports 13. */
  readonly directories: readonly DataDirectory[];
}

/** Reads the headers. Throws DamagedBinary. */
export async function readPeImage(reader: BinaryReader): Promise<PeImage> {
  const stub = await reader.fields(0, 64, littleEndian, "the MS-DOS header");
  const start = stub.uint32(0x3c);
  const header = await reader.fields(start, 24, littleEndian, "the PE header");
  if (header.uint32(0) !== 0x4550) throw new DamagedBinary("it has an MS-DOS header without a PE header");
  const optional = await reader.fields(start + 24, header.uint16(20), littleEndian, "the optional header");
  const magic = optional.uint16(0);
  if (magic !== 0x10b && magic !== 0x20b)
    throw new DamagedBinary(`its optional header is of kind ${magic}, and may be 267 or 523`);
  const sections = await readSections(reader, start + 24 + optional.size, header.uint16(6));
  return {
    machine: header.uint16(4),
    characteristics: header.uint16(22),
    layout: { littleEndian: true, wordBytes: magic === 0x20b ? 8 : 4 },
    sections,
    directories: getDirectories(optional, magic === 0x20b ? 108 : 92),
  };
}

function getDirectories(optional: BinaryFields, countAt: number): DataDirectory[] {
  const count = Math.min(optional.uint32(countAt), 16);
  return Array.from({ length: count }, (_directory, index) => ({
    address: optional.uint32(countAt + 4 + index * 8),
    size: optional.uint32(countAt + 8 + index * 8),
  }));
}

async function readSections(reader: BinaryReader, position: number, count: number): Promise<PeSection[]> {
  const table = await reader.fields(position, count * 40, littleEndian, "the section table");
  reader.limits.count("entries", count);
  return Array.from({ length: count }, (_section, index) => {
    const start = index * 40;
    return {
      name: table.text(start, 8),
      address: table.uint32(start + 12),
      position: table.uint32(start + 20),
      size: table.uint32(start + 16),
      isCode: (table.uint32(start + 36) & 0x20000000) !== 0, // IMAGE_SCN_MEM_EXECUTE
    };
  });
}

/** The section that has bytes for an address. Throws DamagedBinary; `what` names the content in the message. */
export function sectionAt({ sections }: PeImage, address: number, what: string): PeSection {
  const section = sections.find((each) => address >= each.address && address < each.address + each.size);
  if (section === undefined) throw new DamagedBinary(`${what} is at address 0x${address.toString(16)}, which is in no section`);
  return section;
}

/** Position in the file of an address. Throws DamagedBinary; `what` names the content in the message. */
export function getPosition(image: PeImage, address: number, what: string): number {
  const section = sectionAt(image, address, what);
  return section.position + (address - section.address);
}

/** The text at an address, which ends in a zero byte. Throws DamagedBinary; `what` names it. */
export async function textAt(reader: BinaryReader, image: PeImage, address: number, what: string): Promise<string> {
  const position = getPosition(image, address, what);
  // Most names are short, and reading the same 64 KiB again costs nothing: the reader keeps them.
  for (const length of [256, 8192]) {
    const bytes = await reader.bytes(position, Math.min(length, reader.size - position), what);
    const end = bytes.indexOf(0);
    if (end < 0) continue;
    reader.limits.count("nameBytes", end);
    return bytes.toString("utf8", 0, end);
  }
  throw new DamagedBinary(`${what} does not end`);
}
