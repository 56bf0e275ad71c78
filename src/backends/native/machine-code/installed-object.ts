/** Objects with kernels in the memory of this process. */
import { randomUUID } from "node:crypto";
import type { InstalledKernel, MachineObject } from "../../../engine/codegen/x64/index.ts";
import { InferyardError } from "../../../contract/errors.ts";
import type { LoaderAddon } from "./loader-addon.ts";
import { withPrivateFile } from "./private-file.ts";

/** An opened object. */
export interface InstalledObject {
  /** Its kernels, in the order in which they were given. */
  readonly kernels: readonly InstalledKernel[];
  /** Unmaps it. No kernel may be running or be called afterwards, on any thread. */
  close(): void;
}

/** Writes an object to a file, opens it and deletes the file. Throws BACKEND_UNAVAILABLE where that is refused. */
export function installObject(addon: LoaderAddon, { bytes, kernels }: MachineObject): InstalledObject {
  const words = new BigUint64Array(2);
  withPrivateFile(`inferyard-kernels-${randomUUID()}.so`, bytes, (path) => {
    const problem = addon.open(words, new TextEncoder().encode(`${path}\0`));
    if (problem !== undefined) throw new InferyardError("BACKEND_UNAVAILABLE", problem);
  });
  const [handle = 0n, start = 0n] = words;
  return {
    kernels: kernels.map(({ key, arguments: list, callback }) => ({ key, arguments: list, address: start + BigInt(callback) })),
    close: () => addon.close(BigUint64Array.of(handle)),
  };
}
