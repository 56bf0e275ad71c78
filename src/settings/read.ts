/** Reads the effective settings from defaults, inferyard.yaml, the environment and flags, in this order; later sources win. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { InferyardError, getMessage } from "../contract/errors.ts";
import { isObject } from "../contract/shapes/shape.ts";
import { getServiceVariables, isServiceVariable } from "./service-variables.ts";
import {
  type SectionName,
  type SettingName,
  type Settings,
  environmentName,
  flagName,
  settingsSectionNames,
  settingDefaults,
  settingNames,
} from "./settings.ts";

/** Where settings are read from. */
export interface SettingsSources {
  /** Values of flags by setting name, which the command line has validated. */
  readonly flags?: Settings;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Folder in which inferyard.yaml is looked for. */
  readonly directory: string;
  /** A settings file that the user named; it must exist. */
  readonly file?: string;
}

/** The settings in effect, with their origins. */
export interface EffectiveSettings {
  readonly values: Settings;
  /** Those of `values` that the file, the environment or flags set; the others are defaults. */
  readonly configured: Settings;
  /** Origin of each setting that has a value: "default", the path of the file, the name of the variable, or the flag. */
  readonly origins: Readonly<Partial<Record<SettingName, string>>>;
  /** Variables with our prefix that are ignored, since a container platform set them for a Service of our name. */
  readonly ignoredVariables: readonly string[];
}

/** One source of settings. */
interface Layer {
  readonly values: Settings;
  readonly origin: (name: SettingName) => string;
}

/** Reads all sources. Throws CONFIG_INVALID for a file that cannot be read, an unknown setting, or an invalid value. */
export async function readSettings(sources: SettingsSources): Promise<EffectiveSettings> {
  const layers: Layer[] = [
    await fileLayer(sources),
    { values: await environmentSettings(sources.environment), origin: (name) => getVariable(name, sources.environment) },
    { values: sources.flags ?? {}, origin: flagName },
  ];
  const configured: Record<string, unknown> = {};
  const origins: Partial<Record<SettingName, string>> = Object.fromEntries(
    Object.keys(settingDefaults).map((name) => [name, "default"]),
  );
  for (const layer of layers) {
    for (const name of settingNames) {
      if (layer.values[name] === undefined) continue;
      const [before, value, origin] = [configured[name], layer.values[name], layer.origin(name)];
      const joins = isSection(name) && isObject(before) && isObject(value);
      configured[name] = joins ? joined(before, value, name === "xla" ? 1 : 0) : value;
      origins[name] = joins ? `${origins[name]}, ${origin}` : origin;
    }
  }
  const values = { ...settingDefaults, ...configured };
  return { values, configured, origins, ignoredVariables: getServiceVariables(sources.environment) };
}

function isSection(name: string): name is SectionName {
  return settingsSectionNames.some((section) => section === name);
}

/** The settings of a section, a later source over an earlier one. `depth`: levels of maps within it whose members are joined too. */
function joined(before: object, after: object, depth: number): object {
  const earlier = new Map(Object.entries(before));
  const inner = Object.entries(after).map(([name, value]): [string, unknown] => {
    const known: unknown = earlier.get(name);
    return [name, depth > 0 && isObject(known) && isObject(value) ? joined(known, value, depth - 1) : value];
  });
  return { ...before, ...Object.fromEntries(inner) };
}

/** Path of the settings file: the named one, else inferyard.yaml in the folder, which need not exist. */
export function settingsPath(sources: SettingsSources): string {
  return nameGiven(sources) ?? join(sources.directory, "inferyard.yaml");
}

function nameGiven({ file, environment }: SettingsSources): string | undefined {
  return file ?? environment["INFERYARD_CONFIG"];
}

/** Reads the settings file. A file that was not named need not exist. */
async function fileLayer(sources: SettingsSources): Promise<Layer> {
  const path = settingsPath(sources);
  const origin = (): string => path;
  const text = await readSettingsFile(path, nameGiven(sources) === undefined);
  if (text === undefined) return { values: {}, origin };
  const { checkYaml } = await import("./check.ts");
  return { values: checkYaml(text, path), origin };
}

/** The text of the settings file. `mayLack`: whether it need not exist; then it is undefined. Throws CONFIG_INVALID if it cannot be read. */
export async function readSettingsFile(path: string, mayLack: boolean): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (mayLack && (error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new InferyardError("CONFIG_INVALID", `the settings file ${path} cannot be read: ${getMessage(error)}`, {
      cause: error,
    });
  }
}

/** Variables with the prefix INFERYARD_ that are not settings. */
const otherVariables: ReadonlySet<string> = new Set([
  "INFERYARD_BLAS_LIBRARY",
  "INFERYARD_CONFIG",
  "INFERYARD_HOME",
  "INFERYARD_ENGINES",
  "INFERYARD_MACHINE_CODE_CACHE",
  "INFERYARD_MACHINE_CODE_FILES",
  "INFERYARD_PLAN_CACHE",
]);

async function environmentSettings(environment: SettingsSources["environment"]): Promise<Settings> {
  const variables = ours(environment);
  if (variables.length === 0) return {};
  const { checkVariables } = await import("./check.ts");
  return checkVariables(variables);
}

/** Variables with the prefix INFERYARD_ that are settings. An empty one counts as not set. */
function ours(environment: SettingsSources["environment"]): [variable: string, text: string][] {
  return Object.entries(environment).flatMap(([variable, text = ""]) =>
    variable.startsWith("INFERYARD_") &&
    !otherVariables.has(variable) &&
    text.trim() !== "" &&
    !isServiceVariable(variable, text, environment)
      ? [[variable, text]]
      : [],
  );
}

/** Variable that a setting came from; for a section, which has one variable per setting, all of them. */
function getVariable(name: SettingName, environment: SettingsSources["environment"]): string {
  const variable = environmentName(name);
  if (!isSection(name)) return variable;
  const given = ours(environment).map(([other]) => other);
  return given.filter((other) => other.startsWith(`${variable}_`)).join(", ");
}
