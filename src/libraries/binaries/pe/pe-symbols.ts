/** Exports and imports of PE files (Microsoft's "PE Format", sections .edata, .idata and delay-load import tables). */
import { type BinarySymbol, makeSymbol } from "../binary-file.ts";
import type { BinaryReader } from "../binary-reader.ts";
import { type PeImage, littleEndian, getPosition, sectionAt, textAt } from "./pe-image.ts";

/** Exports of a PE file: its own name, and its exports that have names. */
export interface PeExports {
  readonly name: string | undefined;
  readonly symbols: readonly BinarySymbol[];
}

/** Imports of a PE file: libraries, and the symbols it takes from each. */
export interface PeImports {
  readonly needed: readonly string[];
  readonly symbols: readonly BinarySymbol[];
}

/** Reads the exports. Exports with only a number are left out. Throws DamagedBinary. */
export async function readExports(reader: BinaryReader, image: PeImage, withSymbols: boolean): Promise<PeExports> {
  const directory = image.directories[0];
  if (directory === undefined || directory.address === 0) return { name: undefined, symbols: [] };
  const table = await reader.fields(
    getPosition(image, directory.address, "the export directory"),
    40,
    littleEndian,
    "the export directory",
  );
  const nameAddress = table.uint32(12);
  const name = nameAddress === 0 ? undefined : await textAt(reader, image, nameAddress, "the library's own name");
  const [addressCount, nameCount] = [table.uint32(20), table.uint32(24)];
  if (!withSymbols || nameCount === 0) return { name, symbols: [] };
  reader.limits.count("symbols", nameCount);
  const read = async (address: number, bytes: number, what: string) =>
    await reader.fields(getPosition(image, address, what), bytes, littleEndian, what);
  const addresses = await read(table.uint32(28), addressCount * 4, "the table of exported addresses");
  const names = await read(table.uint32(32), nameCount * 4, "the table of exported names");
  const ordinals = await read(table.uint32(36), nameCount * 2, "the table of export numbers");
  const symbols: BinarySymbol[] = [];
  for (let index = 0; index < nameCount; index += 1) {
    const address = addresses.uint32(ordinals.uint16(index * 2) * 4);
    // An address inside the directory is a text that names the function of another library.
    const isForwarded = address >= directory.address && address < directory.address + directory.size;
    const isFunction = isForwarded || image.sections.some((each) => each.isCode && contains(each, address));
    symbols.push(
      makeSymbol({
        name: await textAt(reader, image, names.uint32(index * 4), "an exported name"),
        type: isFunction ? "function" : "object",
        isExported: true,
      }),
    );
  }
  return { name, symbols };
}

function contains({ address, size }: PeImage["sections"][number], at: number): boolean {
  return at >= address && at < address + size;
}

/** Reads the imports, those included that are bound when they are first called. Imports by number are named "#12". Throws DamagedBinary. */
export async function readImports(reader: BinaryReader, image: PeImage, withSymbols: boolean): Promise<PeImports> {
  const needed: string[] = [];
  const symbols: BinarySymbol[] = [];
  // Size of a descriptor, and where it has the addresses of the library's name and of the list of symbols.
  const tables = [
    { directory: image.directories[1], size: 20, name: 12, lists: [0, 16] },
    { directory: image.directories[13], size: 32, name: 4, lists: [16] },
  ];
  for (const { directory, size, name, lists } of tables) {
    if (directory === undefined || directory.address === 0) continue;
    const what = "the import directory";
    for (let position = getPosition(image, directory.address, what); ; position += size) {
      reader.limits.count("entries");
      const descriptor = await reader.fields(position, size, littleEndian, what);
      if (descriptor.uint32(name) === 0) break;
      const library = await textAt(reader, image, descriptor.uint32(name), "the name of a needed library");
      needed.push(library);
      const list = lists.map((offset) => descriptor.uint32(offset)).find((address) => address !== 0);
      if (withSymbols && list !== undefined) symbols.push(...(await importsAt(reader, image, list, library)));
    }
  }
  return { needed, symbols };
}

async function importsAt(reader: BinaryReader, image: PeImage, list: number, library: string): Promise<BinarySymbol[]> {
  const what = "a list of imports";
  const { wordBytes } = image.layout;
  const section = sectionAt(image, list, what);
  const symbols: BinarySymbol[] = [];
  for (let offset = list - section.address; ; offset += wordBytes) {
    const entry = await reader.fields(section.position + offset, wordBytes, image.layout, what);
    if (entry.word(0) === 0) return symbols;
    reader.limits.count("symbols");
    const isNumber = (entry.uint32(wordBytes - 4) & 0x80000000) !== 0;
    const name = isNumber
      ? `#${entry.uint16(0)}`
      : await textAt(reader, image, (entry.uint32(0) & 0x7fffffff) + 2, "an imported name"); // after a hint of two bytes
    symbols.push(makeSymbol({ name, isImported: true, library }));
  }
}
