/** Keeps the compiled code of the program's modules between runs, where Node.js can: from version 22.8. */
import { mkdirSync } from "node:fs";
import module from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";

/**
 * Turns the compile cache of Node.js on, in the folder `inferyard-compile` of the user's cache folder. NODE_COMPILE_CACHE names another folder, and
 * NODE_DISABLE_COMPILE_CACHE=1 turns it off. Never throws: without a folder that can be written there is no cache.
 */
export function enableCompileCache() {
  const { env, platform } = process;
  if (module.enableCompileCache === undefined || env["NODE_DISABLE_COMPILE_CACHE"] || env["NODE_COMPILE_CACHE"]) return;
  const folder = userCacheFolder(platform, env);
  try {
    // Made here, one level at a time: where a folder cannot be created for a reason other than its permissions, for example in /proc,
    // enableCompileCache of Node.js 22.23 never returns.
    for (const path of [folder, join(folder, "inferyard-compile")]) makeFolder(path);
    module.enableCompileCache(join(folder, "inferyard-compile"));
  } catch {
    // The program runs without the cache.
  }
}

/** Folder of caches of this user, by the rule of the platform; on Linux that of the XDG base directory specification. */
export function userCacheFolder(platform, environment) {
  if (platform === "win32") return environment["LOCALAPPDATA"] || join(homedir(), "AppData", "Local");
  if (platform === "darwin") return join(homedir(), "Library", "Caches");
  const named = environment["XDG_CACHE_HOME"];
  return named?.startsWith("/") === true ? named : join(homedir(), ".cache");
}

function makeFolder(path) {
  try {
    mkdirSync(path);
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
  }
}
