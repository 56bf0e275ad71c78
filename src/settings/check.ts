/** Validates settings against the schema. Errors list every problem; for an unknown key they suggest the nearest known one. */
import { parse } from "yaml";
import type * as z from "zod";
import { InferyardError, getMessage } from "../contract/errors.ts";
import { joinProblems } from "../models/validation/manifest-errors.ts";
import { nearestName } from "../models/validation/nearest-name.ts";
import { schemaProblems } from "../models/validation/schema-problems.ts";
import { parseAdapter } from "../runtime/options/adapters.ts";
import { foreignName } from "../runtime/options/foreign-names.ts";
import { settingFields, settingsSchema } from "./schema.ts";
import { serverFields } from "./server-schema.ts";
import {
  type SectionName,
  type SettingName,
  type Settings,
  environmentName,
  sectionNames,
  sectionVariable,
  settingNames,
} from "./settings.ts";
import { xlaFields } from "./xla-schema.ts";

/** Settings from the text of a YAML file. `path` is for messages. Throws CONFIG_INVALID. */
export function checkYaml(text: string, path: string): Settings {
  let values: unknown;
  try {
    values = parse(text) ?? {};
  } catch (error) {
    throw invalid(path, [`not YAML: ${getMessage(error)}`], error);
  }
  return check(values, path);
}

/** Settings from environment variables with the prefix INFERYARD_. Throws CONFIG_INVALID. */
export function checkVariables(variables: readonly (readonly [name: string, text: string])[]): Settings {
  const names = new Map(settingNames.map((name) => [environmentName(name), name]));
  const ofSections = new Map(
    sectionNames.flatMap((section) =>
      Object.entries(sectionFields[section]).map(
        ([name, field]) => [sectionVariable(section, name), { section, name, field }] as const,
      ),
    ),
  );
  const values: Partial<Record<SettingName, unknown>> = {};
  const sections: Nested = {};
  for (const [variable, text] of variables) {
    const [name, ofSection] = [names.get(variable), ofSections.get(variable)];
    if (name !== undefined) values[name] = fromText(settingFields[name], text);
    else if (ofSection !== undefined)
      setAt(sections, [ofSection.section, ...ofSection.name.split(".")], fromText(ofSection.field, text));
    else throw invalid("the environment", [unknownVariable(variable, [...names.keys(), ...ofSections.keys()])]);
  }
  return check({ ...sections, ...values }, "the environment");
}

/** Schemas of the settings of each section, by name; a dot stands between the names of a map and of its member. */
const sectionFields: Readonly<Record<SectionName, Readonly<Record<string, z.ZodType>>>> = {
  server: serverFields,
  xla: xlaFields,
};

interface Nested {
  [name: string]: unknown;
}

function setAt(map: Nested, [name = "", ...inner]: readonly string[], value: unknown): void {
  if (inner.length > 0) setAt((map[name] ??= {}) as Nested, inner, value);
  else map[name] = value;
}

/**
 * The value that a setting's text in the environment stands for: the first reading that the schema accepts; else the text, which validation then
 * refuses with the name of the setting.
 */
function fromText(field: z.ZodType, text: string): unknown {
  const truth = { true: true, false: false }[text];
  const digit = { "1": true, "0": false }[text]; // after the number, so that 1 is a number where numbers are allowed
  const list = text.split(",").map((part) => part.trim());
  return (
    [Number(text), truth, digit, text, list, list.map(Number), list.map(parseAdapter)].find(
      (reading) => field.safeParse(reading).success,
    ) ?? text
  );
}

function check(values: unknown, where: string): Settings {
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

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
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
