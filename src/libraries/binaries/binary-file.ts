/** What the headers and symbol tables of a native binary state, in one shape for ELF, Mach-O, PE and static archives. */

/** File format of a binary. `coff`: a Windows object file. */
export type BinaryFormat = "elf" | "mach-o" | "pe" | "coff" | "archive";

/** Purpose of a binary. `object`: input of a linker; `archive`: a static library, several objects in one file. */
export type BinaryKind = "shared object" | "executable" | "object" | "archive";

/** Implementation of the C library that an ELF file was linked against. */
export type LibcName = "glibc" | "musl";

/** A version of symbols, and the library that must define it: GLIBC_2.34 of libc.so.6. */
export interface RequiredVersion {
  readonly library: string;
  readonly version: string;
  /** true: the loader does not fail if the version is missing (VER_FLG_WEAK of ELF). Default: it fails. */
  readonly isWeak?: true;
}

/** A symbol that a binary exports to others or imports from them. */
export interface BinarySymbol {
  /** Name in the symbol table, mangled; without the leading underscore that Mach-O adds to C names. */
  readonly name: string;
  /** ELF symbol version, for example GLIBC_2.34. */
  readonly version: string | undefined;
  /** Whether a reference without a version binds to it (`name@@version`). Always false without `version`, and of imports. */
  readonly isDefaultVersion: boolean;
  readonly binding: SymbolBinding;
  readonly type: SymbolType;
  readonly isImported: boolean;
  /** Defined here and visible to other binaries. In objects and archives: to other objects of a link. */
  readonly isExported: boolean;
  /** Library that an import comes from, where the file states it (PE, Mach-O, versioned symbols of ELF). */
  readonly library: string | undefined;
}

/** A symbol with what its format states; the rest is as for a global symbol of unknown type. */
export function makeSymbol(stated: Pick<BinarySymbol, "name"> & Partial<BinarySymbol>): BinarySymbol {
  return {
    version: undefined,
    isDefaultVersion: false,
    binding: "global",
    type: "unknown",
    isImported: false,
    isExported: false,
    library: undefined,
    ...stated,
  };
}

/** `unique`: one definition in a process (STB_GNU_UNIQUE of ELF). */
export type SymbolBinding = "local" | "global" | "weak" | "unique";

/** `indirect`: a function that picks its implementation at load time (STT_GNU_IFUNC of ELF). `unknown`: the format does not state it. */
export type SymbolType = "function" | "object" | "tls" | "common" | "indirect" | "section" | "file" | "unknown";

/** One architecture of a universal (fat) Mach-O file. */
export interface BinarySlice {
  readonly architecture: string;
  readonly bits: 32 | 64;
  /** Bytes from the start of the file. */
  readonly offset: number;
  readonly bytes: number;
}

/** The facts that a binary's own tables state. Names from the file are untrusted text. */
export interface BinaryFile {
  readonly format: BinaryFormat;
  readonly kind: BinaryKind;
  /** Instruction set: "x86-64", "x86", "arm64", "arm", ...; "machine 243" where the number is not known. */
  readonly architecture: string;
  readonly bits: 32 | 64;
  readonly byteOrder: "little" | "big";
  /** Size of the file in bytes. */
  readonly bytes: number;
  /** DT_SONAME of ELF, LC_ID_DYLIB of Mach-O, the name in the export directory of PE. */
  readonly name: string | undefined;
  /** Libraries that the loader must find first, in the order of the file; with delay-loaded ones of PE. */
  readonly needed: readonly string[];
  /** DT_RPATH of ELF and LC_RPATH of Mach-O, in the order of search. */
  readonly rpath: readonly string[];
  /** DT_RUNPATH of ELF, in the order of search. */
  readonly runpath: readonly string[];
  /** GNU build id, Mach-O UUID, or the GUID and age of the PDB, in hexadecimal. */
  readonly buildId: string | undefined;
  /** Dynamic linker that an ELF executable names. */
  readonly interpreter: string | undefined;
  readonly libc: LibcName | undefined;
  readonly requiredVersions: readonly RequiredVersion[];
  /** Symbol versions that an ELF library defines. */
  readonly definedVersions: readonly string[];
  /** Names of sections, where the file has a section table. */
  readonly sections: readonly string[];
  /** Dynamic symbols of shared objects and executables; all symbols that are not local of objects and archives. */
  readonly symbols: readonly BinarySymbol[];
  /** Architectures of a universal Mach-O file; the other fields describe one of them. Empty for other files. */
  readonly slices: readonly BinarySlice[];
  /** Counts of an archive's members by kind. Undefined for other files. */
  readonly members: ArchiveMembers | undefined;
}

/** Number of members of an archive. */
export interface ArchiveMembers {
  /** Objects whose symbols were read. */
  readonly objects: number;
  /** Other members: bytecode of link-time optimization, metadata. */
  readonly others: number;
}

/** The fields of a file that has none of them; readers replace what their format states. */
export const emptyBinary: Omit<BinaryFile, "format" | "kind" | "architecture" | "bits" | "byteOrder" | "bytes"> = {
  name: undefined,
  needed: [],
  rpath: [],
  runpath: [],
  buildId: undefined,
  interpreter: undefined,
  libc: undefined,
  requiredVersions: [],
  definedVersions: [],
  sections: [],
  symbols: [],
  slices: [],
  members: undefined,
};
