/** Objects with kernels in the memory of this process. */
import { randomUUID } from "node:crypto";
import type { InstalledKernel, MachineKernel } from "../../../engine/codegen/x64/index.ts";
import { InferyardError } from "../../../contract/errors.ts";
import { writeKernelObject } from "./kernel-object.ts";
import type { LoaderAddon } from "./loader-addon.ts";
import { withPrivateFile } from "./private-file.ts";

/** An opened object. */
export interface InstalledObject {
  /** Its kernels, in the order in which they were given. */
  readonly kernels: readonly InstalledKernel[];
  /** Unmaps it. No kernel may be running or be called afterwards, on any thread. */
  close(): void;
}

/** Writes an object with kernels, opens it and deletes the file. Throws BACKEND_UNAVAILABLE where that is refused. */
export function installKernels(addon: LoaderAddon, kernels: readonly MachineKernel[]): InstalledObject {
  const { bytes, callbacks } = writeKernelObject(kernels);
  const words = new BigUint64Array(2);
  withPrivateFile(`inferyard-kernels-${randomUUID()}.so`, bytes, (path) => {
    const problem = addon.open(words, new TextEncoder().encode(`${path}\0`));
    if (problem !== undefined) throw new InferyardError("BACKEND_UNAVAILABLE", problem);
  });
  const [handle = 0n, start = 0n] = words;
  return {
    kernels: kernels.map(({ key, arguments: list }, index) => ({
      key,
      arguments: list,
      address: start + BigInt(callbacks[index] ?? 0),
    })),
    close: () => addon.close(BigUint64Array.of(handle)),
  };
}
