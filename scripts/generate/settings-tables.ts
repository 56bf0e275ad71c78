/** The tables of docs/reference/configuration.md, made from the schema, the defaults and the flags. `npm run schemas` writes them. */
import { Writable } from "node:stream";
import { Command } from "commander";
import { commands } from "../../src/cli/command-table.ts";
import { buildProgram } from "../../src/cli/main.ts";
import { addServerFlags } from "../../src/cli/serving/server-flags.ts";
import { settingFields } from "../../src/settings/schema.ts";
import { serverFields } from "../../src/settings/server-schema.ts";
import { serverDefaults } from "../../src/settings/server-section.ts";
import { environmentName, sectionVariable, settingDefaults } from "../../src/settings/settings.ts";
import { xlaFields } from "../../src/settings/xla-schema.ts";
import { defaultProgramCacheBytes } from "../../src/backends/xla/xla-settings.ts";
import { defaultBuckets } from "../../src/backends/xla/buckets.ts";

export const settingsPage: URL = new URL("../../docs/reference/configuration.md", import.meta.url);

/** The page with all tables written anew. */
export async function withTables(page: string): Promise<string> {
  const tables = { settings: await settingsTable(), xla: xlaTable(), server: serverTable() };
  return Object.entries(tables).reduce((text, [name, table]) => withTable(text, name, table), page);
}

function withTable(page: string, name: string, table: string): string {
  const [begin, end] = [`<!-- table ${name}: npm run schemas -->\n`, `<!-- end of table ${name} -->\n`];
  const [start, stop] = [page.indexOf(begin), page.indexOf(end)];
  if (start === -1 || stop < start) throw new Error(`the page has no place for the table ${name}`);
  return page.slice(0, start + begin.length) + table + page.slice(stop);
}

async function settingsTable(): Promise<string> {
  const silent = new Writable();
  const signal = new AbortController().signal;
  const terminal = { stdout: silent, stderr: silent, stdin: process.stdin, environment: {}, directory: ".", signal };
  const program = await buildProgram(terminal, commands);
  const flags = flagsOf(program.commands);
  const rows = Object.entries(settingFields).map(([name, { description = "" }]) =>
    row(`\`${name}\``, `\`${environmentName(name)}\``, flags.get(name), valueOf(settingDefaults, name), description),
  );
  return [heading, ...rows].join("");
}

function serverTable(): string {
  const flags = flagsOf([addServerFlags(new Command())]);
  const rows = Object.entries(serverFields).map(([name, { description = "" }]) =>
    row(
      `\`server.${name}\``,
      `\`${sectionVariable("server", name)}\``,
      flags.get(name),
      valueOf(serverDefaults, name),
      description,
    ),
  );
  return [heading, ...rows].join("");
}

function xlaTable(): string {
  const buckets = Object.entries(defaultBuckets).map(([axis, sizes]) => [`buckets.${axis}`, sizes]);
  const defaults = { ...Object.fromEntries(buckets), programCacheBytes: defaultProgramCacheBytes };
  const rows = Object.entries(xlaFields).map(([name, { description = "" }]) =>
    row(`\`xla.${name}\``, `\`${sectionVariable("xla", name)}\``, undefined, valueOf(defaults, name), description),
  );
  return [heading, ...rows].join("");
}

const heading = `${row("setting", "environment", "flag", "default", "what changes")}|---|---|---|---|---|\n`;

function row(name: string, variable: string, flag: string | undefined, value: string, words: string): string {
  return `| ${name} | ${variable} | ${flag ?? "none"} | ${value} | ${words} |\n`;
}

/** By the setting's name. */
function flagsOf(commands: readonly Command[]): ReadonlyMap<string, string> {
  // Of --x and --no-x, the last one stays.
  const options = commands
    .flatMap((command) => command.options)
    .toSorted((left, right) => Number(right.negate) - Number(left.negate));
  return new Map(options.map((option) => [option.attributeName(), `\`${option.long}\``]));
}

function valueOf(defaults: object, name: string): string {
  const value: unknown = Object.entries(defaults).find(([other]) => other === name)?.[1];
  if (value === undefined) return "not set";
  return `\`${Array.isArray(value) ? value.join(", ") : String(value)}\``;
}
