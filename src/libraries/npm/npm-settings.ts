/** The user's settings for registries of npm, read from the files and variables of npm (https://docs.npmjs.com/cli/configuring-npm/npmrc). */
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { InferyardError, getMessage } from "../../contract/errors.ts";
import { isMissing } from "../../platform/missing-file.ts";
import type { UserFacts } from "../../storage/data-folder.ts";

/** Where packages are fetched from. */
export interface NpmSettings {
  /** URL of the registry of a package, without a slash at its end. */
  readonly registryOf: (packageName: string) => string;
  /** Value of the header Authorization for a URL; undefined if the settings have none. */
  readonly authorizationOf: (url: string) => string | undefined;
  /** URL of a proxy for all requests. Default: the proxy that the environment names. */
  readonly proxy: string | undefined;
  /** Path of a file with certificates of authorities. */
  readonly certificates: string | undefined;
}

const defaultRegistry = "https://registry.npmjs.org";

/**
 * Reads the settings: variables `npm_config_*` win over the file .npmrc of `directory`, that over the user's (`NPM_CONFIG_USERCONFIG`, else ~/.npmrc), that over the
 * global one (`NPM_CONFIG_GLOBALCONFIG`, else etc/npmrc of `NPM_CONFIG_PREFIX`). Throws CONFIG_INVALID for a file that cannot be read, or that names a variable
 * which is not set.
 */
export async function readNpmSettings({ environment, home }: UserFacts, directory: string): Promise<NpmSettings> {
  const variables = new Map<string, string>();
  for (const [name, value = ""] of Object.entries(environment)) {
    const key = /^npm_config_(.+)$/i.exec(name)?.[1];
    if (key !== undefined && value !== "") variables.set(normalizedKey(key), value);
  }
  const prefix = variables.get("prefix");
  const globalFile = variables.get("globalconfig") ?? (prefix === undefined ? undefined : join(prefix, "etc", "npmrc"));
  const files = [globalFile, variables.get("userconfig") ?? join(home, ".npmrc"), join(directory, ".npmrc")];
  const values = new Map<string, string>();
  for (const file of files) {
    if (file === undefined) continue;
    for (const [key, value] of await readNpmrc(resolve(directory, file), environment)) values.set(key, value);
  }
  for (const [key, value] of variables) values.set(key, value);
  const registry = values.get("registry") ?? defaultRegistry;
  return {
    registryOf: (name) => {
      const scope = name.startsWith("@") ? values.get(`${name.split("/")[0]}:registry`) : undefined;
      return (scope ?? registry).replace(/\/+$/, "");
    },
    authorizationOf: (url) => findAuthorization(values, url),
    proxy: values.get("https-proxy") ?? values.get("proxy"),
    certificates: values.get("cafile"),
  };
}

/** Keys of variables have "_" for "-"; those with a registry in them ("//host/:_authToken") stay. */
function normalizedKey(key: string): string {
  return key.startsWith("//") || key.startsWith("@") ? key : key.toLowerCase().replaceAll("_", "-");
}

async function readNpmrc(file: string, environment: UserFacts["environment"]): Promise<ReadonlyMap<string, string>> {
  let text = "";
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if (isMissing(error)) return new Map();
    throw unusable(file, `cannot be read: ${getMessage(error)}`, error);
  }
  const values = new Map<string, string>();
  for (const line of text.replace(/^\uFEFF/, "").split(/\r?\n/)) {
    const [, key, stated = ""] = /^\s*([^;#=][^=]*?)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (key === undefined) continue;
    const value = stated.replace(/^"(.*)"$/, "$1").replaceAll(/\$\{([^}]+)\}/g, (_all, name: string) => {
      const set = environment[name];
      if (set === undefined) throw unusable(file, `names the variable ${name}, which is not set`);
      return set;
    });
    if (value !== "") values.set(key, value);
  }
  return values;
}

function unusable(file: string, problem: string, cause?: unknown): InferyardError {
  return new InferyardError("CONFIG_INVALID", `${file}, a file of npm's settings, ${problem}`, {
    remedy: "correct the file, or set NPM_CONFIG_USERCONFIG to another one",
    cause,
  });
}

/** npm keeps credentials for the longest prefix of the URL that has some: "//host/path/:_authToken". */
function findAuthorization(values: ReadonlyMap<string, string>, url: string): string | undefined {
  const { host, pathname } = new URL(url);
  const parts = pathname.split("/").filter((part) => part !== "");
  for (let count = parts.length; count >= 0; count--) {
    const prefix = `//${[host, ...parts.slice(0, count)].join("/")}/:`;
    const token = values.get(`${prefix}_authToken`);
    if (token !== undefined) return `Bearer ${token}`;
    const basic = values.get(`${prefix}_auth`);
    if (basic !== undefined) return `Basic ${basic}`;
    const [user, password] = [values.get(`${prefix}username`), values.get(`${prefix}_password`)];
    if (user !== undefined && password !== undefined) {
      const text = `${user}:${Buffer.from(password, "base64").toString("utf8")}`;
      return `Basic ${Buffer.from(text).toString("base64")}`;
    }
  }
  return undefined;
}
