/** This machine and program, as far as a library must fit them. */
import { endianness } from "node:os";
import { hostArchitecture, type LibcName, readBinary } from "../binaries/index.ts";

/** This machine and program, as far as a library must fit them. */
export interface AnalysisHost {
  readonly platform: NodeJS.Platform;
  /** Architecture of this machine, as in `BinaryFile.architecture`. */
  readonly architecture: string;
  readonly byteOrder: "little" | "big";
  /** C library of this program. Undefined: not Linux. */
  readonly libc: LibcName | undefined;
}

/** Reads which C library this program uses from its own file, since a process holds one of them alone. */
export async function readHost(): Promise<AnalysisHost> {
  const program = process.platform === "linux" ? await readBinary(process.execPath, { symbols: false }) : undefined;
  return {
    platform: process.platform,
    architecture: hostArchitecture(),
    byteOrder: endianness() === "LE" ? "little" : "big",
    libc: program?.libc,
  };
}
