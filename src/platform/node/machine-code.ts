/** Machine code of the engine's kernels, called through FFI: Linux on x86-64, with koffi. A browser has src/platform/browser/machine-code.ts instead. */
import { readFileSync } from "node:fs";
import { required } from "../../checked.ts";
import { linuxFeatures } from "../../devices/cpu/cpu-features.ts";
import {
  type BindMachineKernel,
  type InstalledKernel,
  type MachineCode,
  machineArguments,
} from "../../engine/codegen/x64/index.ts";
import { InferyardError } from "../../errors.ts";
import { ExecutableMemory, ForeignFunctions } from "../../libraries/ffi/index.ts";

/** Calls of machine code on this machine. */
export interface MachineCodeSource {
  /** Instruction sets of the processor, as `CpuFacts.features` names them. */
  readonly features: readonly string[];
  /** Prepares executable memory for one model. */
  create(): MachineCode;
}

/**
 * Prepares calls of machine code. Throws BACKEND_UNAVAILABLE on other systems, without koffi, and where memory cannot become executable. Undefined where no native
 * code can be called.
 */
export const openMachineCode: (() => Promise<MachineCodeSource>) | undefined = async () => {
  const { platform, arch } = process;
  if (platform !== "linux" || arch !== "x64")
    throw new InferyardError("BACKEND_UNAVAILABLE", `machine code is generated for linux x64, and this is ${platform} ${arch}`);
  const ffi = await ForeignFunctions.load();
  const libc = cLibraryPath(readFileSync("/proc/self/maps", "utf8"));
  const returnInstruction = Uint8Array.of(0xc3);
  ExecutableMemory.allocate(ffi, libc, [returnInstruction]).free(); // throws if the system does not allow it
  return {
    features: linuxFeatures(readFileSync("/proc/cpuinfo", "utf8"), arch),
    create: () => machineCode(ffi, libc),
  };
};

function machineCode(ffi: ForeignFunctions, libc: string): MachineCode {
  const blocks: ExecutableMemory[] = [];
  return {
    module: import.meta.url,
    bind: bindWith(ffi),
    install(kernels) {
      const memory = ExecutableMemory.allocate(
        ffi,
        libc,
        kernels.map(({ code }) => code),
      );
      blocks.push(memory);
      return kernels.map(({ key, arguments: list }, index): InstalledKernel => ({
        key,
        arguments: list,
        address: required(memory.addresses[index], "the address of a kernel"),
      }));
    },
    free() {
      for (const memory of blocks.splice(0)) memory.free();
    },
  };
}

/** Calls of kernels that another thread of this process has installed. */
export async function bindMachineCode(): Promise<BindMachineKernel> {
  return bindWith(await ForeignFunctions.load());
}

function bindWith(ffi: ForeignFunctions): BindMachineKernel {
  return (kernel, memory) => {
    const call = ffi.functionAt(kernel.address, {
      result: "void",
      parameters: kernel.arguments.map(() => "uint64" as const),
    });
    let seen: unknown;
    let base = 0;
    return (...operands) => {
      const { buffer } = memory;
      if (buffer !== seen) {
        seen = buffer; // another one after the memory has grown, which may have moved it
        base = Number(ffi.addressOf(buffer as ArrayBuffer));
      }
      call(...machineArguments(kernel, base, operands));
      return 0;
    };
  };
}

/** Path of the C library that this process uses. `maps`: the content of /proc/self/maps. */
export function cLibraryPath(maps: string): string {
  const found = /^.* (\/\S*\/(?:libc\.so\.6|libc-[\d.]+\.so|ld-musl-[^/]+\.so\.1|libc\.musl-[^/]+\.so\.1))$/m.exec(maps)?.[1];
  if (found !== undefined) return found;
  throw new InferyardError("BACKEND_UNAVAILABLE", "machine code cannot be used: the C library of this process was not found");
}
