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
const dynamicTag = {
  end: 0,
  hash: 4,
  strings: 5,
  symbols: 6,
  relocations: 7,
  relocationBytes: 8,
  relocationEntryBytes: 9,
  stringBytes: 10,
  symbolBytes: 11,
  bindNow: 24,
};
/** Global symbol of the type function. */
const globalFunction = 0x12;
/** The relocation that stores the address of a symbol. */
const globalData = 6n;
/** Index of the section with code, in the order in which sections are written. */
const textSection = 7;

/** Writes an object whose functions are all exported, in their order. Imported symbols are found when it is opened, not at the first call. */
export function writeSharedObject(functions: readonly ObjectFunction[]): SharedObject {
  const layout = new ObjectLayout(functions);
  const sections = layout.sections;
  const sectionNames = makeStrings(sections.map(({ name }) => name).filter((name) => name !== ""));
  const sectionTable = align(layout.loadedEnd + sectionNames.bytes.byteLength, 8);
  const bytes = new Uint8Array(sectionTable + sectionBytes * sections.length);
  const file = new FileWriter(bytes);
  writeHeaders(file, layout, { sectionTable, sectionCount: sections.length });
  writeSymbols(file, layout);
  writeCode(file, layout);
  const unwind = layout.unwindTables((name) => layout.position(name));
  bytes.set(unwind.header, layout.unwindHeader);
  bytes.set(unwind.frames, layout.frames);
  for (const [index, [tag, value]] of layout.dynamicEntries.entries()) file.write64(layout.dynamic + 16 * index, tag, value);
  bytes.set(sectionNames.bytes, layout.loadedEnd);
  const nameTable = {
    ...required(sections.at(-1), "the last section"),
    at: layout.loadedEnd,
    bytes: sectionNames.bytes.byteLength,
  };
  for (const [index, section] of [...sections.slice(0, -1), nameTable].entries())
    writeSection(file, section, {
      position: sectionTable + sectionBytes * index,
      name: sectionNames.positions.get(section.name) ?? 0,
    });
  return { bytes, positions: layout.positions };
}

/** Where everything is in an object: tables, then code and the addresses of imported functions, each from a page of its own on. */
class ObjectLayout {
  readonly functions: readonly ObjectFunction[];
  /** Symbols that the loader finds in the program and its libraries. */
  readonly imports: readonly string[];
  /** Names of the symbols: first the imported ones, then the exported ones. */
  readonly names: readonly string[];
  readonly strings: ReturnType<typeof makeStrings>;
  readonly segmentCount: number = 7;
  readonly hash: number;
  readonly symbols: number;
  readonly symbolNames: number;
  readonly relocations: number;
  readonly unwindHeader: number;
  readonly frames: number;
  readonly tablesEnd: number;
  readonly text: number;
  readonly textEnd: number;
  readonly positions: ReadonlyMap<string, number>;
  readonly dynamic: number;
  readonly dynamicEntries: readonly (readonly [tag: number, value: number])[];
  /** The addresses of imported functions. */
  readonly addresses: number;
  readonly loadedEnd: number;
  readonly #unwound: readonly ObjectFunction[];

  constructor(functions: readonly ObjectFunction[]) {
    this.functions = functions;
    const references = functions.flatMap((each) => each.references ?? []);
    this.imports = [...new Set(references.flatMap((each) => ("imported" in each ? [each.imported] : [])))];
    this.names = [...this.imports, ...functions.map(({ name }) => name)];
    this.strings = makeStrings(this.names);
    this.#unwound = functions.filter(({ stackChanges }) => stackChanges !== undefined);
    this.hash = headerBytes + segmentBytes * this.segmentCount;
    this.symbols = align(this.hash + this.hashBytes, 8);
    this.symbolNames = this.symbols + symbolBytes * this.symbolCount;
    this.relocations = align(this.symbolNames + this.strings.bytes.byteLength, 8);
    this.unwindHeader = align(this.relocations + relocationBytes * this.imports.length, 8);
    this.frames = align(this.unwindHeader + this.unwindHeaderBytes, 8);
    this.tablesEnd = this.frames + this.unwindTables(() => 0).frames.byteLength;
    this.text = align(this.tablesEnd, pageBytes);
    const positions = new Map<string, number>();
    let end = this.text;
    for (const { name, code } of functions) {
      const at = align(end, functionAlignment);
      positions.set(name, at);
      end = at + code.byteLength;
    }
    this.positions = positions;
    this.textEnd = end;
    this.dynamic = align(end, pageBytes);
    this.dynamicEntries = this.#dynamicEntries();
    this.addresses = this.dynamic + 16 * this.dynamicEntries.length;
    this.loadedEnd = align(this.addresses + 8 * this.imports.length, pageBytes);
  }

