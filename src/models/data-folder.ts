/** Where Inferyard keeps what it makes for itself on this machine: one folder, chosen as the platform does it. */
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";

/** What the choice depends on; left out, this process's own. */
export interface DataFolderInputs {
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly platform?: NodeJS.Platform;
  readonly home?: string;
}

/**
 * `INFERYARD_HOME`, else `inferyard` in the platform's data folder: `$XDG_DATA_HOME` or `~/.local/share`
 * (https://specifications.freedesktop.org/basedir-spec/latest/, which says to pass over a relative one), `~/Library/Application Support`
 * on macOS, `%LOCALAPPDATA%` on Windows. Nothing is made here.
 */
export function dataFolder(surroundings: DataFolderInputs = {}): string {
  const { environment = process.env, platform = process.platform, home = homedir() } = surroundings;
  const own = environment["INFERYARD_HOME"];
  if (own !== undefined && own !== "") return resolve(own);
  return join(platformFolder(environment, platform, home), "inferyard");
}

function platformFolder(environment: Readonly<Record<string, string | undefined>>, platform: string, home: string): string {
  if (platform === "darwin") return join(home, "Library", "Application Support");
  if (platform === "win32") return environment["LOCALAPPDATA"] ?? join(home, "AppData", "Local");
  const data = environment["XDG_DATA_HOME"];
  return data !== undefined && isAbsolute(data) ? data : join(home, ".local", "share");
}
