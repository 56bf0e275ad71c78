/** Files that the section `server` names. Relative paths start at the current folder. */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { parse } from "yaml";
import { InferyardError, getMessage } from "../../contract/errors.ts";
import { schemaProblems } from "../../models/validation/schema-problems.ts";
import { keysSchema } from "../../settings/server-schema.ts";
import type { ServerSection } from "../../settings/generated-server-settings.ts";
import type { ServerKey } from "../../settings/server-maps.ts";

/** The keys of the section and of its keys file. Throws CONFIG_INVALID. */
export async function readKeys({ keys = [], keysFile }: ServerSection, directory: string): Promise<readonly ServerKey[]> {
  if (keysFile === undefined) return keys;
  const text = await read(keysFile, directory, "keysFile");
  let values: unknown;
  try {
    values = parse(text) ?? [];
  } catch (error) {
    throw invalid(keysFile, `not YAML: ${getMessage(error)}`, error);
  }
  const problems = schemaProblems(keysSchema, values);
  if (problems.length > 0) throw invalid(keysFile, problems.join("; "));
  return [...keys, ...(values as ServerKey[])];
}

/** Certificate and private key as PEM; undefined if neither is set. Throws CONFIG_INVALID. */
export async function readTls(
  { tlsCert, tlsKey }: ServerSection,
  directory: string,
): Promise<{ readonly cert: string; readonly key: string } | undefined> {
  if (tlsCert === undefined && tlsKey === undefined) return undefined;
  if (tlsCert === undefined || tlsKey === undefined) {
    throw new InferyardError("CONFIG_INVALID", `${tlsCert === undefined ? "tlsKey" : "tlsCert"} is set without the other half`, {
      remedy: "set both tlsCert and tlsKey, or neither",
    });
  }
  return { cert: await read(tlsCert, directory, "tlsCert"), key: await read(tlsKey, directory, "tlsKey") };
}

async function read(path: string, directory: string, setting: string): Promise<string> {
  try {
    return await readFile(resolve(directory, path), "utf8");
  } catch (error) {
    throw new InferyardError("CONFIG_INVALID", `${setting}: ${path} cannot be read: ${getMessage(error)}`, {
      remedy: `correct ${setting}`,
      cause: error,
    });
  }
}

function invalid(path: string, problem: string, cause?: unknown): InferyardError {
  return new InferyardError("CONFIG_INVALID", `${path}: ${problem}`, {
    remedy: "write a list of { name, sha256, role }; docs/guide/serving.md has an example",
    cause,
  });
}
