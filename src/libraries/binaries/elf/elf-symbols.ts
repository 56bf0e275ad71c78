/** Symbol tables of ELF files: entries, and the number of dynamic symbols, which no dynamic entry states. */
import { DamagedBinary } from "../binary-errors.ts";
import { type BinarySymbol, type SymbolBinding, type SymbolType, makeSymbol } from "../binary-file.ts";
import type { BinaryReader, BinaryFields, NameTable, NumberLayout } from "../binary-reader.ts";
import { type DynamicSegment, tags, getValue } from "./elf-dynamic.ts";
import type { ElfHeader } from "./elf-header.ts";
import { type ElfVersions, readVersions } from "./elf-versions.ts";

const bindings = new Map<number, SymbolBinding>([
  [0, "local"],
  [1, "global"],
  [2, "weak"],
  [10, "unique"],
]);

const types = new Map<number, SymbolType>([
  [1, "object"],
  [2, "function"],
  [3, "section"],
  [4, "file"],
  [5, "common"],
  [6, "tls"],
  [10, "indirect"],
]);

/** st_shndx of a symbol that another file defines. */
const undefinedSection = 0;
/** Index of the first version that has a name: 0 is local, 1 has none. */
const firstNamedVersion = 2;
/** Bit of a version index: references must name the version. */
const hiddenVersion = 0x8000;

/** Size of an entry, and the offsets of its fields after the name. */
const layouts = {
  4: { size: 16, info: 12, other: 13, section: 14 },
  8: { size: 24, info: 4, other: 5, section: 6 },
} as const;

/** Where the dynamic symbols are, and their versions. */
export interface DynamicSymbols {
  readonly symbols: BinarySymbol[];
  readonly versions: ElfVersions;
}

/** Reads the dynamic symbols with their versions; only the versions where `withSymbols` is false. Throws DamagedBinary. */
export async function readDynamicSymbols(
  reader: BinaryReader,
  header: ElfHeader,
  dynamic: DynamicSegment,
  withSymbols: boolean,
): Promise<DynamicSymbols> {
  const { layout } = header;
  const versions = await readVersions(reader, layout, dynamic);
  const address = getValue(dynamic, tags.symbolTable);
  if (address === undefined || !withSymbols) return { symbols: [], versions };
  const { size } = layouts[layout.wordBytes];
  const count = await dynamicSymbolCount(reader, header, dynamic, address);
  if (count === 0) return { symbols: [], versions };
  reader.limits.count("symbols", count);
  const read = async (at: number, bytes: number, what: string): Promise<BinaryFields> =>
    await reader.fields(dynamic.addresses.position(at, what), bytes, layout, what);
  const table = await read(address, count * size, "the dynamic symbol table");
  const versionsAt = getValue(dynamic, tags.symbolVersions);
  const indexes = versionsAt === undefined ? undefined : await read(versionsAt, count * 2, "the version table");
  const symbols: BinarySymbol[] = [];
  for (let index = 1; index < count; index += 1) {
    const symbol = readSymbol(table, index * size, dynamic.strings);
    symbols.push(indexes === undefined ? symbol : withVersion(symbol, indexes.uint16(index * 2), versions));
  }
  return { symbols, versions };
}

/** Reads all symbols but local ones of a table of an object file. Throws DamagedBinary. */
export async function readObjectSymbols(reader: BinaryReader, { layout, sections }: ElfHeader): Promise<BinarySymbol[]> {
  const symbols: BinarySymbol[] = [];
  for (const section of sections.filter(({ type }) => type === 2)) {
    const strings = sections[section.link];
    if (strings === undefined) throw new DamagedBinary(`its symbol table refers to section ${section.link}, which is missing`);
    const names = await reader.names(strings.offset, strings.size, "the string table");
    const { size } = layouts[layout.wordBytes];
    const table = await reader.fields(section.offset, section.size, layout, "the symbol table");
    const count = Math.floor(section.size / size);
    reader.limits.count("symbols", count);
    for (let index = 1; index < count; index += 1) {
      if (table.uint8(index * size + layouts[layout.wordBytes].info) >> 4 === 0) continue; // local
      const symbol = readSymbol(table, index * size, names);
      // Visibility limits what a finished library exports; a link of objects sees hidden symbols too.
      symbols.push({ ...symbol, isExported: !symbol.isImported });
    }
  }
  return symbols;
}

