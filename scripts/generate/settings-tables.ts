/** The tables of docs/reference/configuration.md, made from the schema, the defaults and the flags. `npm run schemas` writes them. */
import { Writable } from "node:stream";
import { Command } from "commander";
import { commands } from "../../src/cli/command-table.ts";
import { buildProgram } from "../../src/cli/main.ts";
import { addServerFlags } from "../../src/cli/server-flags.ts";
import type { DescribedOption } from "../../src/runtime/options/option.ts";
import { serverOptions } from "../../src/settings/server-options.ts";
import { environmentName, sectionVariable, settingOptions } from "../../src/settings/settings.ts";
import { xlaOptions } from "../../src/settings/xla-schema.ts";

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
  return getTable(settingOptions, environmentName, flags);
}

function serverTable(): string {
  return getTable(serverOptions, (name) => sectionVariable("server", name), flagsOf([addServerFlags(new Command())]), "server.");
}

function xlaTable(): string {
  return getTable(xlaOptions, (name) => sectionVariable("xla", name), new Map(), "xla.");
}

function getTable(
  options: Readonly<Record<string, DescribedOption>>,
  variable: (name: string) => string,
  flags: ReadonlyMap<string, string>,
  prefix = "",
): string {
  const rows = Object.entries(options).map(([name, option]) =>
    row(`\`${prefix}${name}\``, `\`${variable(name)}\``, flags.get(name), formatDefault(option), option.description),
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

function formatDefault({ default: value }: DescribedOption): string {
  if (value === undefined) return "not set";
  return `\`${Array.isArray(value) ? value.join(", ") : String(value)}\``;
}
