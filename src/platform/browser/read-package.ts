/** Packages (.aimod) in a browser: refused, since unpacking needs a disk. Replaces src/models/aimod/read-package.ts. */
import type { Folder } from "../../models/model-folder.ts";
import { packageRefusal } from "./reference.ts";

/** Rejects with MODEL_UNSUPPORTED: .aimod packages cannot be unpacked in a browser. */
export async function readPackage({ shown }: Folder): Promise<never> {
  throw packageRefusal(shown);
}

/** Rejects with MODEL_UNSUPPORTED: .aimod packages cannot be unpacked in a browser. */
export async function openPackage({ shown }: Folder): Promise<never> {
  throw packageRefusal(shown);
}
