import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { Command } from "commander";
import { addServerFlags } from "../cli/serving/server-flags.ts";
import { serverFields, serverSchema } from "./server-schema.ts";
import { serverDefaults } from "./server-section.ts";
import { settingFields, settingsJsonSchema, settingsSchema } from "./schema.ts";
import { environmentName, settingDefaults, settingNames } from "./settings.ts";

describe("what is published of the settings", () => {
  it("schemas/settings.json is the schema of the code: npm run schemas writes it", () => {
    const committed: unknown = JSON.parse(readFileSync(new URL("../../schemas/settings.json", import.meta.url), "utf8"));
    expect(committed).toEqual(settingsJsonSchema());
  });

  it("every setting has a type and a sentence of its own in the schema, and an unknown key is refused by it", () => {
    const { properties, additionalProperties } = settingsJsonSchema() as {
      properties: Record<string, { description?: string }>;
      additionalProperties: unknown;
    };
    expect(Object.keys(properties)).toEqual(settingNames);
    expect(new Set(Object.values(properties).map(({ description }) => description)).size).toBe(settingNames.length);
    expect(additionalProperties).toBe(false);
    expect(Object.keys(settingFields)).toEqual(settingNames);
  });

  it("the defaults are settings one could write", () => expect(settingsSchema.parse(settingDefaults)).toEqual(settingDefaults));

  it("docs/reference/configuration.md has a row for every setting, in order, with its variable and its default", () => {
    const page = readFileSync(new URL("../../docs/reference/configuration.md", import.meta.url), "utf8");
    const rows = page.split("\n").flatMap((line) => {
      const [, name, variable] = /^\| `(\w+)` \| `(INFERYARD_\w+)` \|/.exec(line) ?? [];
      return name === undefined || variable === undefined ? [] : [{ name, variable, line }];
    });
    expect(rows.map(({ name, variable }) => [name, variable])).toEqual(settingNames.map((name) => [name, environmentName(name)]));
    for (const { name, line } of rows) {
      const value: unknown = settingDefaults[name as keyof typeof settingDefaults];
      const written = value === undefined ? "not set" : `\`${Array.isArray(value) ? value.join(", ") : String(value)}\``;
      expect(line.split(" | ")[3], `the default of ${name}`).toBe(written);
    }
  });

  it("docs/reference/configuration.md has a row for every setting of the server, in order, with its flag and its default", () => {
    const page = readFileSync(new URL("../../docs/reference/configuration.md", import.meta.url), "utf8");
    const rows = page.split("\n").flatMap((line) => {
      const [, name, flag, value] = /^\| `server\.(\w+)` \| (`--[a-z-]+`|none) \| (`[^`]+`|not set) \|/.exec(line) ?? [];
      return name === undefined ? [] : [[name, flag, value]];
    });
    const command = new Command();
    addServerFlags(command);
    const flags = new Map(command.options.map((option) => [option.attributeName(), option.long]));
    const wanted = Object.keys(serverFields).map((name) => {
      const value: unknown = serverDefaults[name as keyof typeof serverDefaults];
      const flag = flags.get(name);
      return [name, flag === undefined ? "none" : `\`${flag}\``, value === undefined ? "not set" : `\`${String(value)}\``];
    });
    expect(rows).toEqual(wanted);
    expect([...flags.keys()].filter((name) => !Object.hasOwn(serverFields, name))).toEqual([]);
  });

  it("what holds for a server when nothing is said could be written", () =>
    expect(serverSchema.parse(serverDefaults)).toEqual(serverDefaults));

  it("a variable is the setting's name in capitals", () => {
    expect(environmentName("graphOptimization")).toBe("INFERYARD_GRAPH_OPTIMIZATION");
    expect(environmentName("model")).toBe("INFERYARD_MODEL");
  });
});
