/** Validates settings against the schema. Errors list every problem; for an unknown key they suggest the nearest known one. */
import { parse } from "yaml";
import { InferyardError, getMessage } from "../contract/errors.ts";
import { isObject } from "../contract/shapes/shape.ts";
import { joinProblems } from "../models/validation/manifest-errors.ts";
import { nearestName } from "../models/validation/nearest-name.ts";
import { schemaProblems } from "../models/validation/schema-problems.ts";
import { foreignName } from "../runtime/options/foreign-names.ts";
import { type OptionType, type Options, readOptionText } from "../runtime/options/option.ts";
import { settingsSchema } from "./schema.ts";
import { serverOptions } from "./server-options.ts";
import {
  type SectionName,
  type Settings,
  environmentName,
  settingsSectionNames,
  sectionVariable,
  settingOptions,
} from "./settings.ts";
import { xlaOptions } from "./xla-schema.ts";

/** Settings from the text of a YAML file. `path` is for messages. Throws CONFIG_INVALID. */
export function checkYaml(text: string, path: string): Settings {
  let values: unknown;
  try {
    values = parse(text) ?? {};
  } catch (error) {
    throw invalid(path, [`not YAML: ${getMessage(error)}`], error);
  }
  return checkSettings(values, path);
}

/** Settings from environment variables with the prefix INFERYARD_. Throws CONFIG_INVALID. */
export function checkVariables(variables: readonly (readonly [name: string, text: string])[]): Settings {
  const values: Nested = {};
  const sections: Nested = {};
  for (const [variable, text] of variables) {
    const setting = settingVariables.get(variable);
    if (setting === undefined) throw invalid("the environment", [unknownVariable(variable, [...settingVariables.keys()])]);
    const { path, type } = setting;
    setAt(path.length === 1 ? values : sections, path, readOptionText(type, text));
  }
  return checkSettings({ ...sections, ...values }, "the environment");
}

/** A setting that a variable sets: the names of the maps around it and its own, and its type. */
interface VariableSetting {
  readonly path: readonly string[];
  readonly type: OptionType;
}

const sectionOptions: Readonly<Record<SectionName, Options>> = { server: serverOptions, xla: xlaOptions };

/** All settings by the name of their variable. */
const settingVariables: ReadonlyMap<string, VariableSetting> = new Map<string, VariableSetting>([
  ...Object.entries(settingOptions).map(([name, { type }]) => [environmentName(name), { path: [name], type }] as const),
  ...settingsSectionNames.flatMap((section) =>
    Object.entries(sectionOptions[section]).map(
      ([name, { type }]) => [sectionVariable(section, name), { path: [section, ...name.split(".")], type }] as const,
    ),
  ),
]);

interface Nested {
  [name: string]: unknown;
}

function setAt(map: Nested, [name = "", ...inner]: readonly string[], value: unknown): void {
  if (inner.length > 0) setAt((map[name] ??= {}) as Nested, inner, value);
  else map[name] = value;
}

/** The values as settings. `where`: their source, for messages. Throws CONFIG_INVALID with every problem. */
export function checkSettings(values: unknown, where: string): Settings {
  const named = isObject(values)
    ? Object.keys(values).flatMap((name) => {
        const instead = Object.hasOwn(movedSettings, name) ? movedSettings[name] : foreignName(name);
        return instead === undefined ? [] : [`there is no setting "${name}": ${instead}`];
      })
    : [];
  if (named.length > 0) throw invalid(where, named);
  const problems = schemaProblems(settingsSchema, values);
  if (problems.length > 0) throw invalid(where, problems);
  return values as Settings;
}

/** Settings of the library that are elsewhere on the command line. */
const movedSettings: Readonly<Record<string, string>> = {
  preload: "only a server loads models ahead: set it in the section server",
};

function unknownVariable(variable: string, known: readonly string[]): string {
  const instead = foreignName(variable.replace(environmentName(""), "").toLowerCase());
  if (instead !== undefined) return `there is no setting ${variable}: ${instead}`;
  const guess = nearestName(variable, known);
  return `unknown variable ${variable}${guess === undefined ? "" : ` (did you mean ${guess}?)`}`;
}

function invalid(where: string, problems: readonly string[], cause?: unknown): InferyardError {
  return new InferyardError("CONFIG_INVALID", `${where}: ${joinProblems(problems)}`, {
    remedy: "`inferyard config` lists every setting; docs/reference/configuration.md explains them",
    data: { problems },
    cause,
  });
}
