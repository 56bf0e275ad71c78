/** Machine code of the engine's kernels: Linux on x86-64. A browser has src/composition/browser/machine-code.ts instead. */
import { closeSync, openSync, readSync } from "node:fs";
import { linuxFeatures } from "../../../devices/cpu/cpu-features.ts";
import type { InstalledKernel, MachineCode, MachineCodeCache, MachineObject } from "../../../engine/codegen/x64/index.ts";
import { InferyardError } from "../../../contract/errors.ts";
import { type X64Level, highestX64Level, limitLevel, machineCodeLevels } from "../../../kernels/simd-levels.ts";
import { loadAddon } from "./addon.ts";
import { bindMachineKernels } from "./bind-machine-code.ts";
import { type InstalledObject, installObject } from "./installed-object.ts";
import { writeKernelObject } from "./kernel-object.ts";
import type { LoaderAddon } from "./loader-addon.ts";
import { createObjectCache, openObjectFolder } from "./object-cache.ts";
import { readProcessorFeatures } from "./processor.ts";

/** Calls of machine code on this machine. */
export interface MachineCodeSource {
  /** Instruction sets of the processor, as `CpuFacts.features` names them. */
  readonly features: readonly string[];
  /** The highest level that kernels are generated for. */
  readonly level: X64Level;
  /** Prepares machine code for one model. `level`: a level that the processor has. Default: the highest. `cache`: see `MachineCode`. */
  create(level?: X64Level, cache?: MachineCodeCache): MachineCode;
  /**
   * Opens the machine code that earlier processes have kept. `identity`: all that generated code depends on, beside level and kernels. Returns the cache for each level;
   * undefined where it is turned off.
   */
  openCache(identity: Readonly<Record<string, string>>): Promise<((level: X64Level) => MachineCodeCache) | undefined>;
}

/** The variable that limits machine code of the whole process, whatever the setting `machineCode` of a model says. */
const variable = "INFERYARD_MACHINE_CODE";

/**
 * Prepares calls of machine code. Throws BACKEND_UNAVAILABLE on other systems and processors, where the variable turns it off, where native addons are not allowed, and
 * where no file can be loaded as code; CONFIG_INVALID for another value of the variable. Undefined in a page, which can call no native code.
 */
export const openMachineCode: (() => MachineCodeSource) | undefined = () => {
  const { platform, arch } = process;
  if (platform !== "linux" || arch !== "x64")
    throw new InferyardError("BACKEND_UNAVAILABLE", `machine code is generated for linux x64, and this is ${platform} ${arch}`);
  const limit = readVariable();
  if (limit === "off") throw new InferyardError("BACKEND_UNAVAILABLE", `the variable ${variable} turns it off`);
  const addon = loadAddon();
  const features = checkedFeatures(readProcessorFeatures(addon), arch);
  const highest = highestX64Level(features);
  if (highest === undefined)
    throw new InferyardError("BACKEND_UNAVAILABLE", "machine code needs a processor with AVX2 and FMA, which this one has not");
  const level = limitLevel(highest, limit);
  return {
    features,
    level,
    create: (wanted = level, cache) => createMachineCode(addon, wanted, cache),
    async openCache(identity) {
      const folder = await openObjectFolder();
      return folder && ((wanted) => createObjectCache(folder, identity, wanted));
    },
  };
};

function readVariable(): keyof typeof machineCodeLevels | "off" | undefined {
  const value = process.env[variable];
  if (value === undefined || value === "") return undefined;
  if (value === "off" || value === "avx2" || value === "avx512" || value === "avx512vnni") return value;
  throw new InferyardError(
    "CONFIG_INVALID",
    `${variable} is "${value}", and may be off, ${Object.keys(machineCodeLevels).join(", ")}`,
  );
}

/** The instruction sets that the kernel of the operating system lists as well, where its list can be read: it leaves out those that it has disabled. */
function checkedFeatures(found: readonly string[], architecture: string): readonly string[] {
  try {
    const listed = linuxFeatures(readFirstProcessor(), architecture);
    return found.filter((name) => listed.includes(name));
  } catch {
    return found;
  }
}

/** The beginning of /proc/cpuinfo, with the first processor: the whole takes milliseconds where there are many. */
function readFirstProcessor(): string {
  const file = openSync("/proc/cpuinfo", "r");
  try {
    const bytes = Buffer.alloc(16_384);
    return bytes.toString("latin1", 0, readSync(file, bytes));
  } finally {
    closeSync(file);
  }
}

function createMachineCode(addon: LoaderAddon, level: X64Level, cache: MachineCodeCache | undefined): MachineCode {
  const objects: InstalledObject[] = [];
  const install = (linked: MachineObject): readonly InstalledKernel[] => {
    const object = installObject(addon, linked);
    objects.push(object);
    return object.kernels;
  };
  return {
    module: new URL("./bind-machine-code.ts", import.meta.url).href,
    level,
    bind: bindMachineKernels(addon),
    cache,
    link: writeKernelObject,
    installObject: install,
    install: (kernels) => install(writeKernelObject(kernels)),
    free() {
      for (const object of objects.splice(0)) object.close();
    },
  };
}
