/** Machine code of the engine's kernels, called through FFI: Linux on x86-64, with koffi. A browser has src/composition/browser/machine-code.ts instead. */
import { readFileSync } from "node:fs";
import { required } from "../../contract/checked.ts";
import { linuxFeatures } from "../../devices/cpu/cpu-features.ts";
import type { InstalledKernel, MachineCode } from "../../engine/codegen/x64/index.ts";
import { InferyardError } from "../../contract/errors.ts";
import { ExecutableMemory, ForeignFunctions, type NativeLibrary, cLibraryPath } from "../../libraries/ffi/index.ts";
import { type X64Level, highestX64Level } from "../../kernels/simd-levels.ts";
import { bindMachineKernels } from "./bind-machine-code.ts";

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
  const libc = ffi.open(cLibraryPath());
  const returnInstruction = Uint8Array.of(0xc3);
  ExecutableMemory.allocate(ffi, libc, [returnInstruction]).free(); // throws if the system does not allow it
  const features = linuxFeatures(readFileSync("/proc/cpuinfo", "utf8"), arch);
  const level = highestX64Level(features);
  if (level === undefined) throw new InferyardError("BACKEND_UNAVAILABLE", "machine code needs a processor with AVX2 and FMA");
  return { features, create: () => machineCode(ffi, libc, level) };
};

function machineCode(ffi: ForeignFunctions, libc: NativeLibrary, level: X64Level): MachineCode {
  const blocks: ExecutableMemory[] = [];
  return {
    module: new URL("./bind-machine-code.ts", import.meta.url).href,
    bind: bindMachineKernels(ffi),
    level,
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
