/** Reads the tables of a native binary without loading it: no code of the file runs. */
import { openFile } from "../../platform/node/files.ts";
import { DamagedBinary, notALibrary, readError } from "./binary-errors.ts";
import type { BinaryFile, BinarySlice } from "./binary-file.ts";
import { BinaryReader } from "./binary-reader.ts";
import { readElf } from "./elf/read-elf.ts";
import { machoArchitecture } from "./macho/macho-architectures.ts";
import { machoLayout, readMacho } from "./macho/read-macho.ts";
import { coffMachine, readCoff } from "./pe/read-coff.ts";
import { readPe } from "./pe/read-pe.ts";
import { archiveMagic, readArchive } from "./read-archive.ts";
import { ReadLimits } from "./read-limits.ts";

/** Options of `readBinary`. */
export interface ReadBinaryOptions {
  /** The path as the user wrote it, for messages. Default: the path. */
  readonly displayName?: string;
  /** Whether symbols and names of ELF sections are read; without them a file takes about a millisecond. Default: true. */
  readonly symbols?: boolean;
  /** Architecture to read of a universal Mach-O file. Default: this machine's; the first one if the file lacks it. */
  readonly architecture?: string;
}

/** The names of this machine's architectures in Node.js that differ from ours. */
const nodeArchitectures: Readonly<Record<string, string>> = { x64: "x86-64", ia32: "x86", riscv64: "riscv64" };

/** The instruction set of this program, by the name that `BinaryFile.architecture` has. */
export function hostArchitecture(): string {
  return nodeArchitectures[process.arch] ?? process.arch;
}

/**
 * Reads an ELF, Mach-O, PE or COFF file or a static archive: only headers and tables, at most 128 MiB of them. Throws INPUT_INVALID for a file that is missing,
 * damaged or of another format, and LIMIT_EXCEEDED for tables larger than those of any known library (1,000,000 symbols).
 */
export async function readBinary(path: string, options: ReadBinaryOptions = {}): Promise<BinaryFile> {
  const { displayName = path } = options;
  let format = "binary";
  try {
    const file = await openFile(path);
    try {
      const reader = new BinaryReader(file, 0, (await file.stat()).size, new ReadLimits(displayName));
      const parser = await parserFor(reader, displayName);
      format = parser.format;
      return await parser.read(reader, options);
    } finally {
      await file.close();
    }
  } catch (error) {
    throw readError(displayName, format, error);
  }
}

/** A format, and the function that reads it. */
interface Parser {
  /** Name of the format in messages. */
  readonly format: string;
  readonly read: (reader: BinaryReader, options: ReadBinaryOptions) => Promise<BinaryFile>;
}

/** The parser for a file by its first bytes. Throws INPUT_INVALID for other files. */
async function parserFor(reader: BinaryReader, displayName: string): Promise<Parser> {
  const start = await reader.bytes(0, Math.min(reader.size, 20), "the start of the file");
  const text = start.toString("latin1");
  if (text.startsWith("\u007FELF")) return { format: "ELF", read: (whole, { symbols = true }) => readElf(whole, symbols) };
  if (text.startsWith("MZ")) return { format: "PE", read: (whole, { symbols = true }) => readPe(whole, symbols) };
  if (text.startsWith(archiveMagic))
    return { format: "archive", read: (whole, { symbols = true }) => readArchive(whole, symbols) };
  if (text.startsWith("!<thin>\n"))
    throw notALibrary(displayName, "it is a thin archive, which refers to objects in other files");
  const magic = start.length < 4 ? 0 : start.readUInt32BE(0);
  const layout = machoLayout(magic);
  if (layout !== undefined) return { format: "Mach-O", read: (whole, { symbols = true }) => readMacho(whole, layout, symbols) };
  if (isUniversal(start, magic)) return { format: "universal Mach-O", read: readUniversal };
  const machine = start.length < 20 ? undefined : coffMachine(start);
  if (machine !== undefined) return { format: "COFF", read: (whole) => readCoff(whole, machine) };
  throw notALibrary(displayName, describe(start));
}

function describe(start: Buffer): string {
  if (start.length === 0) return "it is empty";
  const isText = /^[\t\n\f\r\u0020-\u007E\u0080-\u00FF]+$/.test(start.toString("latin1"));
  return isText ? "it is a text" : `it begins with the bytes ${start.toString("hex", 0, 4)}`;
}

/** A class file of Java has the same first bytes, and then its version, which is 45 or more. */
function isUniversal(start: Buffer, magic: number): boolean {
  return (magic === 0xcafebabe || magic === 0xcafebabf) && start.length >= 8 && start.readUInt32BE(4) < 45;
}

async function readUniversal(reader: BinaryReader, options: ReadBinaryOptions): Promise<BinaryFile> {
  const { symbols = true, architecture = hostArchitecture() } = options;
  const slices = await getSlices(reader);
  const slice = slices.find((each) => each.architecture === architecture) ?? slices[0];
  if (slice === undefined) throw new DamagedBinary("it has no architecture");
  const part = reader.range(slice.offset, slice.bytes, `the part for ${slice.architecture}`);
  const start = await part.bytes(0, 8, `the part for ${slice.architecture}`);
  const layout = machoLayout(start.readUInt32BE(0));
  if (layout === undefined && start.toString("latin1") !== archiveMagic)
    throw new DamagedBinary(`the part for ${slice.architecture} is neither a Mach-O file nor an archive`);
  const binary = layout === undefined ? await readArchive(part, symbols) : await readMacho(part, layout, symbols);
  return { ...binary, bytes: reader.size, slices };
}

async function getSlices(reader: BinaryReader): Promise<BinarySlice[]> {
  const layout = { littleEndian: false, wordBytes: 4 } as const;
  const what = "the table of architectures";
  const header = await reader.fields(0, 8, layout, what);
  const isWide = header.uint32(0) === 0xcafebabf;
  const [count, size] = [header.uint32(4), isWide ? 32 : 20];
  const table = await reader.fields(8, count * size, layout, what);
  return Array.from({ length: count }, (_slice, index) => {
    const start = index * size;
    const cpuType = table.uint32(start);
    return {
      architecture: machoArchitecture(cpuType),
      bits: (cpuType & 0x01000000) === 0 ? 32 : 64,
      offset: isWide ? table.uint64(start + 8) : table.uint32(start + 8),
      bytes: isWide ? table.uint64(start + 16) : table.uint32(start + 12),
    };
  });
}
