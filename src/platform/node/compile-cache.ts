/** Keeps the compiled code of our modules between runs, where Node.js can: from version 22.8. */
import { mkdirSync } from "node:fs";
import module from "node:module";
import { join } from "node:path";
import { homeFolder } from "./home-folder.ts";

/** What Node.js has from 22.8 on. */
interface CompileCache {
  readonly enableCompileCache?: (folder: string) => unknown;
}

/**
 * Turns the compile cache of Node.js on for this thread, in the folder `inferyard-compile` of the user's cache folder. Node.js itself obeys
 * NODE_COMPILE_CACHE, which names another folder, and NODE_DISABLE_COMPILE_CACHE=1, which turns it off. Never throws: without a folder that can be
 * written there is no cache.
 */
export function enableCompileCache(): void {
  const { env, platform } = process;
  const { enableCompileCache: enable } = module as CompileCache;
  if (enable === undefined || isSet(env["NODE_DISABLE_COMPILE_CACHE"]) || isSet(env["NODE_COMPILE_CACHE"])) return;
  const folder = userCacheFolder(platform, env);
  try {
    // Made here, one level at a time: where a folder cannot be created for a reason other than its permissions, for example in /proc,
    // enableCompileCache of Node.js 22.23 never returns.
    for (const path of [folder, join(folder, "inferyard-compile")]) makeFolder(path);
    enable(join(folder, "inferyard-compile"));
  } catch {
    // The program runs without the cache.
  }
}

const isSet = (value: string | undefined): boolean => value !== undefined && value !== "";

/** Folder of caches of this user, by the rule of the platform; on Linux that of the XDG base directory specification. */
function userCacheFolder(platform: string, environment: Readonly<Record<string, string | undefined>>): string {
  if (platform === "win32") return environment["LOCALAPPDATA"] ?? join(homeFolder(), "AppData", "Local");
  if (platform === "darwin") return join(homeFolder(), "Library", "Caches");
  const named = environment["XDG_CACHE_HOME"];
  return named?.startsWith("/") === true ? named : join(homeFolder(), ".cache");
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}
