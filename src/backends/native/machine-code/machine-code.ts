/** Machine code of the engine's kernels: Linux on x86-64. A browser has src/composition/browser/machine-code.ts instead. */
import { readFileSync } from "node:fs";
import { linuxFeatures } from "../../../devices/cpu/cpu-features.ts";
import type { MachineCode } from "../../../engine/codegen/x64/index.ts";
import { InferyardError } from "../../../contract/errors.ts";
import { type X64Level, highestX64Level } from "../../../kernels/simd-levels.ts";
import { loadAddon } from "./addon.ts";
import { bindMachineKernels } from "./bind-machine-code.ts";
import { type InstalledObject, installKernels } from "./installed-object.ts";
import type { LoaderAddon } from "./loader-addon.ts";
import { readProcessorFeatures } from "./processor.ts";

/** Calls of machine code on this machine. */
export interface MachineCodeSource {
  /** Instruction sets of the processor, as `CpuFacts.features` names them. */
  readonly features: readonly string[];
  /** The highest level that kernels are generated for. */
  readonly level: X64Level;
  /** Prepares machine code for one model. `level`: a level that the processor has. Default: the highest. */
  create(level?: X64Level): MachineCode;
}

/**
 * Prepares calls of machine code. Throws BACKEND_UNAVAILABLE on other systems and processors, where native addons are not allowed, and where no file can be loaded as code.
 * Undefined in a page, which can call no native code.
 */
export const openMachineCode: (() => MachineCodeSource) | undefined = () => {
  const { platform, arch } = process;
  if (platform !== "linux" || arch !== "x64")
    throw new InferyardError("BACKEND_UNAVAILABLE", `machine code is generated for linux x64, and this is ${platform} ${arch}`);
  const addon = loadAddon();
  const found = readProcessorFeatures(addon);
  const listed = linuxFeatures(readFileSync("/proc/cpuinfo", "utf8"), arch);
  const features = found.filter((name) => listed.includes(name));
  const highest = highestX64Level(features);
  if (highest === undefined)
    throw new InferyardError("BACKEND_UNAVAILABLE", "machine code needs a processor with AVX2 and FMA, which this one has not");
  return { features, level: highest, create: (level = highest) => createMachineCode(addon, level) };
};

function createMachineCode(addon: LoaderAddon, level: X64Level): MachineCode {
  const objects: InstalledObject[] = [];
  return {
    module: new URL("./bind-machine-code.ts", import.meta.url).href,
    level,
    bind: bindMachineKernels(addon),
    install(kernels) {
      const object = installKernels(addon, kernels);
      objects.push(object);
      return object.kernels;
    },
    free() {
      for (const object of objects.splice(0)) object.close();
    },
  };
}
