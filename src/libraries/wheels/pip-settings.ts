/** The user's settings for indexes of Python packages, read from the files and variables of pip (https://pip.pypa.io/en/stable/topics/configuration/). */
import { readFile } from "node:fs/promises";
import { delimiter, join, resolve } from "node:path";
import { InferyardError, getMessage } from "../../contract/errors.ts";
import type { UserFacts } from "../../storage/data-folder.ts";
import { isMissing } from "../../platform/missing-file.ts";

/** Where packages are looked for, and how those indexes are reached. */
export interface PipSettings {
  /** URLs of indexes, the first one first; empty if `no-index` is set. They may hold a user name and a password. */
  readonly indexes: readonly string[];
  /** Folders with wheels (paths), and pages that link to wheels (URLs). */
  readonly findLinks: readonly string[];
  /** URL of a proxy for all requests. Default: the proxy that the environment names. */
  readonly proxy: string | undefined;
  /** Path of a file with certificates of authorities. */
  readonly certificates: string | undefined;
  /** Hosts, with or without a port, that may be reached without TLS. */
  readonly trustedHosts: readonly string[];
}

const defaultIndex = "https://pypi.org/simple";
type Values = ReadonlyMap<string, string>;

/** Reads the settings. Variables win over the file that PIP_CONFIG_FILE names, that over the environment's, the user's and the system's. Throws CONFIG_INVALID for a file that cannot be read. */
export async function readPipSettings(sources: UserFacts): Promise<PipSettings> {
  const { environment } = sources;
  const files = environment["PIP_CONFIG_FILE"] === "/dev/null" ? [] : configFiles(sources);
  const values = new Map<string, string>();
  for (const file of files) for (const [name, value] of await readConfig(file)) values.set(name, value);
  for (const [variable, value = ""] of Object.entries(environment)) {
    const name = /^PIP_(\w+)$/.exec(variable)?.[1];
    if (name !== undefined && value !== "") values.set(name.toLowerCase().replaceAll("_", "-"), value);
  }
  const list = (name: string): string[] => (values.get(name) ?? "").split(/\s+/).filter((part) => part !== "");
  const isOn = /^(?:1|true|yes|on|y|t)$/i.test(values.get("no-index") ?? "");
  const value = (name: string): string | undefined => values.get(name) || undefined;
  return {
    indexes: isOn ? [] : [...new Set([value("index-url") ?? defaultIndex, ...list("extra-index-url")])],
    findLinks: list("find-links"),
    proxy: value("proxy"),
    certificates: value("cert") ?? environment["REQUESTS_CA_BUNDLE"] ?? environment["CURL_CA_BUNDLE"],
    trustedHosts: list("trusted-host"),
  };
}

/** Files from the least to the most important. */
function configFiles({ environment, platform, home }: UserFacts): readonly string[] {
  const variable = (name: string): string[] =>
    environment[name] === undefined || environment[name] === "" ? [] : [environment[name]];
  const name = platform === "win32" ? "pip.ini" : "pip.conf";
  const inFolders = (folders: readonly string[]): string[] => folders.map((folder) => join(folder, name));
  const virtual = inFolders(variable("VIRTUAL_ENV"));
  const named = variable("PIP_CONFIG_FILE").map((file) => resolve(file));
  if (platform === "win32") {
    const system = inFolders(variable("ProgramData").map((folder) => join(folder, "pip")));
    const user = inFolders([join(home, "pip"), ...variable("APPDATA").map((folder) => join(folder, "pip"))]);
    return [...system, ...user, ...virtual, ...named];
  }
  const shared = (environment["XDG_CONFIG_DIRS"] ?? "/etc/xdg").split(delimiter).filter((folder) => folder !== "");
  const support = "Library/Application Support/pip";
  const isMac = platform === "darwin";
  const system = isMac ? [join("/", support)] : [...shared.toReversed().map((folder) => join(folder, "pip")), "/etc"];
  const own = join(environment["XDG_CONFIG_HOME"] || join(home, ".config"), "pip");
  const user = [join(home, ".pip"), own, ...(isMac ? [join(home, support)] : [])];
  return [...inFolders(system), ...inFolders(user), ...virtual, ...named];
}

/** The values of the sections [global] and [install], of which the second wins. */
async function readConfig(file: string): Promise<Values> {
  let text = "";
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if (isMissing(error)) return new Map();
    throw new InferyardError("CONFIG_INVALID", `${file}, a file of pip's settings, cannot be read: ${getMessage(error)}`, {
      remedy: "check its permissions, or set PIP_CONFIG_FILE",
      cause: error,
    });
  }
  const sections = parseIni(text);
  return new Map([...(sections.get("global") ?? []), ...(sections.get("install") ?? [])]);
}

/** Parses the form of Python's configparser: sections, `name = value` or `name: value`, indented lines that continue a value, comments. */
export function parseIni(text: string): ReadonlyMap<string, Values> {
  const sections = new Map<string, Map<string, string>>();
  let section = new Map<string, string>();
  let last: string | undefined;
  for (const line of text.replace(/^\uFEFF/, "").split(/\r?\n/)) {
    if (/^\s*(?:[#;].*)?$/.test(line)) continue;
    const header = /^\[([^\]]+)\]/.exec(line)?.[1];
    if (header !== undefined) {
      section = sections.get(header.trim()) ?? new Map<string, string>();
      sections.set(header.trim(), section);
      last = undefined;
    } else if (/^\s/.test(line) && last !== undefined) {
      section.set(last, `${section.get(last) ?? ""}\n${line.trim()}`);
    } else {
      const [, name = "", value = ""] = /^\s*([^=:]+?)\s*[=:]\s*(.*)$/.exec(line) ?? [];
      last = name === "" ? undefined : name.toLowerCase().replaceAll("_", "-").replace(/^--/, "");
      if (last !== undefined) section.set(last, value.trim());
    }
  }
  return sections;
}
