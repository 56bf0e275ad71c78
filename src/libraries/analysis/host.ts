/** This machine and program, as far as a library must fit them. */
import { endianness } from "node:os";
import { hostArchitecture, readBinary } from "../binaries/index.ts";
import type { Host } from "./library-analysis.ts";

/** Reads which C library this program uses from its own file, since a process holds one of them alone. */
export async function readHost(): Promise<Host> {
  const program = process.platform === "linux" ? await readBinary(process.execPath, { symbols: false }) : undefined;
  return {
    platform: process.platform,
    architecture: hostArchitecture(),
    byteOrder: endianness() === "LE" ? "little" : "big",
    libc: program?.libc,
  };
}
