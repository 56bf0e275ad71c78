/** Readers of native binaries: ELF, Mach-O, PE, COFF and static archives. */
export type {
  ArchiveMembers,
  BinaryFile,
  BinaryFormat,
  BinaryKind,
  BinarySlice,
  BinarySymbol,
  LibcName,
  RequiredVersion,
  SymbolBinding,
  SymbolType,
} from "./binary-file.ts";
export { type ReadBinaryOptions, hostArchitecture, readBinary } from "./read-binary.ts";
