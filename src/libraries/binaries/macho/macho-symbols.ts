/** Symbols of Mach-O files: entries of LC_SYMTAB (mach-o/nlist.h) in the ranges that LC_DYSYMTAB gives for exports and imports. */
import { type BinaryKind, type BinarySymbol, makeSymbol } from "../binary-file.ts";
import type { BinaryReader, BinaryFields, NameTable, NumberLayout } from "../binary-reader.ts";

/** Where the symbols of a file are. */
export interface MachoSymbolTable {
  readonly layout: NumberLayout;
  /** Position of the first entry. */
  readonly position: number;
  /** Indexes of the entries that are not local. */
  readonly ranges: readonly { readonly first: number; readonly count: number }[];
  readonly names: NameTable;
  /** Libraries that imports refer to by their number, from 1. */
  readonly needed: readonly string[];
  readonly kind: BinaryKind;
}

/** Bits of the type of an entry. */
const debugging = 0xe0;
const privateExternal = 0x10;
const external = 0x01;
const sectionType = 0x0e;

/** Reads the symbols that are not local. Throws DamagedBinary. */
export async function readMachoSymbols(reader: BinaryReader, table: MachoSymbolTable): Promise<BinarySymbol[]> {
  const size = table.layout.wordBytes === 8 ? 16 : 12;
  const symbols: BinarySymbol[] = [];
  for (const { first, count } of table.ranges) {
    reader.limits.count("symbols", count);
    const entries = await reader.fields(table.position + first * size, count * size, table.layout, "the symbol table");
    for (let start = 0; start < entries.size; start += size) {
      const type = entries.uint8(start + 4);
      if ((type & debugging) === 0 && (type & external) !== 0) symbols.push(readSymbol(entries, start, type, table));
    }
  }
  return symbols;
}

function readSymbol(entries: BinaryFields, start: number, type: number, { names, needed, kind }: MachoSymbolTable): BinarySymbol {
  const description = entries.uint16(start + 6);
  const isUndefined = (type & sectionType) === 0;
  const isCommon = isUndefined && kind === "object" && entries.word(start + 8) !== 0; // the value of a common symbol is its size
  const isImported = isUndefined && !isCommon;
  const name = names.at(entries.uint32(start));
  return makeSymbol({
    name: name.startsWith("_") ? name.slice(1) : name,
    binding: (description & (isImported ? 0x40 : 0x80)) === 0 ? "global" : "weak", // N_WEAK_REF, N_WEAK_DEF
    type: isCommon ? "common" : "unknown",
    isImported,
    isExported: !isImported && (kind === "object" || (type & privateExternal) === 0),
    library: isImported && kind !== "object" ? needed[(description >> 8) - 1] : undefined,
  });
}
