/** TypeScript types of options, made from their tables: one interface for each, whose members have the descriptions. `npm run schemas` writes them. */
import { type DescribedOption, type OptionType, getDefaults } from "../../../src/runtime/options/option.ts";
import { runtimeOptions } from "../../../src/runtime/options/runtime-options.ts";
import { serverOptions } from "../../../src/settings/server-options.ts";

const types = new URL("../../../src/", import.meta.url);

/** The generated files with their texts. */
export function optionTypes(): readonly (readonly [file: URL, text: string])[] {
  return [
    [new URL("runtime/options/generated-runtime-options.ts", types), runtimeTypes()],
    [new URL("settings/generated-server-settings.ts", types), serverTypes()],
  ];
}

const header = "/** Written by `npm run schemas`; the table of options beside it is the source. */\n";

function runtimeTypes(): string {
  return `${header}
/** Settings of a runtime that inferyard.yaml has, too. */
${getInterface("RuntimeOptions", Object.entries(runtimeOptions))}
${getDefaultsType("RuntimeDefaults", "RuntimeOptions", runtimeOptions)}`;
}

function serverTypes(): string {
  const rows = Object.entries(serverOptions);
  const ofPart = (part: string): (readonly [string, DescribedOption])[] =>
    rows.filter(([, row]) => (row.part ?? "handler") === part);
  return `${header}import type { ServerKey, ServerModel } from "./server-maps.ts";

/** Settings of the handler of requests. */
${getInterface("HandlerSettings", ofPart("handler"))}
/** Where the server listens, and the limits on its connections. */
${getInterface("SocketSettings", ofPart("socket"))}
/** Settings of the program that runs the server. */
${getInterface("ServerProgramSettings", ofPart("program"))}
/** The section \`server\` of inferyard.yaml. */
export interface ServerSection extends HandlerSettings, SocketSettings, ServerProgramSettings {}

${getDefaultsType("ServerDefaults", "ServerSection", serverOptions)}`;
}

function getDefaultsType(name: string, base: string, rows: Readonly<Record<string, DescribedOption>>): string {
  const names = Object.keys(getDefaults(rows)).map((option) => `\n    | "${option}"`);
  return `/** Those that have a default. */
export type ${name} = Required<
  Pick<
    ${base},${names.join("")}
  >
>;\n`;
}

function getInterface(name: string, rows: readonly (readonly [string, DescribedOption])[]): string {
  const members = rows.map(([member, { type, description, default: value }]) => {
    const sentence = value === undefined ? "" : ` Default: ${JSON.stringify(value)}.`;
    return `  /** ${withoutLinks(description)}${sentence} */\n  readonly ${member}?: ${getType(type)};\n`;
  });
  return `export interface ${name} {\n${members.join("")}}\n`;
}

/** Links of the page lead nowhere in an editor. */
function withoutLinks(markdown: string): string {
  return markdown.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, "$1");
}

function getType(type: OptionType): string {
  switch (type.kind) {
    case "boolean":
      return "boolean";
    case "choice":
      return type.values.map((value) => JSON.stringify(value)).join(" | ");
    case "integer":
      return type.word === undefined ? "number" : `number | ${JSON.stringify(type.word)}`;
    case "number":
      return "number";
    case "name":
    case "text":
    case "path":
      return "string";
    case "list":
    case "texts":
    case "strings":
      return "readonly string[]";
    case "integers":
      return "readonly number[]";
    case "duration":
    case "size":
      return "number | string";
    case "targets":
      return "string | readonly string[]";
    case "adapters":
      return "readonly LoraAdapter[]";
    case "unchecked":
      return type.typescript ?? "unknown";
    default:
      return type satisfies never;
  }
}
