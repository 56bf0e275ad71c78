/** The effective settings: defaults, then inferyard.yaml, then the environment, then flags; later wins, and each value keeps its origin. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import type { z } from "zod";
import { InferyardError, messageOf } from "../errors.ts";
import { nearest } from "../models/nearest.ts";
import {
  type SettingName,
  type Settings,
  environmentName,
  settingDefaults,
  settingFields,
  settingNames,
  settingsSchema,
} from "./schema.ts";

export interface SettingsSources {
  /** Values of flags, by setting name. */
  readonly flags?: Readonly<Record<string, unknown>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Folder in which inferyard.yaml is looked for. */
  readonly directory: string;
  /** A file named by the user; it must be there. */
  readonly file?: string;
}

export interface EffectiveSettings {
  readonly values: Settings;
  /** For each setting that has a value: "default", the file's path, the variable's name, or the flag. */
  readonly origins: Readonly<Partial<Record<SettingName, string>>>;
}

/** Variables with our prefix that are not settings. */
const otherVariables: ReadonlySet<string> = new Set(["INFERYARD_CONFIG", "INFERYARD_HOME"]);

export async function readSettings(sources: SettingsSources): Promise<EffectiveSettings> {
  const named = sources.file ?? sources.environment["INFERYARD_CONFIG"];
  const layers = [
    { values: settingDefaults, origin: () => "default" },
    await fileLayer(named, sources.directory),
    { values: environmentLayer(sources.environment), origin: environmentName },
    { values: check(sources.flags ?? {}, "the command line"), origin: (name: string) => `--${kebab(name)}` },
  ];
  const values: Record<string, unknown> = {};
  const origins: Partial<Record<SettingName, string>> = {};
  for (const layer of layers) {
    for (const name of settingNames) {
      if (layer.values[name] === undefined) continue;
      values[name] = layer.values[name];
      origins[name] = layer.origin(name);
    }
  }
  return { values, origins };
}

interface Layer {
  readonly values: Settings;
  readonly origin: (name: string) => string;
}

async function fileLayer(named: string | undefined, directory: string): Promise<Layer> {
  const path = named ?? join(directory, "inferyard.yaml");
  const origin = (): string => path;
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if (named === undefined && (error as NodeJS.ErrnoException).code === "ENOENT") return { values: {}, origin };
    throw new InferyardError("CONFIG_INVALID", `the settings file ${path} cannot be read: ${messageOf(error)}`, { cause: error });
  }
  try {
    return { values: check(parse(text) ?? {}, path), origin };
  } catch (error) {
    if (error instanceof InferyardError) throw error;
    throw new InferyardError("CONFIG_INVALID", `${path} is not YAML: ${messageOf(error)}`, { cause: error });
  }
}

function environmentLayer(environment: SettingsSources["environment"]): Settings {
  const byVariable = new Map(settingNames.map((name) => [environmentName(name), name]));
  const values: Record<string, unknown> = {};
  for (const [variable, text] of Object.entries(environment)) {
    if (!variable.startsWith("INFERYARD_") || otherVariables.has(variable) || text === undefined || text === "") continue;
    const name = byVariable.get(variable);
    if (name === undefined) throw unknownKey(variable, "the environment", [...byVariable.keys()]);
    values[name] = fromText(name, text);
  }
  return check(values, "the environment");
}

/** What a setting's text in the environment means: the first reading that the setting accepts; else the text, to be refused by name. */
function fromText(name: SettingName, text: string): unknown {
  const field: z.ZodType = settingFields[name];
  const truth = { true: true, false: false }[text];
  const list = text.split(",").map((part) => part.trim());
  return [Number(text), truth, text, list].find((reading) => field.safeParse(reading).success) ?? text;
}

/** Holds one layer against the schema: an unknown key names the nearest right one; every other problem is listed. */
function check(values: unknown, where: string): Settings {
  const parsed = settingsSchema.safeParse(values);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => {
    const place = issue.path.join(".");
    if (issue.code !== "unrecognized_keys") return `${place || "the file"}: ${issue.message}`;
    const known = issue.path.length === 0 ? settingNames : ["policy", "priority", "prefer", "target", "exclude"];
    return issue.keys.map((key) => `${[...issue.path, key].join(".")} is not a setting${suggestion(key, known)}`).join("; ");
  });
  throw new InferyardError("CONFIG_INVALID", `${where}: ${problems.join("; ")}`, {
    remedy: "`inferyard config` lists every setting; docs/reference/configuration.md explains them",
    data: { problems },
  });
}

function unknownKey(key: string, where: string, known: readonly string[]): InferyardError {
  return new InferyardError("CONFIG_INVALID", `${where}: ${key} is not a setting${suggestion(key, known)}`, {
    remedy: "`inferyard config` lists every setting; docs/reference/configuration.md explains them",
  });
}

function suggestion(key: string, known: readonly string[]): string {
  const guess = nearest(key, known);
  return guess === undefined ? "" : `; did you mean ${guess}?`;
}

function kebab(name: string): string {
  return name.replaceAll(/[A-Z]/g, (capital) => `-${capital.toLowerCase()}`);
}
