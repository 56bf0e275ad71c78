/** The header of an ELF file and its tables of segments and sections (System V ABI, chapter 4). */
import type { BinaryReader, BinaryFields, NumberLayout } from "../binary-reader.ts";
import { DamagedBinary } from "../binary-errors.ts";

/** A segment: a range of the file that the loader maps or reads. */
export interface ElfSegment {
  readonly type: number;
  readonly offset: number;
  readonly address: number;
  /** Bytes in the file. */
  readonly size: number;
}

/** A section: a range of the file for the linker. */
export interface ElfSection {
  readonly nameOffset: number;
  readonly type: number;
  readonly address: number;
  readonly offset: number;
  readonly size: number;
  /** Index of the section that this one refers to: the string table of a symbol table. */
  readonly link: number;
}

/** The header, with its tables. */
export interface ElfHeader {
  readonly layout: NumberLayout;
  /** ET_REL 1, ET_EXEC 2, ET_DYN 3, ET_CORE 4. */
  readonly type: number;
  readonly machine: number;
  readonly segments: readonly ElfSegment[];
  readonly sections: readonly ElfSection[];
  /** Index of the section with the names of sections; 0: none. */
  readonly sectionNames: number;
}

/** Size of one entry, and the offsets of the fields that are read, for 32-bit and 64-bit files. */
const layouts = {
  4: { header: 52, segment: 32, section: 40, tables: [28, 32], counts: 42 },
  8: { header: 64, segment: 56, section: 64, tables: [32, 40], counts: 54 },
} as const;

/** phnum of a file with 65,535 segments or more, whose number is in the first section. */
const extendedNumber = 0xffff;

/** Reads the header and both tables. Throws DamagedBinary. */
export async function readElfHeader(reader: BinaryReader): Promise<ElfHeader> {
  const identity = await reader.bytes(0, 16, "the ELF header");
  const layout = getLayout(identity);
  const sizes = layouts[layout.wordBytes];
  const header = await reader.fields(0, sizes.header, layout, "the ELF header");
  const [segmentsAt, sectionsAt] = [header.word(sizes.tables[0]), header.word(sizes.tables[1])];
  const [segmentSize, segmentNumber, sectionSize, sectionNumber, namesIndex] = [0, 2, 4, 6, 8].map((offset) =>
    header.uint16(sizes.counts + offset),
  ) as [number, number, number, number, number];
  let [segmentCount, sectionCount, sectionNames] = [segmentNumber, sectionNumber, namesIndex];
  if (sectionsAt !== 0) {
    checkEntrySize(sectionSize, sizes.section, "section");
    const [first] = await readSections(reader, layout, sectionsAt, 1);
    if (first !== undefined && sectionNumber === 0) sectionCount = first.size;
    if (first !== undefined && namesIndex === extendedNumber) sectionNames = first.link;
    if (segmentNumber === extendedNumber)
      segmentCount = (await reader.fields(sectionsAt, sizes.section, layout, "section 0")).uint32(sizes.section === 64 ? 44 : 28);
  }
  if (segmentCount > 0) checkEntrySize(segmentSize, sizes.segment, "segment");
  return {
    layout,
    type: header.uint16(16),
    machine: header.uint16(18),
    segments: segmentsAt === 0 ? [] : await readSegments(reader, layout, segmentsAt, segmentCount),
    sections: sectionsAt === 0 ? [] : await readSections(reader, layout, sectionsAt, sectionCount),
    sectionNames,
  };
}

function getLayout(identity: Buffer): NumberLayout {
  const [wordClass, order] = [identity[4], identity[5]];
  if (wordClass !== 1 && wordClass !== 2)
    throw new DamagedBinary(`its class is ${wordClass}, and may be 1 (32 bits) or 2 (64 bits)`);
  if (order !== 1 && order !== 2) throw new DamagedBinary(`its byte order is ${order}, and may be 1 (little) or 2 (big)`);
  return { wordBytes: wordClass === 2 ? 8 : 4, littleEndian: order === 1 };
}

function checkEntrySize(size: number, expected: number, what: string): void {
  if (size !== expected) throw new DamagedBinary(`a ${what} header has ${size} bytes, and must have ${expected}`);
}

async function readSegments(reader: BinaryReader, layout: NumberLayout, position: number, count: number): Promise<ElfSegment[]> {
  const size = layouts[layout.wordBytes].segment;
  reader.limits.count("entries", count);
  const table = await reader.fields(position, count * size, layout, "the segment table");
  const [offset, address, bytes] = layout.wordBytes === 8 ? [8, 16, 32] : [4, 8, 16];
  return getEntries(table, size, (start) => ({
    type: table.uint32(start),
    offset: table.word(start + offset),
    address: table.word(start + address),
    size: table.word(start + bytes),
  }));
}

async function readSections(reader: BinaryReader, layout: NumberLayout, position: number, count: number): Promise<ElfSection[]> {
  const size = layouts[layout.wordBytes].section;
  reader.limits.count("entries", count);
  const table = await reader.fields(position, count * size, layout, "the section table");
  const [address, offset, bytes, link] = layout.wordBytes === 8 ? [16, 24, 32, 40] : [12, 16, 20, 24];
  return getEntries(table, size, (start) => ({
    nameOffset: table.uint32(start),
    type: table.uint32(start + 4),
    address: table.word(start + address),
    offset: table.word(start + offset),
    size: table.word(start + bytes),
    link: table.uint32(start + link),
  }));
}

/** The entries of a table, each read by `read` at its byte offset. */
function getEntries<Entry>(table: BinaryFields, size: number, read: (start: number) => Entry): Entry[] {
  return Array.from({ length: table.size / size }, (_entry, index) => read(index * size));
}

/** The segments of a file as the loader maps them: addresses to positions. */
export class AddressMap {
  readonly #loaded: readonly ElfSegment[];

  constructor(segments: readonly ElfSegment[]) {
    this.#loaded = segments.filter(({ type }) => type === 1); // PT_LOAD
  }

  /** Position in the file of an address that the file has bytes for. Throws DamagedBinary; `what` names the content in the message. */
  position(address: number, what: string): number {
    const segment = this.#loaded.find((each) => address >= each.address && address < each.address + each.size);
    if (segment === undefined) throw new DamagedBinary(`${what} is at address 0x${address.toString(16)}, which no segment loads`);
    return segment.offset + (address - segment.address);
  }
}
