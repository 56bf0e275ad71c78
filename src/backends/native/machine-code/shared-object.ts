/**
 * Writes ELF shared objects for x86-64 that the dynamic loader of Linux opens. Three segments, each of whole pages: tables, which are read; code, which is executed;
 * and addresses, which are read after the loader has filled them in. Addresses are positions in the file. Sources: System V ABI 4.1 with its supplement for
 * AMD64; Linux Standard Base Core 5.0.
 */
import { required } from "../../../contract/checked.ts";
import type { ObjectFunction } from "./object-function.ts";
import { unwindHeaderBytes, unwindTables } from "./unwind-tables.ts";

/** A written object. */
export interface SharedObject {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Positions of the functions by symbol, in the file and relative to the address at which it is loaded. */
  readonly positions: ReadonlyMap<string, number>;
}

const pageBytes = 4096;
/** Functions begin at whole cache lines. */
const functionAlignment = 64;
const headerBytes = 64;
const segmentBytes = 56;
const sectionBytes = 64;
const symbolBytes = 24;
const relocationBytes = 24;
const segmentType = { load: 1, dynamic: 2, unwindTable: 0x6474e550, stack: 0x6474e551, readOnlyAfterRelocation: 0x6474e552 };
const access = { read: 4, readExecute: 5, readWrite: 6 };
/** Global symbol of the type function. */
const globalFunction = 0x12;
/** The relocation that stores the address of a symbol. */
const globalData = 6n;
/** Index of the section with code, in the order in which sections are written. */
const textSection = 7;

/** Writes an object whose functions are all exported, in their order. Imported symbols are found when it is opened, not at the first call. */
export function writeSharedObject(functions: readonly ObjectFunction[]): SharedObject {
  const references = functions.flatMap((each) => each.references ?? []);
  const imports = [...new Set(references.flatMap((each) => ("imported" in each ? [each.imported] : [])))];
  const names = [...imports, ...functions.map(({ name }) => name)];
  const strings = makeStrings(names);
  const symbolCount = names.length + 1;
  const unwound = functions.filter(({ stackChanges }) => stackChanges !== undefined);

  const segmentCount = 7;
  const hash = headerBytes + segmentBytes * segmentCount;
  const symbols = align(hash + 4 * (3 + symbolCount), 8);
  const text0 = symbols + symbolBytes * symbolCount;
  const relocations = align(text0 + strings.bytes.byteLength, 8);
  const unwindHeader = align(relocations + relocationBytes * imports.length, 8);
  const frames = align(unwindHeader + unwindHeaderBytes(unwound.length), 8);
  const placed = (address: (name: string) => number): ReturnType<typeof unwindTables> =>
    unwindTables(
      unwound.map(({ name, code, stackChanges = [] }) => ({ address: address(name), byteLength: code.byteLength, stackChanges })),
      { headerAddress: unwindHeader, framesAddress: frames },
    );
  const tablesEnd = frames + placed(() => 0).frames.byteLength;
  const text = align(tablesEnd, pageBytes);
  const positions = new Map<string, number>();
  let textEnd = text;
  for (const { name, code } of functions) {
    const at = align(textEnd, functionAlignment);
    positions.set(name, at);
    textEnd = at + code.byteLength;
  }
  const dynamic = align(textEnd, pageBytes);
  const dynamicEntries: readonly (readonly [number, number])[] = [
    [4, hash],
    [5, text0],
    [6, symbols],
    [10, strings.bytes.byteLength],
    [11, symbolBytes],
    ...(imports.length === 0
      ? []
      : ([
          [7, relocations],
          [8, relocationBytes * imports.length],
          [9, relocationBytes],
        ] as const)),
    [24, 0], // all symbols are bound at once
    [0, 0],
  ];
  const addresses = dynamic + 16 * dynamicEntries.length;
  const addressesEnd = addresses + 8 * imports.length;
  const loadedEnd = align(addressesEnd, pageBytes);

  const sections: readonly Section[] = [
    { name: "", type: 0, flags: 0, at: 0, bytes: 0 },
    { name: ".hash", type: 5, flags: 2, at: hash, bytes: 4 * (2 + 1 + symbolCount), link: 2 },
    {
      name: ".dynsym",
      type: 11,
      flags: 2,
      at: symbols,
      bytes: symbolBytes * symbolCount,
      link: 3,
      info: 1,
      entryBytes: symbolBytes,
    },
    { name: ".dynstr", type: 3, flags: 2, at: text0, bytes: strings.bytes.byteLength },
    { name: ".rela.dyn", type: 4, flags: 2, at: relocations, bytes: relocationBytes * imports.length, link: 2, entryBytes: 24 },
    { name: ".eh_frame_hdr", type: 1, flags: 2, at: unwindHeader, bytes: unwindHeaderBytes(unwound.length) },
    { name: ".eh_frame", type: 1, flags: 2, at: frames, bytes: tablesEnd - frames },
    { name: ".text", type: 1, flags: 6, at: text, bytes: textEnd - text },
    { name: ".dynamic", type: 6, flags: 3, at: dynamic, bytes: 16 * dynamicEntries.length, link: 3, entryBytes: 16 },
    { name: ".got", type: 1, flags: 3, at: addresses, bytes: 8 * imports.length },
    { name: ".shstrtab", type: 3, flags: 0, at: 0, bytes: 0 },
  ];
  const sectionNames = makeStrings(sections.map(({ name }) => name).filter((name) => name !== ""));
  const sectionTable = align(loadedEnd + sectionNames.bytes.byteLength, 8);

  const bytes = new Uint8Array(sectionTable + sectionBytes * sections.length);
  const file = new FileWriter(bytes);
  bytes.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]);
  file.write16(16, 3, 62); // a shared object for x86-64
  file.write32(20, 1);
  file.write64(32, headerBytes, sectionTable);
  file.write16(52, headerBytes, segmentBytes, segmentCount, sectionBytes, sections.length, sections.length - 1);
  const segments: readonly Segment[] = [
    { type: segmentType.load, flags: access.read, at: 0, bytes: tablesEnd, alignment: pageBytes },
    { type: segmentType.load, flags: access.readExecute, at: text, bytes: textEnd - text, alignment: pageBytes },
    { type: segmentType.load, flags: access.readWrite, at: dynamic, bytes: loadedEnd - dynamic, alignment: pageBytes },
    { type: segmentType.dynamic, flags: access.readWrite, at: dynamic, bytes: addresses - dynamic, alignment: 8 },
    {
      type: segmentType.unwindTable,
      flags: access.read,
      at: unwindHeader,
      bytes: unwindHeaderBytes(unwound.length),
      alignment: 8,
    },
    { type: segmentType.stack, flags: access.readWrite, at: 0, bytes: 0, alignment: 16 },
    { type: segmentType.readOnlyAfterRelocation, flags: access.read, at: dynamic, bytes: loadedEnd - dynamic, alignment: 1 },
  ];
  for (const [index, { type, flags, at, bytes: length, alignment }] of segments.entries()) {
    const position = headerBytes + segmentBytes * index;
    file.write32(position, type, flags);
    file.write64(position + 8, at, at, at, length, length, alignment);
  }
  // One chain of all symbols: a loader that looks for few symbols needs no table.
  file.write32(hash, 1, symbolCount, symbolCount - 1);
  for (let symbol = 1; symbol < symbolCount; symbol += 1) file.write32(hash + 12 + 4 * symbol, symbol - 1);
  for (const [index, name] of names.entries()) {
    const position = symbols + symbolBytes * (index + 1);
    file.write32(position, required(strings.positions.get(name), "the position of a name"));
    const address = index < imports.length ? undefined : positions.get(name);
    bytes[position + 4] = globalFunction;
    if (address === undefined) continue;
    file.write16(position + 6, textSection);
    file.write64(position + 8, address, functions[index - imports.length]?.code.byteLength ?? 0);
  }
  bytes.set(strings.bytes, text0);
  for (const index of imports.keys()) {
    const symbol = BigInt(index + 1);
    file.write64(relocations + relocationBytes * index, addresses + 8 * index);
    file.writeBig(relocations + relocationBytes * index + 8, (symbol << 32n) | globalData);
  }
  const unwind = placed((name) => required(positions.get(name), "the position of a function"));
  bytes.set(unwind.header, unwindHeader);
  bytes.set(unwind.frames, frames);
  const breakpoint = 0xcc;
  bytes.fill(breakpoint, text, textEnd);
  for (const { name, code, references: own = [] } of functions) {
    const position = required(positions.get(name), "the position of a function");
    bytes.set(code, position);
    for (const reference of own) {
      const target =
        "imported" in reference
          ? addresses + 8 * imports.indexOf(reference.imported)
          : required(positions.get(reference.symbol), reference.symbol);
      file.write32(position + reference.at, target - (position + reference.at + 4));
    }
  }
  for (const [index, [tag, value]] of dynamicEntries.entries()) file.write64(dynamic + 16 * index, tag, value);
  bytes.set(sectionNames.bytes, loadedEnd);
  for (const [index, section] of sections.entries()) {
    const { name, type, flags, link = 0, info = 0, entryBytes = 0 } = section;
    const isLast = index === sections.length - 1;
    const position = sectionTable + sectionBytes * index;
    const at = isLast ? loadedEnd : section.at;
    file.write32(position, sectionNames.positions.get(name) ?? 0, type);
    file.write64(position + 8, flags, isLast ? 0 : at, at, isLast ? sectionNames.bytes.byteLength : section.bytes);
    file.write32(position + 40, link, info);
    file.write64(position + 48, index === 0 ? 0 : 1, entryBytes);
  }
  return { bytes, positions };
}

