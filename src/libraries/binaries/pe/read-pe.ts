/** Reads PE files: DLLs and programs of Windows. */
import { type BinaryFile, emptyBinary } from "../binary-file.ts";
import type { BinaryReader } from "../binary-reader.ts";
import { coffArchitecture } from "./coff-machines.ts";
import { type PeImage, littleEndian, getPosition, readPeImage } from "./pe-image.ts";
import { readExports, readImports } from "./pe-symbols.ts";

/** Flag of the header: a DLL. */
const dllFlag = 0x2000;

/** Reads a PE file. `withSymbols`: whether symbols are read. Throws DamagedBinary. */
export async function readPe(reader: BinaryReader, withSymbols: boolean): Promise<BinaryFile> {
  const image = await readPeImage(reader);
  const exported = await readExports(reader, image, withSymbols);
  const imported = await readImports(reader, image, withSymbols);
  return {
    ...emptyBinary,
    format: "pe",
    kind: (image.characteristics & dllFlag) === 0 ? "executable" : "shared object",
    architecture: coffArchitecture(image.machine),
    bits: image.layout.wordBytes === 8 ? 64 : 32,
    byteOrder: "little",
    bytes: reader.size,
    name: exported.name,
    needed: imported.needed,
    buildId: await readBuildId(reader, image),
    sections: image.sections.map(({ name }) => name),
    symbols: [...exported.symbols, ...imported.symbols],
  };
}

/** GUID and age of the PDB, as symbol servers write them, from the debug directory (CodeView record "RSDS"). */
async function readBuildId(reader: BinaryReader, image: PeImage): Promise<string | undefined> {
  const directory = image.directories[6];
  if (directory === undefined || directory.address === 0) return undefined;
  const position = getPosition(image, directory.address, "the debug directory");
  const entries = await reader.fields(position, directory.size, littleEndian, "the debug directory");
  for (let start = 0; start + 28 <= entries.size; start += 28) {
    reader.limits.count("entries");
    if (entries.uint32(start + 12) !== 2 || entries.uint32(start + 16) < 24) continue; // IMAGE_DEBUG_TYPE_CODEVIEW
    const bytes = await reader.bytes(entries.uint32(start + 24), 24, "the CodeView record");
    if (bytes.toString("latin1", 0, 4) !== "RSDS") continue;
    const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, "0");
    return [
      hex(bytes.readUInt32LE(4), 8),
      hex(bytes.readUInt16LE(8), 4),
      hex(bytes.readUInt16LE(10), 4),
      bytes.toString("hex", 12, 20),
      hex(bytes.readUInt32LE(20), 1),
    ].join("");
  }
  return undefined;
}
