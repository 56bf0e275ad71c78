/** What the plugins of this machine are, by their files. */
import { stat } from "node:fs/promises";
import type { PluginReading } from "./read-plugin.ts";

/**
 * Reads plugins, each once until its size or modification time changes. The readers of binaries are imported with the first plugin, since few machines have
 * one.
 */
export class PluginReader {
  readonly #known = new Map<string, { readonly stamp: string; readonly reading: Promise<PluginReading> }>();

  /** See `readPlugin`. */
  async read(path: string): Promise<PluginReading> {
    const stamp = await getStamp(path);
    const known = this.#known.get(path);
    if (known?.stamp === stamp) return await known.reading;
    const reading = import("./read-plugin.ts").then(async ({ readPlugin }) => await readPlugin(path));
    this.#known.set(path, { stamp, reading });
    return await reading;
  }
}

async function getStamp(path: string): Promise<string> {
  return await stat(path, { bigint: true }).then(
    ({ size, mtimeNs, ino }) => `${ino}:${size}:${mtimeNs}`,
    () => "",
  );
}
