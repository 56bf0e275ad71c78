/** Reads Mach-O files of one architecture (Apple's mach-o/loader.h). */
import { DamagedBinary } from "../binary-errors.ts";
import { type BinaryFile, type BinaryKind, emptyBinary } from "../binary-file.ts";
import type { BinaryReader, BinaryFields, NumberLayout } from "../binary-reader.ts";
import { machoArchitecture } from "./macho-architectures.ts";
import { type MachoSymbolTable, readMachoSymbols } from "./macho-symbols.ts";

/** File types that are read. Bundles (MH_BUNDLE) are what Node.js loads as addons. */
const kinds = new Map<number, BinaryKind>([
  [1, "object"],
  [2, "executable"],
  [6, "shared object"],
  [8, "shared object"],
]);

/** Load commands that are read; bit 31 (LC_REQ_DYLD) is masked. */
const commands = {
  segment: 0x1,
  symbolTable: 0x2,
  dynamicSymbolTable: 0xb,
  loadLibrary: 0xc,
  name: 0xd,
  loadWeakLibrary: 0x18,
  segment64: 0x19,
  uuid: 0x1b,
  rpath: 0x1c,
  reexportLibrary: 0x1f,
  lazyLoadLibrary: 0x20,
  loadUpwardLibrary: 0x23,
} as const;

const libraryCommands: ReadonlySet<number> = new Set([
  commands.loadLibrary,
  commands.loadWeakLibrary,
  commands.reexportLibrary,
  commands.lazyLoadLibrary,
  commands.loadUpwardLibrary,
]);

/** A load command. */
interface LoadCommand {
  readonly command: number;
  /** Byte offset in the table of commands. */
  readonly start: number;
  readonly size: number;
}

/** The byte order and word size of a Mach-O file by its first four bytes, read as big-endian; undefined for other files. */
export function machoLayout(magic: number): NumberLayout | undefined {
  switch (magic) {
    case 0xfeedface:
      return { littleEndian: false, wordBytes: 4 };
    case 0xfeedfacf:
      return { littleEndian: false, wordBytes: 8 };
    case 0xcefaedfe:
      return { littleEndian: true, wordBytes: 4 };
    case 0xcffaedfe:
      return { littleEndian: true, wordBytes: 8 };
    default:
      return undefined;
  }
}

/** Reads a Mach-O file of one architecture. `withSymbols`: whether symbols are read. Throws DamagedBinary. */
export async function readMacho(reader: BinaryReader, layout: NumberLayout, withSymbols: boolean): Promise<BinaryFile> {
  const headerBytes = layout.wordBytes === 8 ? 32 : 28;
  const header = await reader.fields(0, headerBytes, layout, "the Mach-O header");
  const kind = kinds.get(header.uint32(12));
  if (kind === undefined)
    throw new DamagedBinary(`its type is ${header.uint32(12)}, and may be 1 (object), 2 (executable), 6 (library) or 8 (bundle)`);
  const table = await reader.fields(headerBytes, header.uint32(20), layout, "the load commands");
  const list = loadCommands(reader, table, header.uint32(16));
  const texts = (wanted: (command: number) => boolean): string[] =>
    list.filter(({ command }) => wanted(command)).map((each) => toText(table, each));
  const needed = texts((command) => libraryCommands.has(command));
  const uuid = list.find(({ command }) => command === commands.uuid);
  return {
    ...emptyBinary,
    format: "mach-o",
    kind,
    architecture: machoArchitecture(header.uint32(4)),
    bits: layout.wordBytes === 8 ? 64 : 32,
    byteOrder: layout.littleEndian ? "little" : "big",
    bytes: reader.size,
    name: texts((command) => command === commands.name)[0],
    needed,
    rpath: texts((command) => command === commands.rpath),
    buildId: uuid === undefined ? undefined : table.bytes.toString("hex", uuid.start + 8, uuid.start + 24),
    sections: list.flatMap((each) => getSections(reader, table, each)),
    symbols: withSymbols ? await getSymbols(reader, table, list, kind, needed) : [],
  };
}

function loadCommands(reader: BinaryReader, table: BinaryFields, count: number): LoadCommand[] {
  reader.limits.count("entries", count);
  const list: LoadCommand[] = [];
  let start = 0;
  for (let index = 0; index < count; index += 1) {
    const size = table.uint32(start + 4);
    if (size < 8 || start + size > table.size)
      throw new DamagedBinary(`load command ${index} has ${size} bytes, and ${table.size - start} are left`);
    list.push({ command: table.uint32(start) & 0x7fffffff, start, size });
    start += size;
  }
  return list;
}

/** The text of a command whose first field is the offset of a text in it. */
function toText(table: BinaryFields, { start, size }: LoadCommand): string {
  const offset = table.uint32(start + 8);
  const text = table.bytes.subarray(start + Math.min(offset, size), start + size);
  const end = text.indexOf(0);
  return text.toString("utf8", 0, end < 0 ? text.length : end);
}

async function getSymbols(
  reader: BinaryReader,
  table: BinaryFields,
  list: readonly LoadCommand[],
  kind: BinaryKind,
  needed: readonly string[],
): Promise<BinaryFile["symbols"]> {
  const symbols = list.find(({ command }) => command === commands.symbolTable);
  if (symbols === undefined) return [];
  const dynamic = list.find(({ command }) => command === commands.dynamicSymbolTable);
  const number = (offset: number): number => table.uint32(symbols.start + offset);
  const range = (at: number): MachoSymbolTable["ranges"][number] => ({ first: table.uint32(at), count: table.uint32(at + 4) });
  return await readMachoSymbols(reader, {
    layout: table.layout,
    position: number(8),
    ranges: dynamic === undefined ? [{ first: 0, count: number(12) }] : [range(dynamic.start + 16), range(dynamic.start + 24)],
    names: await reader.names(number(16), number(20), "the string table"),
    needed,
    kind,
  });
}

/** The sections that a segment command lists, as "__TEXT,__text". */
function getSections(reader: BinaryReader, table: BinaryFields, { command, start, size }: LoadCommand): string[] {
  if (command !== commands.segment && command !== commands.segment64) return [];
  const is64 = command === commands.segment64;
  const [headerBytes, sectionBytes] = is64 ? [72, 80] : [56, 68];
  const count = table.uint32(start + headerBytes - 8);
  if (headerBytes + count * sectionBytes > size)
    throw new DamagedBinary(`a segment claims ${count} sections, which do not fit into it`);
  reader.limits.count("entries", count);
  return Array.from({ length: count }, (_section, index) => {
    const section = start + headerBytes + index * sectionBytes;
    return `${table.text(section + 16, 16)},${table.text(section, 16)}`;
  });
}
