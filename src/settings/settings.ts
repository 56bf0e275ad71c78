/** All settings. Each has one name in inferyard.yaml, in the environment (INFERYARD_ and capitals) and as a flag. */
import { resolve } from "node:path";
import type { XlaSettings } from "../backends/xla/index.ts";
import type { UserLoadSettings } from "../kernels/native-settings.ts";
import { omitUndefined } from "../contract/checked.ts";
import type { RuntimeOptions } from "../runtime/options/generated-runtime-options.ts";
import { loadSettings } from "../runtime/options/load-options.ts";
import { type DescribedOption, getDefaults, positiveInteger, textOption, unchecked } from "../runtime/options/option.ts";
import { constraintOptions, runtimeOptions } from "../runtime/options/runtime-options.ts";
import type { ConstraintOptions } from "../runtime/targets/constraints.ts";
import type { ServerSection } from "./generated-server-settings.ts";

/** All settings: of a runtime, of its backends and of the server, and defaults of flags. */
export interface Settings extends ConstraintOptions, UserLoadSettings, RuntimeOptions {
  readonly models?: Readonly<Record<string, ConstraintOptions & UserLoadSettings>>;
  readonly model?: string;
  readonly variant?: string;
  readonly library?: string;
  readonly xla?: XlaSettings;
  readonly batchTokens?: number;
  readonly server?: ServerSection;
}

/** Name of a setting. */
export type SettingName = keyof Settings;

const { host, replicas, ...otherRuntimeOptions } = runtimeOptions;

/** All settings, in the order of the documentation. */
export const settingOptions: Readonly<Record<SettingName, DescribedOption>> = {
  model: {
    type: textOption,
    default: "builtin",
    description:
      "Model of commands that name none: any [reference](../guide/models.md); a path is relative to the current folder.",
  },
  variant: {
    type: textOption,
    flag: ["--variant <name>", "variant of the model, for example int8"],
    description: "Variant of the model, for example `int8`. Not set: the first variant that the chosen backend can run.",
  },
  ...constraintOptions,
  models: {
    type: unchecked,
    description:
      "`policy`, `priority`, `prefer`, `target`, `exclude`, `gpu` and the options of loading (`threads` to `adapters`) for single models, by reference (every spelling of a path means the same model). A map, which only the file can have.",
  },
  host,
  library: {
    type: { kind: "path" },
    flag: ["--library <path>", "llama.cpp library of your own, for the target library"],
    description:
      "Path of a [llama.cpp library of your own](../guide/own-library.md), with which the target `library` runs GGUF models; a relative path is relative to the current folder. Not set: the first that the environment variable `LLAMA_CPP_DIR` leads to.",
  },
  xla: {
    type: unchecked,
    description:
      "Settings of the backend [`xla`](../guide/xla.md), [listed below](#the-section-xla). The file has them as a map, the environment one by one.",
  },
  ...loadSettings,
  replicas,
  batchTokens: {
    type: positiveInteger,
    default: 512,
    description:
      "Maximum number of tokens of a batch, padding included. Larger batches take more memory; smaller ones run more often.",
  },
  ...otherRuntimeOptions,
  server: {
    type: unchecked,
    description:
      "Settings of [`serve`](../guide/serving.md), [listed below](#the-section-server). The file has them as a map, the environment one by one; other commands ignore them.",
  },
};

/** Names of all settings, in the order of the documentation. */
export const settingNames: readonly SettingName[] = Object.keys(settingOptions) as SettingName[];

/** Defaults that depend neither on the machine nor on the model. */
export const settingDefaults: Settings = getDefaults(settingOptions);

/**
 * The settings of a runtime and its backends among them. `directory`: what relative paths are relative to.
 */
export function getRuntimeSettings(
  settings: Settings,
  directory: string,
): Omit<Settings, "model" | "variant" | "batchTokens" | "server"> {
  const { model: _model, variant: _variant, batchTokens: _batchTokens, server: _server, library, xla, ...others } = settings;
  const absolute = (path: string | undefined): string | undefined => (path === undefined ? undefined : resolve(directory, path));
  const ofXla = xla && omitUndefined({ ...xla, plugin: absolute(xla.plugin) });
  return omitUndefined({ ...others, library: absolute(library), xla: ofXla });
}

/** The flag of a setting: keepAlive is --keep-alive. Not every setting has one. */
export function flagName(name: string): string {
  return `--${name.replaceAll(/[A-Z]/g, (capital) => `-${capital.toLowerCase()}`)}`;
}

/** The environment variable of a setting: keepAlive is INFERYARD_KEEP_ALIVE. */
export function environmentName(name: string): string {
  return `INFERYARD_${name.replaceAll(/[A-Z]/g, (capital) => `_${capital}`).toUpperCase()}`;
}

/** Settings that are sections: maps in the file, whose settings have a variable each, and are merged one by one. */
export type SectionName = "xla" | "server";

/** Names of all sections. */
export const settingsSectionNames: readonly SectionName[] = ["xla", "server"];

/** The environment variable of a setting of a section: maxQueue of `server` is INFERYARD_SERVER_MAX_QUEUE, buckets.batch of `xla` INFERYARD_XLA_BUCKETS_BATCH. */
export function sectionVariable(section: SectionName, name: string): string {
  return environmentName(`${section}_${name.replaceAll(".", "_")}`);
}
