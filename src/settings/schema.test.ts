import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { Command } from "commander";
import { settingsPage, withTables } from "../../scripts/generate/settings-tables.ts";
import { addBulkLoadFlags, addPlacementFlags } from "../cli/session.ts";
import { addServerFlags } from "../cli/server-flags.ts";
import { optionTypes } from "../../scripts/generate/types/option-types.ts";
import { schemaTypes } from "../../scripts/generate/types/schema-types.ts";
import { serverSchema } from "./server-schema.ts";
import { serverDefaults, serverOptions } from "./server-options.ts";
import { xlaOptions } from "./xla-schema.ts";
import { settingsJsonSchema, settingsSchema } from "./schema.ts";
import { environmentName, sectionVariable, settingDefaults, settingNames } from "./settings.ts";

describe("what is published of the settings", () => {
  it("schemas/settings.json is the schema of the code: npm run schemas writes it", () => {
    const committed: unknown = JSON.parse(readFileSync(new URL("../../schemas/settings.json", import.meta.url), "utf8"));
    expect(committed).toEqual(settingsJsonSchema());
  });

  it.each([...optionTypes(), ...schemaTypes()])("%s is as npm run schemas writes it", (file, text) =>
    expect(readFileSync(file, "utf8")).toBe(text),
  );

  it("every setting has a type and a sentence of its own in the schema, and an unknown key is refused by it", () => {
    const { properties, additionalProperties } = settingsJsonSchema() as {
      properties: Record<string, { description?: string }>;
      additionalProperties: unknown;
    };
    expect(Object.keys(properties)).toEqual(settingNames);
    expect(new Set(Object.values(properties).map(({ description }) => description)).size).toBe(settingNames.length);
    expect(additionalProperties).toBe(false);
  });

  it("the defaults are settings one could write", () => expect(settingsSchema.parse(settingDefaults)).toEqual(settingDefaults));

  it("the tables of docs/reference/configuration.md are made from the schema, the defaults and the flags: npm run schemas", async () => {
    const page = readFileSync(settingsPage, "utf8");
    expect(page).toBe(await withTables(page));
    const rows = page.split("\n").flatMap((line) => /^\| `([\w.]+)` \| `INFERYARD_/.exec(line)?.[1] ?? []);
    const ofSections = Object.entries({ xla: xlaOptions, server: serverOptions }).flatMap(([section, fields]) =>
      Object.keys(fields).map((name) => `${section}.${name}`),
    );
    expect(rows).toEqual([...settingNames, ...ofSections]);
  });

  it("docs/reference/cli.md names every flag of commands that load a model", () => {
    const page = readFileSync(new URL("../../docs/reference/cli.md", import.meta.url), "utf8").replaceAll(/\s+/g, " ");
    const namesOf = (command: Command): string[] => command.options.map(({ long }) => `\`${long}\``);
    expect(page).toContain(`: ${namesOf(addPlacementFlags(new Command())).join(", ")}. All but \`explain\` and \`show\``);
    expect(namesOf(addBulkLoadFlags(new Command())).slice(-2)).toEqual(["`--offline`", "`--replicas`"]);
  });

  it("docs/reference/cli.md names every flag of serve", () => {
    const page = readFileSync(new URL("../../docs/reference/cli.md", import.meta.url), "utf8");
    const section = page.split("\n## ").find((part) => part.startsWith("serve\n"));
    const flags = addServerFlags(new Command()).options.flatMap(({ long }) => long ?? []);
    expect(flags.filter((flag) => !section?.includes(`\`${flag}`))).toEqual([]);
  });

  it("every flag of serve that is a setting's is one of the section", () => {
    const names = addServerFlags(new Command()).options.map((option) => option.attributeName());
    expect(names.filter((name) => !Object.hasOwn(serverOptions, name))).toEqual([]);
    const without = Object.keys(serverOptions).filter((name) => !names.includes(name));
    expect(without).toEqual(["keys", "models"]); // which fit on no command line
  });

  it("the schema's sentences have no links, which lead nowhere in an editor", () => {
    expect(JSON.stringify(settingsJsonSchema())).not.toMatch(/\]\(/);
  });

  it("what holds for a server when nothing is said could be written", () =>
    expect(serverSchema.parse(serverDefaults)).toEqual(serverDefaults));

  it("a variable is the setting's name in capitals", () => {
    expect(sectionVariable("server", "maxQueue")).toBe("INFERYARD_SERVER_MAX_QUEUE");
    expect(sectionVariable("xla", "buckets.batch")).toBe("INFERYARD_XLA_BUCKETS_BATCH");
    expect(environmentName("graphOptimization")).toBe("INFERYARD_GRAPH_OPTIMIZATION");
    expect(environmentName("model")).toBe("INFERYARD_MODEL");
  });
});
