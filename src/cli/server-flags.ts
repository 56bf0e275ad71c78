/** The flags of `serve`, one for each setting of the section `server` that fits on a command line. */
import type { Command } from "commander";
import type { Option } from "../runtime/options/option.ts";
import type { ServerSection } from "../settings/generated-server-settings.ts";
import { serverOptions } from "../settings/server-options.ts";
import { addOptionFlags, optionsFromFlags } from "./option-flags.ts";

/** Adds the flags of `inferyard serve`, one for each server setting that has a flag. Returns the same command. */
export function addServerFlags(command: Command): Command {
  const rows = Object.entries<Option>(serverOptions).map(([name, row]) => [name, withDefault(row)]);
  return addOptionFlags(command, Object.fromEntries(rows));
}

/** The server settings that flags set. */
export function readServerFlags(flags: object): ServerSection {
  return optionsFromFlags<ServerSection>(serverOptions, flags);
}

/** The option with its default in the help text. */
function withDefault(option: Option): Option {
  const { type, flag, default: value } = option;
  if (flag === undefined || value === undefined || type.kind === "boolean") return option;
  const isMebibytes = type.kind === "integer" && type.unit === "bytes" && Number(value) > 0;
  const shown = isMebibytes ? `${Number(value) / 2 ** 20} MiB` : String(value);
  return { ...option, flag: [flag[0], `${flag[1]} (default: ${shown})`] };
}