  /** Number of symbols; the first one has no name. */
  get symbolCount(): number {
    return this.names.length + 1;
  }

  get hashBytes(): number {
    return 4 * (3 + this.symbolCount);
  }

  get unwindHeaderBytes(): number {
    return unwindHeaderBytes(this.#unwound.length);
  }

  position(name: string): number {
    return required(this.positions.get(name), `the position of ${name}`);
  }

  /** The sections for tools; the loader does not need them. The last one has their names, and no position yet. */
  get sections(): readonly Section[] {
    const table = { flags: 2, type: 1 };
    const { symbols, dynamic, imports } = this;
    return [
      { name: "", type: 0, flags: 0, at: 0, bytes: 0 },
      { ...table, name: ".hash", type: 5, at: this.hash, bytes: this.hashBytes, link: 2 },
      {
        ...table,
        name: ".dynsym",
        type: 11,
        at: symbols,
        bytes: this.symbolNames - symbols,
        link: 3,
        info: 1,
        entryBytes: symbolBytes,
      },
      { ...table, name: ".dynstr", type: 3, at: this.symbolNames, bytes: this.strings.bytes.byteLength },
      {
        ...table,
        name: ".rela.dyn",
        type: 4,
        at: this.relocations,
        bytes: relocationBytes * imports.length,
        link: 2,
        entryBytes: 24,
      },
      { ...table, name: ".eh_frame_hdr", at: this.unwindHeader, bytes: this.unwindHeaderBytes },
      { ...table, name: ".eh_frame", at: this.frames, bytes: this.tablesEnd - this.frames },
      { name: ".text", type: 1, flags: 6, at: this.text, bytes: this.textEnd - this.text },
      { name: ".dynamic", type: 6, flags: 3, at: dynamic, bytes: this.addresses - dynamic, link: 3, entryBytes: 16 },
      { name: ".got", type: 1, flags: 3, at: this.addresses, bytes: 8 * imports.length },
      { name: ".shstrtab", type: 3, flags: 0, at: 0, bytes: 0 },
    ];
  }

  get segments(): readonly Segment[] {
    const { text, dynamic } = this;
    const addressBytes = this.loadedEnd - dynamic;
    return [
      { type: segmentType.load, flags: access.read, at: 0, bytes: this.tablesEnd, alignment: pageBytes },
      { type: segmentType.load, flags: access.readExecute, at: text, bytes: this.textEnd - text, alignment: pageBytes },
      { type: segmentType.load, flags: access.readWrite, at: dynamic, bytes: addressBytes, alignment: pageBytes },
      { type: segmentType.dynamic, flags: access.readWrite, at: dynamic, bytes: this.addresses - dynamic, alignment: 8 },
      { type: segmentType.unwindTable, flags: access.read, at: this.unwindHeader, bytes: this.unwindHeaderBytes, alignment: 8 },
      { type: segmentType.stack, flags: access.readWrite, at: 0, bytes: 0, alignment: 16 },
      { type: segmentType.readOnlyAfterRelocation, flags: access.read, at: dynamic, bytes: addressBytes, alignment: 1 },
    ];
  }

  /** The unwind tables for functions at these addresses. Their size does not depend on the addresses. */
  unwindTables(address: (name: string) => number): ReturnType<typeof unwindTables> {
    return unwindTables(
      this.#unwound.map(({ name, code, stackChanges = [] }) => ({
        address: address(name),
        byteLength: code.byteLength,
        stackChanges,
      })),
      { headerAddress: this.unwindHeader, framesAddress: this.frames },
    );
  }

  /** What the loader reads first. All symbols are bound at once (DT_BIND_NOW). */
  #dynamicEntries(): readonly (readonly [tag: number, value: number])[] {
    const { relocations } = this;
    const bytes = relocationBytes * this.imports.length;
    const relocationEntries = [
      [dynamicTag.relocations, relocations],
      [dynamicTag.relocationBytes, bytes],
      [dynamicTag.relocationEntryBytes, relocationBytes],
    ] as const;
    return [
      [dynamicTag.hash, this.hash],
      [dynamicTag.strings, this.symbolNames],
      [dynamicTag.symbols, this.symbols],
      [dynamicTag.stringBytes, this.strings.bytes.byteLength],
      [dynamicTag.symbolBytes, symbolBytes],
      ...(bytes === 0 ? [] : relocationEntries),
      [dynamicTag.bindNow, 0],
      [dynamicTag.end, 0],
    ];
  }
}