function readSymbol(table: BinaryFields, start: number, names: NameTable): BinarySymbol {
  const offsets = layouts[table.layout.wordBytes];
  const info = table.uint8(start + offsets.info);
  const visibility = table.uint8(start + offsets.other) & 3;
  const binding = bindings.get(info >> 4) ?? "global";
  const isImported = table.uint16(start + offsets.section) === undefinedSection;
  return makeSymbol({
    name: names.at(table.uint32(start)),
    binding,
    type: types.get(info & 15) ?? "unknown",
    isImported,
    isExported: !isImported && binding !== "local" && (visibility === 0 || visibility === 3), // STV_DEFAULT, STV_PROTECTED
  });
}

function withVersion(symbol: BinarySymbol, index: number, { byIndex }: ElfVersions): BinarySymbol {
  const number = index & (hiddenVersion - 1);
  const found = number < firstNamedVersion ? undefined : byIndex.get(number);
  if (found === undefined) return symbol;
  const isDefaultVersion = !symbol.isImported && (index & hiddenVersion) === 0;
  return { ...symbol, version: found.version, isDefaultVersion, library: symbol.isImported ? found.library : undefined };
}

/**
 * Number of dynamic symbols, the unused first one included: from the section of the symbol table, else from a hash table. A GNU hash
 * table without exports does not cover imports; their end is then the start of the next table.
 */
async function dynamicSymbolCount(
  reader: BinaryReader,
  { layout, sections, machine }: ElfHeader,
  dynamic: DynamicSegment,
  symbolTable: number,
): Promise<number> {
  const { size } = layouts[layout.wordBytes];
  const section = sections.find(({ type, address }) => type === 11 && address === symbolTable); // SHT_DYNSYM
  if (section !== undefined) return Math.floor(section.size / size);
  const hash = getValue(dynamic, tags.hash);
  if (hash !== undefined) {
    // Entries have 64 bits on Alpha and on 64-bit S/390, 32 elsewhere.
    const entryLayout: NumberLayout = {
      ...layout,
      wordBytes: machine === 0x9026 || (machine === 22 && layout.wordBytes === 8) ? 8 : 4,
    };
    const bytes = 2 * entryLayout.wordBytes;
    const table = await reader.fields(dynamic.addresses.position(hash, "the hash table"), bytes, entryLayout, "the hash table");
    return table.word(entryLayout.wordBytes);
  }
  const gnuHash = getValue(dynamic, tags.gnuHash);
  const hashed =
    gnuHash === undefined
      ? undefined
      : await gnuHashCount(reader, layout, dynamic.addresses.position(gnuHash, "the GNU hash table"));
  return hashed ?? countToNextTable(dynamic, symbolTable, size);
}

/** The number of symbols that a GNU hash table covers; undefined if it has no symbol. */
async function gnuHashCount(reader: BinaryReader, layout: NumberLayout, position: number): Promise<number | undefined> {
  const what = "the GNU hash table";
  const header = await reader.fields(position, 16, layout, what);
  const [bucketCount, firstSymbol, bloomWords] = [header.uint32(0), header.uint32(4), header.uint32(8)];
  const bucketsAt = position + 16 + bloomWords * layout.wordBytes;
  const buckets = await reader.fields(bucketsAt, bucketCount * 4, layout, what);
  let last = 0;
  for (let index = 0; index < bucketCount; index += 1) last = Math.max(last, buckets.uint32(index * 4));
  if (last < firstSymbol || last === 0) return undefined;
  // A chain ends where the lowest bit of its hash is set.
  const chainsAt = bucketsAt + bucketCount * 4;
  for (;;) {
    reader.limits.count("symbols");
    const chain = await reader.fields(chainsAt + (last - firstSymbol) * 4, 4, layout, what);
    last += 1;
    if ((chain.uint32(0) & 1) === 1) return last;
  }
}

function countToNextTable({ values }: DynamicSegment, symbolTable: number, size: number): number {
  const tables = [tags.stringTable, tags.symbolVersions, tags.gnuHash, tags.requiredVersions, tags.definedVersions];
  const next = Math.min(...tables.flatMap((tag) => values.get(tag) ?? []).filter((address) => address > symbolTable));
  return Number.isFinite(next) ? Math.floor((next - symbolTable) / size) : 0;
}
