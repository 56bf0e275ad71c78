/** Readers of native binaries: ELF, Mach-O, PE, COFF and static archives. */
export type { BinaryFile, BinarySymbol, LibcName } from "./binary-file.ts";
export { hostArchitecture, readBinary } from "./read-binary.ts";
export { sectionPieces } from "./elf/section-pieces.ts";
