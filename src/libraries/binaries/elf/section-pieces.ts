/** The content of a section of an ELF file, for texts that no table holds. */
import { openFile } from "../../../platform/node/files.ts";
import { readError } from "../binary-errors.ts";
import { BinaryReader } from "../binary-reader.ts";
import { ReadLimits } from "../read-limits.ts";
import { readElfHeader } from "./elf-header.ts";
import { elfSectionNames } from "./read-elf.ts";

const pieceBytes = 1 << 20;
/** Bytes that two consecutive pieces share, so that a short text is whole in one of them. */
const sharedBytes = 256;

/**
 * The first `maxBytes` bytes of the section with this name, in pieces of 1 MiB that overlap by 256 bytes; none if the file has no such section, as after its section table was
 * stripped. Throws INPUT_INVALID for a damaged ELF file and LIMIT_EXCEEDED.
 */
export async function* sectionPieces(path: string, name: string, maxBytes: number): AsyncGenerator<Buffer> {
  try {
    const file = await openFile(path);
    try {
      const reader = new BinaryReader(file, 0, (await file.stat()).size, new ReadLimits(path));
      const header = await readElfHeader(reader);
      const index = (await elfSectionNames(reader, header)).indexOf(name);
      const section = index < 0 ? undefined : header.sections[index + 1]; // section 0 has no name
      if (section === undefined) return;
      const size = Math.min(section.size, maxBytes);
      for (let start = 0; start < size; start += pieceBytes - sharedBytes)
        yield await reader.bytes(section.offset + start, Math.min(pieceBytes, size - start), `section ${name}`);
    } finally {
      await file.close();
    }
  } catch (error) {
    throw readError(path, "ELF", error);
  }
}
