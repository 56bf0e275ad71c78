/** The folder in which Inferyard keeps its files on this machine: the store of models, unpacked packages and measurements. */
import { isAbsolute, join, resolve } from "node:path";
import { homeFolder } from "../platform/node/home-folder.ts";

/** Facts about this process that the places of a user's files depend on. */
export interface UserFacts {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  /** Home folder of the user. */
  readonly home: string;
}

/** Inputs of `dataFolder`. Defaults: the facts of this process. */
export type DataFolderInputs = Partial<UserFacts>;

/**
 * Absolute path of the data folder: `INFERYARD_HOME` if it is set, else the folder `inferyard` in the platform's data folder. That is
 * `$XDG_DATA_HOME` or `~/.local/share` (https://specifications.freedesktop.org/basedir-spec/latest/, by which a relative path is ignored),
 * `~/Library/Application Support` on macOS, and `%LOCALAPPDATA%` on Windows. The folder is not created.
 */
export function dataFolder(inputs: DataFolderInputs = {}): string {
  const { environment = process.env, platform = process.platform, home = homeFolder() } = inputs;
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