interface Segment {
  readonly type: number;
  readonly flags: number;
  readonly at: number;
  readonly bytes: number;
  readonly alignment: number;
}

interface Section {
  readonly name: string;
  readonly type: number;
  readonly flags: number;
  readonly at: number;
  readonly bytes: number;
  readonly link?: number;
  readonly info?: number;
  readonly entryBytes?: number;
}

/** A table of strings, each ended by a zero byte, after an empty one. */
function makeStrings(names: readonly string[]): { readonly bytes: Uint8Array; readonly positions: ReadonlyMap<string, number> } {
  const positions = new Map<string, number>();
  let length = 1;
  for (const name of names) {
    positions.set(name, length);
    length += name.length + 1;
  }
  return { bytes: new TextEncoder().encode(`\0${names.map((name) => `${name}\0`).join("")}`), positions };
}

/** Little-endian integers in a file, one after the other from a position on. */
class FileWriter {
  readonly #view: DataView;

  constructor(bytes: Uint8Array) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  write16(position: number, ...values: readonly number[]): void {
    for (const [index, value] of values.entries()) this.#view.setUint16(position + 2 * index, value, true);
  }

  write32(position: number, ...values: readonly number[]): void {
    for (const [index, value] of values.entries()) this.#view.setUint32(position + 4 * index, value, true);
  }

  write64(position: number, ...values: readonly number[]): void {
    for (const [index, value] of values.entries()) this.writeBig(position + 8 * index, BigInt(value));
  }

  writeBig(position: number, value: bigint): void {
    this.#view.setBigUint64(position, value, true);
  }
}

function align(value: number, to: number): number {
  return Math.ceil(value / to) * to;
}
