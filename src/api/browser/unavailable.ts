/** Functions of the library that a browser cannot support. Each throws CONFIG_INVALID when it is called. */
import { InferyardError } from "../../errors.ts";

export function createStore(): never {
  throw absent("createStore", "a disk", "models are kept by the browser's Cache API when they are loaded");
}

export async function inspectModel(): Promise<never> {
  throw absent("inspectModel", "files on a disk", "load the model and look at its handle's `manifest`");
}

export async function inspectFile(): Promise<never> {
  throw absent("inspectFile", "files on a disk", "use it in Node.js: inferyard inspect FILE");
}

function absent(name: string, needed: string, remedy: string): InferyardError {
  return new InferyardError("CONFIG_INVALID", `${name} needs ${needed}, which a browser does not have`, { remedy });
}
