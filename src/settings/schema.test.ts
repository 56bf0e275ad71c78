import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
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

  it("a variable is the setting's name in capitals", () => {
    expect(environmentName("graphOptimization")).toBe("INFERYARD_GRAPH_OPTIMIZATION");
    expect(environmentName("model")).toBe("INFERYARD_MODEL");
  });
});
