/** Reads static archives, in the forms of System V and GNU, BSD and Windows (ar.h), and sums the symbols of their objects. */
import { DamagedBinary } from "./binary-errors.ts";
import { type BinaryFile, type BinarySymbol, emptyBinary } from "./binary-file.ts";
import type { BinaryReader } from "./binary-reader.ts";
import { readElf } from "./elf/read-elf.ts";
import { machoLayout, readMacho } from "./macho/read-macho.ts";
import { coffMachine, readCoff } from "./pe/read-coff.ts";

/** The first bytes of an archive. */
export const archiveMagic = "!<arch>\n";
const headerBytes = 60;

/** Reads an archive. `withSymbols`: whether symbols are read. Throws DamagedBinary. */
export async function readArchive(reader: BinaryReader, withSymbols: boolean): Promise<BinaryFile> {
  let first: BinaryFile | undefined;
  const members = { objects: 0, others: 0 };
  const symbols: BinarySymbol[] = [];
  for await (const member of getMembers(reader)) {
    const object = await readObject(member, withSymbols);
    if (object === undefined) members.others += 1;
    else {
      members.objects += 1;
      first ??= object;
      for (const symbol of object.symbols) symbols.push(symbol);
    }
  }
  if (first === undefined) throw new DamagedBinary(`none of its ${members.others} members is an object of a format that is read`);
  return {
    ...emptyBinary,
    format: "archive",
    kind: "archive",
    architecture: first.architecture,
    bits: first.bits,
    byteOrder: first.byteOrder,
    bytes: reader.size,
    symbols: combine(symbols),
    members,
  };
}

/** The members that hold files. Tables of symbols and names are passed over. */
async function* getMembers(reader: BinaryReader): AsyncGenerator<BinaryReader> {
  for (let position = archiveMagic.length; position < reader.size;) {
    reader.limits.count("entries");
    const header = (await reader.bytes(position, headerBytes, "the header of a member")).toString("latin1");
    const size = Number(header.slice(48, 58).trim() || Number.NaN);
    if (!header.endsWith("`\n") || !Number.isSafeInteger(size) || size < 0)
      throw new DamagedBinary(`there is no header of a member at byte ${position}`);
    const content = reader.range(position + headerBytes, size, "a member");
    const name = header.slice(0, 16).trimEnd();
    const bsdNameBytes = Number(/^#1\/(\d+)$/.exec(name)?.[1] ?? 0); // BSD puts a long name before the content
    const isBsdTable = name.startsWith("__.SYMDEF") || (bsdNameBytes > 0 && (await startsWith(content, "__.SYMDEF")));
    if (!isBsdTable && !["/", "//", "/SYM64/", "/<ECSYMBOLS>/"].includes(name))
      yield content.range(bsdNameBytes, size - bsdNameBytes, "a member");
    position += headerBytes + size + (size % 2);
  }
}

async function startsWith(reader: BinaryReader, text: string): Promise<boolean> {
  return reader.size >= text.length && (await reader.bytes(0, text.length, "the name of a member")).toString("latin1") === text;
}

/** The object, or undefined for a member that is none, such as bytecode of link-time optimization. */
async function readObject(reader: BinaryReader, withSymbols: boolean): Promise<BinaryFile | undefined> {
  if (reader.size < 20) return undefined;
  const start = await reader.bytes(0, 8, "the start of a member");
  if (start.toString("latin1", 0, 4) === "\u007FELF") return await readElf(reader, withSymbols);
  const layout = machoLayout(start.readUInt32BE(0));
  if (layout !== undefined) return await readMacho(reader, layout, withSymbols);
  const machine = coffMachine(start);
  return machine === undefined ? undefined : await readCoff(reader, machine);
}

/** The symbols of all members as one link sees them: what a member defines is no import of the others. Each name once. */
function combine(symbols: readonly BinarySymbol[]): BinarySymbol[] {
  const byName = new Map<string, BinarySymbol>();
  for (const symbol of symbols) {
    const before = byName.get(symbol.name);
    if (before === undefined || (before.isImported && !symbol.isImported)) byName.set(symbol.name, symbol);
  }
  return [...byName.values()];
}
