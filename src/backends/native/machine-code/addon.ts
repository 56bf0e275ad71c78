/** Loads the addon that opens and calls machine code. */
import { randomUUID } from "node:crypto";
import { type LoaderAddon, writeLoaderAddon } from "./loader-addon.ts";
import { withPrivateFile } from "./private-file.ts";

let loaded: LoaderAddon | undefined;

/**
 * The addon of this thread, loaded at the first call. The main thread keeps it until the process ends, since Node.js never unloads it; other threads until they end. Throws
 * BACKEND_UNAVAILABLE where native addons are not allowed (`--permission` without `--allow-addons`, `--no-addons`) and where no file can be loaded.
 */
export function loadAddon(): LoaderAddon {
  return (loaded ??= withPrivateFile(`inferyard-loader-${randomUUID()}.node`, writeLoaderAddon(), (path) => {
    const module = { exports: {} };
    process.dlopen(module, path);
    return module.exports as LoaderAddon;
  }));
}
