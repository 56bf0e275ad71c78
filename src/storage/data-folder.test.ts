import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { dataFolder } from "./data-folder.ts";

describe("the data folder", () => {
  const home = "/home/me";
  it.each<[string, NodeJS.Platform, Record<string, string>, string]>([
    ["INFERYARD_HOME wins everywhere", "darwin", { INFERYARD_HOME: "/models" }, "/models"],
    ["an empty one counts for nothing", "linux", { INFERYARD_HOME: "" }, "/home/me/.local/share/inferyard"],
    ["Linux", "linux", {}, "/home/me/.local/share/inferyard"],
    ["Linux with a data folder of its own", "linux", { XDG_DATA_HOME: "/data" }, "/data/inferyard"],
    ["a relative one is passed over", "linux", { XDG_DATA_HOME: "data" }, "/home/me/.local/share/inferyard"],
    ["macOS", "darwin", { XDG_DATA_HOME: "/data" }, "/home/me/Library/Application Support/inferyard"],
    ["Windows", "win32", { LOCALAPPDATA: "/local" }, "/local/inferyard"],
    ["Windows without the variable", "win32", {}, "/home/me/AppData/Local/inferyard"],
  ])("%s", (_name, platform, environment, folder) => {
    expect(dataFolder({ platform, environment, home })).toBe(join(folder));
  });
});
