/** Reads COFF objects, and the short members of import libraries (Microsoft's "PE Format", "Import Library Format"). */
import { type BinaryFile, type BinarySymbol, emptyBinary, makeSymbol } from "../binary-file.ts";
import type { BinaryReader, BinaryFields } from "../binary-reader.ts";
import { coffArchitecture, coffBits } from "./coff-machines.ts";
import { littleEndian } from "./pe-image.ts";

/** Where the header of a form of COFF has what is read, and the size of a symbol. */
const forms = {
  plain: { machine: 0, symbols: 8, headerBytes: 20, symbolBytes: 18 },
  large: { machine: 6, symbols: 48, headerBytes: 56, symbolBytes: 20 },
} as const;

const externalClass = 2;
const weakClass = 105;

/** The machine of a COFF object or short import, by the first 8 bytes of a file; undefined for other files. */
export function coffMachine(start: Buffer): number | undefined {
  if (start.length < 8) return undefined;
  const machine = start.readUInt16LE(isAnonymous(start) ? 6 : 0);
  return coffBits(machine) === undefined ? undefined : machine;
}

/** Import members and objects with many sections begin with an unknown machine and 65,535 sections. */
function isAnonymous(start: Buffer): boolean {
  return start.readUInt16LE(0) === 0 && start.readUInt16LE(2) === 0xffff;
}

/** Reads a COFF object. Throws DamagedBinary. */
export async function readCoff(reader: BinaryReader, machine: number): Promise<BinaryFile> {
  const start = await reader.bytes(0, 20, "the COFF header");
  const isShortImport = isAnonymous(start) && start.readUInt16LE(4) === 0;
  return {
    ...emptyBinary,
    format: "coff",
    kind: "object",
    architecture: coffArchitecture(machine),
    bits: coffBits(machine) ?? 64,
    byteOrder: "little",
    bytes: reader.size,
    symbols: isShortImport ? await readShortImport(reader) : await readSymbols(reader, isAnonymous(start) ? "large" : "plain"),
  };
}

/** The member of an import library for one function of a DLL: it defines the function for the linker. */
async function readShortImport(reader: BinaryReader): Promise<BinarySymbol[]> {
  const header = await reader.fields(0, 20, littleEndian, "the import header");
  const names = await reader.names(20, header.uint32(12), "the names of an import");
  const name = names.at(0);
  const isCode = (header.uint16(18) & 3) === 0;
  return [
    makeSymbol({
      name,
      type: isCode ? "function" : "object",
      isExported: true,
      library: names.at(Buffer.byteLength(name) + 1),
    }),
  ];
}

async function readSymbols(reader: BinaryReader, form: keyof typeof forms): Promise<BinarySymbol[]> {
  const { symbols: tableAt, headerBytes, symbolBytes } = forms[form];
  const header = await reader.fields(0, headerBytes, littleEndian, "the COFF header");
  const [position, count] = [header.uint32(tableAt), header.uint32(tableAt + 4)];
  if (position === 0 || count === 0) return [];
  reader.limits.count("symbols", count);
  const table = await reader.fields(position, count * symbolBytes, littleEndian, "the symbol table");
  const stringsAt = position + count * symbolBytes;
  const size = await reader.fields(stringsAt, 4, littleEndian, "the string table");
  const names = await reader.names(stringsAt, size.uint32(0), "the string table");
  const symbols: BinarySymbol[] = [];
  for (let index = 0; index < count; index += 1) {
    const start = index * symbolBytes;
    const storage = table.uint8(start + symbolBytes - 2);
    // A long name is an offset in the string table after four zero bytes.
    if (storage === externalClass || storage === weakClass) {
      const name = table.uint32(start) === 0 ? names.at(table.uint32(start + 4)) : table.text(start, 8);
      symbols.push(getSymbol(table, start, form, name));
    }
    index += table.uint8(start + symbolBytes - 1); // auxiliary entries
  }
  return symbols;
}

function getSymbol(table: BinaryFields, start: number, form: keyof typeof forms, name: string): BinarySymbol {
  const { symbolBytes } = forms[form];
  const isUndefined = (form === "large" ? table.uint32(start + 12) : table.uint16(start + 12)) === 0;
  const isWeak = table.uint8(start + symbolBytes - 2) === weakClass;
  const isCommon = isUndefined && !isWeak && table.uint32(start + 8) !== 0; // the value of a common symbol is its size
  return makeSymbol({
    name,
    binding: isWeak ? "weak" : "global",
    type: isCommon ? "common" : table.uint16(start + symbolBytes - 4) === 0x20 ? "function" : "unknown",
    isImported: isUndefined && !isCommon,
    isExported: !isUndefined || isCommon,
  });
}
