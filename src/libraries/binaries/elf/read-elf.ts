/** Reads ELF files: shared objects and executables by their dynamic segment, as the loader does; objects by their sections. */
import { DamagedBinary } from "../binary-errors.ts";
import { type BinaryFile, type BinarySymbol, type LibcName, emptyBinary } from "../binary-file.ts";
import type { BinaryReader } from "../binary-reader.ts";
import { type DynamicSegment, getFolders, readDynamic, tags, getDynamicTexts, getValue } from "./elf-dynamic.ts";
import { type ElfHeader, readElfHeader } from "./elf-header.ts";
import { elfArchitecture } from "./elf-machines.ts";
import { readDynamicSymbols, readObjectSymbols } from "./elf-symbols.ts";

const segmentTypes = { load: 1, interpreter: 3, note: 4 } as const;
/** Flag of DT_FLAGS_1: a position-independent executable, which is otherwise like a shared object. */
const pieFlag = 0x08000000;

/** Reads an ELF file. `withSymbols`: whether symbols and names of sections are read. Throws DamagedBinary. */
export async function readElf(reader: BinaryReader, withSymbols: boolean): Promise<BinaryFile> {
  const header = await readElfHeader(reader);
  const bits = header.layout.wordBytes === 8 ? 64 : 32;
  const common = {
    ...emptyBinary,
    format: "elf",
    architecture: elfArchitecture(header.machine, bits),
    bits,
    byteOrder: header.layout.littleEndian ? "little" : "big",
    bytes: reader.size,
    sections: withSymbols ? await elfSectionNames(reader, header) : [],
  } as const;
  switch (header.type) {
    case 1:
      return { ...common, kind: "object", symbols: withSymbols ? await readObjectSymbols(reader, header) : [] };
    case 2:
    case 3:
      return { ...common, ...(await readLoadable(reader, header, withSymbols)) };
    default:
      throw new DamagedBinary(`its type is ${header.type}, and may be 1 (object), 2 (executable) or 3 (shared object)`);
  }
}

type Loadable = Omit<BinaryFile, "format" | "architecture" | "bits" | "byteOrder" | "bytes" | "sections" | "slices" | "members">;

async function readLoadable(reader: BinaryReader, header: ElfHeader, withSymbols: boolean): Promise<Loadable> {
  refuseCutOff(reader, header);
  const buildId = await readBuildId(reader, header);
  const interpreter = await readInterpreter(reader, header);
  const dynamic = await readDynamic(reader, header);
  if (dynamic === undefined) return { ...emptyBinary, kind: "executable", buildId, interpreter };
  const { symbols, versions } = await readDynamicSymbols(reader, header, dynamic, withSymbols);
  const name = getDynamicTexts(dynamic, tags.soname)[0];
  const needed = getDynamicTexts(dynamic, tags.needed);
  reader.limits.count("entries", needed.length);
  return {
    kind: isExecutable(header, dynamic, interpreter, name) ? "executable" : "shared object",
    name,
    needed,
    rpath: getFolders(dynamic, tags.rpath),
    runpath: getFolders(dynamic, tags.runpath),
    buildId,
    interpreter,
    libc: isMusl(symbols)
      ? "musl"
      : getLibc(
          [...needed, name ?? "", interpreter ?? ""],
          [...versions.required.map(({ version }) => version), ...versions.defined],
        ),
    requiredVersions: versions.required,
    definedVersions: versions.defined,
    symbols,
  };
}

/** The loader maps segments without a look at the size of the file, and a process that reads after its end is ended by SIGBUS. */
function refuseCutOff(reader: BinaryReader, { segments }: ElfHeader): void {
  const beyond = segments.find(({ type, offset, size }) => type === segmentTypes.load && offset + size > reader.size);
  if (beyond === undefined) return;
  throw new DamagedBinary(
    `it is cut off: it has ${reader.size} bytes, and a segment that is loaded ends at ${beyond.offset + beyond.size}`,
  );
}

/** Older linkers leave out the flag; their executables have an interpreter and no soname. libc.so.6 has both. */
function isExecutable({ type }: ElfHeader, dynamic: DynamicSegment, interpreter?: string, name?: string): boolean {
  const isPie = ((getValue(dynamic, tags.flags1) ?? 0) & pieFlag) !== 0;
  return type === 2 || isPie || (interpreter !== undefined && name === undefined);
}

/** glibc versions its symbols; musl does not, and its library is called libc.so or libc.musl-<architecture>.so.1. */
function getLibc(names: readonly string[], versions: readonly string[]): LibcName | undefined {
  const files = names.map((name) => name.slice(name.lastIndexOf("/") + 1));
  if (versions.some((version) => version.startsWith("GLIBC_")) || files.includes("libc.so.6")) return "glibc";
  if (files.some((file) => /^(?:libc\.musl-|ld-musl-)/.test(file))) return "musl";
  const isBionic = versions.includes("LIBC"); // Android's library is called libc.so too
  return files.includes("libc.so") && !isBionic ? "musl" : undefined;
}

/** Debian's build of musl has no soname. It exports the stages in which its loader starts itself (ldso/dynlink.c). */
function isMusl(symbols: readonly BinarySymbol[]): boolean {
  return symbols.some(({ name, isExported }) => isExported && name === "__dls3");
}

async function readInterpreter(reader: BinaryReader, { segments }: ElfHeader): Promise<string | undefined> {
  const segment = segments.find(({ type }) => type === segmentTypes.interpreter);
  if (segment === undefined || segment.size === 0) return undefined;
  return (await reader.names(segment.offset, segment.size, "the name of the interpreter")).at(0);
}

/** Largest note segment that is read, in bytes. Node.js keeps the assets of a single program in one of its own. */
const maxNotes = 1 << 20;

/** The GNU build id (NT_GNU_BUILD_ID) in the note segments. */
async function readBuildId(reader: BinaryReader, { layout, segments }: ElfHeader): Promise<string | undefined> {
  const padded = (bytes: number): number => Math.ceil(bytes / 4) * 4;
  for (const segment of segments.filter(({ type, size }) => type === segmentTypes.note && size <= maxNotes)) {
    const bytes = await reader.bytes(segment.offset, segment.size, "a note segment");
    const notes = await reader.fields(segment.offset, segment.size, layout, "a note segment");
    for (let start = 0; start + 12 <= notes.size;) {
      reader.limits.count("entries");
      const [nameBytes, contentBytes, type] = [notes.uint32(start), notes.uint32(start + 4), notes.uint32(start + 8)];
      const content = start + 12 + padded(nameBytes);
      if (type === 3 && bytes.toString("latin1", start + 12, start + 16) === "GNU\0")
        return bytes.toString("hex", content, content + contentBytes);
      start = content + padded(contentBytes);
    }
  }
  return undefined;
}

/** Names of the sections after the first, which has none. */
export async function elfSectionNames(reader: BinaryReader, { sections, sectionNames: index }: ElfHeader): Promise<string[]> {
  const table = index === 0 ? undefined : sections[index];
  if (table === undefined) return [];
  const names = await reader.names(table.offset, table.size, "the table of section names");
  return sections.slice(1).map(({ nameOffset }) => names.at(nameOffset));
}