function writeHeaders(
  file: FileWriter,
  layout: ObjectLayout,
  { sectionTable, sectionCount }: { readonly sectionTable: number; readonly sectionCount: number },
): void {
  file.bytes.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]); // 64 bits, little-endian
  file.write16(16, 3, 62); // a shared object for x86-64
  file.write32(20, 1);
  file.write64(32, headerBytes, sectionTable);
  file.write16(52, headerBytes, segmentBytes, layout.segmentCount, sectionBytes, sectionCount, sectionCount - 1);
  for (const [index, { type, flags, at, bytes, alignment }] of layout.segments.entries()) {
    const position = headerBytes + segmentBytes * index;
    file.write32(position, type, flags);
    file.write64(position + 8, at, at, at, bytes, bytes, alignment);
  }
}

/** Symbols, their names and hash table, and the relocations that make the loader fill in the addresses of imported functions. */
function writeSymbols(file: FileWriter, layout: ObjectLayout): void {
  const { names, imports, functions, strings, symbolCount } = layout;
  // One chain of all symbols: a loader that looks for few symbols needs no table.
  file.write32(layout.hash, 1, symbolCount, symbolCount - 1);
  for (let symbol = 1; symbol < symbolCount; symbol += 1) file.write32(layout.hash + 12 + 4 * symbol, symbol - 1);
  file.bytes.set(strings.bytes, layout.symbolNames);
  for (const [index, name] of names.entries()) {
    const position = layout.symbols + symbolBytes * (index + 1);
    file.write32(position, required(strings.positions.get(name), "the position of a name"));
    file.bytes[position + 4] = globalFunction;
    if (index < imports.length) continue;
    file.write16(position + 6, textSection);
    file.write64(position + 8, layout.position(name), functions[index - imports.length]?.code.byteLength ?? 0);
  }
  for (const index of imports.keys()) {
    const position = layout.relocations + relocationBytes * index;
    file.write64(position, layout.addresses + 8 * index);
    file.writeBig(position + 8, (BigInt(index + 1) << 32n) | globalData);
  }
}

function writeCode(file: FileWriter, layout: ObjectLayout): void {
  const breakpoint = 0xcc;
  file.bytes.fill(breakpoint, layout.text, layout.textEnd);
  for (const { name, code, references = [] } of layout.functions) {
    const position = layout.position(name);
    file.bytes.set(code, position);
    for (const reference of references) {
      const isImport = "imported" in reference;
      const target = isImport
        ? layout.addresses + 8 * layout.imports.indexOf(reference.imported)
        : layout.position(reference.symbol);
      file.write32(position + reference.at, target - (position + reference.at + 4));
    }
  }
}

/** The entry of a section in their table. `name`: position of its name. */
function writeSection(
  file: FileWriter,
  { type, flags, at, bytes, link = 0, info = 0, entryBytes = 0 }: Section,
  { position, name }: { readonly position: number; readonly name: number },
): void {
  const isLoaded = flags !== 0;
  file.write32(position, name, type);
  file.write64(position + 8, flags, isLoaded ? at : 0, at, bytes);
  file.write32(position + 40, link, info);
  file.write64(position + 48, type === 0 ? 0 : 1, entryBytes);
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
  readonly bytes: Uint8Array;
  readonly #view: DataView;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
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
