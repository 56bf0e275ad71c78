/** Functions of the library that a browser cannot support. Each throws CONFIG_INVALID when it is called. */
import { InferyardError } from "../../contract/errors.ts";

/** Throws CONFIG_INVALID: the store of models needs a disk. In a browser the Cache API keeps loaded models. */
export function createStore(): never {
  throw absent("createStore", "a disk", "models are kept by the browser's Cache API when they are loaded");
}

/** Rejects with CONFIG_INVALID: inspection reads files from a disk. In a browser, read `manifest` of a loaded model. */
export async function inspectModel(): Promise<never> {
  throw absent("inspectModel", "files on a disk", "load the model and look at its handle's `manifest`");
}

/** Rejects with CONFIG_INVALID: inspection reads files from a disk. */
export async function inspectFile(): Promise<never> {
  throw absent("inspectFile", "files on a disk", "use it in Node.js: inferyard inspect FILE");
}

/** Rejects with CONFIG_INVALID: the analysis reads native libraries from a disk. */
export async function analyzeLibrary(): Promise<never> {
  throw absent("analyzeLibrary", "files on a disk", "use it in Node.js: inferyard analyze-library FILE");
}

/** The error of a function that needs what a browser does not have. */
export function absent(name: string, needed: string, remedy: string): InferyardError {
  return new InferyardError("CONFIG_INVALID", `${name} needs ${needed}, which a browser does not have`, { remedy });
}
