/** Functions about native libraries and accelerators, which a page cannot see. Each ends in CONFIG_INVALID when it is called. */
import { absent } from "./unavailable.ts";

const needed = "native libraries on a disk";

/** Rejects with CONFIG_INVALID: a page cannot look for native libraries. */
export async function listLibraries(): Promise<never> {
  throw absent("listLibraries", needed, "use it in Node.js: inferyard libraries");
}

/** Rejects with CONFIG_INVALID: a page cannot load native libraries. */
export async function validateLibrary(): Promise<never> {
  throw absent("validateLibrary", needed, "use it in Node.js: inferyard libraries verify PATH");
}

/** Rejects with CONFIG_INVALID: kernels in native code and facts about the processor are not visible to a page. */
export async function kernelCapabilities(): Promise<never> {
  throw absent("kernelCapabilities", "native libraries and facts about the processor", "use it in Node.js: inferyard kernels");
}

/** Throws CONFIG_INVALID: the flags are of libraries that `listLibraries` found. */
export function buildFlags(): never {
  throw absent("buildFlags", needed, "use it in Node.js: inferyard libraries --emit FILE");
}

/** Rejects with CONFIG_INVALID: accelerators are told by native libraries and files of the system. */
export async function listAccelerators(): Promise<never> {
  throw absent("listAccelerators", needed, "`runtime.backends()` tells what a page can compute on");
}

/** Rejects with CONFIG_INVALID: accelerators are told by native libraries and files of the system. */
export async function acceleratorInfo(): Promise<never> {
  throw absent("acceleratorInfo", needed, "`runtime.backends()` tells what a page can compute on");
}

/** Rejects with CONFIG_INVALID: accelerators are told by native libraries and files of the system. */
export async function availableAccelerators(): Promise<never> {
  throw absent("availableAccelerators", needed, "`runtime.backends()` tells what a page can compute on");
}

/** Rejects with CONFIG_INVALID: accelerators are told by native libraries and files of the system. */
export async function isAcceleratorAvailable(): Promise<never> {
  throw absent("isAcceleratorAvailable", needed, "`runtime.backends()` tells what a page can compute on");
}
