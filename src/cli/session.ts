/** What commands share: flags, settings, the runtime, and notices while work takes long. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { resolve } from "node:path";
import type { LoadSettings, LoraAdapter } from "../contract/backend.ts";
import { omitUndefined } from "../contract/checked.ts";
import { createRuntime, type RuntimeConfig } from "../api/create-runtime.ts";
import { prepareRuntime } from "../api/prepare-runtime.ts";
import type { Runtime } from "../api/runtime.ts";
import type {
  ConstraintThreadSettings,
  RuntimeEvent,
  RuntimeSettings,
  TextThreadSettings,
} from "../runtime/options/runtime-settings.ts";
import { hostNames } from "../hosts/host-name.ts";
import { parseAdapter } from "../runtime/options/adapters.ts";
import { loadSettingNames, loadSettings } from "../runtime/options/load-options.ts";
import { formatsOfKernels } from "../runtime/selection/kernel-names.ts";
import { parseGpuMode, gpuModes, policies } from "../runtime/targets/constraints.ts";
import { refuseUnknownNames } from "../runtime/targets/known-names.ts";
import { foreignVariables } from "../settings/foreign-variables.ts";
import { missingModels } from "../settings/missing-models.ts";
import { type EffectiveSettings, readSettings } from "../settings/read.ts";
import { type SettingName, type Settings, flagName, settingNames } from "../settings/settings.ts";
import type { PullProgress } from "../models/hub/progress.ts";
import { describeProgress } from "./output/download-progress.ts";
import { printable } from "./output/table.ts";
import { openStore } from "./model-store.ts";
import { type Terminal, writeLine } from "./terminal.ts";
import { formatBytes } from "./output/units.ts";

/** Flags of every command. */
export interface GlobalFlags {
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly config?: string;
}

/** Parses values separated by commas; a flag given twice accumulates. */
export const list = (text: string, before: string[] = []): string[] => [...before, ...text.split(",").map((part) => part.trim())];

function parseWholeNumber(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1) throw new InvalidArgumentError("It must be a whole number above 0.");
  return value;
}

/** Parses an integer above 0. */
export const positiveInteger: (text: string) => number = parseWholeNumber;

/** Parses an integer from 0. */
export function zeroOrMore(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !Number.isSafeInteger(value) || value < 0)
    throw new InvalidArgumentError("It must be a whole number from 0.");
  return value;
}

/** Parses a number above 0. */
export function positiveNumber(text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new InvalidArgumentError("It must be a number above 0.");
  return value;
}

/** Adds the flags that select the target and the variant, named as the settings are. */
export function addSelectionFlags(command: Command): Command {
  return command
    .addOption(new Option("--variant <name>", "variant of the model, for example int8"))
    .addOption(new Option("--target <targets>", "the only targets that may run, for example onnx:cpu").argParser(list))
    .addOption(new Option("--prefer <targets>", "targets to try first").argParser(list))
    .addOption(new Option("--exclude <targets>", "targets never to run on").argParser(list))
    .addOption(gpuOption())
    .addOption(new Option("--policy <policy>", "how candidates are ordered").choices(policies))
    .addOption(new Option("--priority <backends>", "order of backends, separated by commas").argParser(list));
}

function gpuOption(): Option {
  return new Option("--gpu <mode>", "use of accelerators: auto, off, or the device to use")
    .choices(gpuModes)
    .argParser((text) => {
      const mode = gpuModes.find((each) => each === parseGpuMode(text));
      if (mode === undefined) throw new InvalidArgumentError(`Allowed choices are ${gpuModes.join(", ")}.`);
      return mode;
    });
}

/** Adds the flags of commands that load a model and may load replicas of it for bulk work. */
export function addBulkLoadFlags(command: Command): Command {
  return addLoadFlags(command).addOption(
    new Option("--replicas <number>", 'number of replicas of the model, or "auto"').argParser((text) =>
      text === "auto" ? text : parseWholeNumber(text),
    ),
  );
}

/** Adds the flags of commands that load a model. */
export function addLoadFlags(command: Command): Command {
  return addPlacementFlags(command).addOption(offlineOption());
}

/** Adds the flags that decide where a model would run. */
export function addPlacementFlags(command: Command): Command {
  addSelectionFlags(command);
  for (const name of loadSettingNames) command.addOption(loadSettingFlag(name));
  return command
    .addOption(new Option("--host <host>", "where the model runs").choices(hostNames))
    .addOption(libraryOption())
    .addOption(new Option("--max-memory <size>", "maximum memory of all models together, for example 2GB"));
}

/** The command-line flag for the setting `library`. Commands that load no model have it too. */
export function libraryOption(): Option {
  return new Option("--library <path>", "llama.cpp library of your own, for the target library");
}

function loadSettingFlag(name: keyof LoadSettings): Option {
  const { flag, ...option } = loadSettings[name];
  const flags = `${flagName(name)} <${flag.value}>`;
  switch (option.type) {
    case "positive-integer":
      return new Option(flags, flag.help).argParser(parseWholeNumber);
    case "boolean":
      return booleanOption(flags, flag.help);
    case "adapters":
      return new Option(flags, flag.help).argParser((text, before: LoraAdapter[] | undefined) => [
        ...(before ?? []),
        ...list(text).map(parseAdapter),
      ]);
    case "texts":
      return new Option(flags, flag.help).argParser((text, before: string[] | undefined) => [...(before ?? []), ...list(text)]);
    case "choice":
      return new Option(flags, flag.help).choices(Object.keys(option.choices));
  }
}

/** The flag that disables downloads. */
export function offlineOption(): Option {
  return new Option("--offline", "disable downloads: a model that is not on this machine is an error");
}

/** A flag with the values "true" and "false", so that either can override the settings file. */
function booleanOption(flags: string, description: string): Option {
  return new Option(flags, description).choices(["true", "false"]).argParser((text) => {
    if (text !== "true" && text !== "false") throw new InvalidArgumentError("Allowed choices are true, false.");
    return text === "true";
  });
}

/** The settings in effect for these flags. */
export async function effectiveSettings(
  terminal: Terminal,
  flags: Readonly<Record<string, unknown>>,
): Promise<EffectiveSettings> {
  const { config } = flags as GlobalFlags;
  const names: ReadonlySet<string> = new Set<SettingName>(settingNames);
  const given: Settings = Object.fromEntries(Object.entries(flags).filter(([name]) => names.has(name)));
  refuseUnknownNames(given, []);
  const settings = await readSettings({
    flags: given,
    environment: terminal.environment,
    directory: terminal.directory,
    ...omitUndefined({ file: config }),
  });
  const levels: readonly LoadSettings[] = [settings.values, ...Object.values(settings.values.models ?? {})];
  const kernels = levels.flatMap((level) => level.kernels ?? []);
  if (kernels.length > 0) await formatsOfKernels(kernels); // throws for an unknown one
  return settings;
}

/** A runtime created from the settings, and the resources of one command. */
export interface Session {
  readonly runtime: Runtime;
  readonly settings: EffectiveSettings["values"];
  /** Settings of the runtime that were set by flags, environment or file; defaults are left out. */
  readonly config: RuntimeConfig;
  /** Model of the command: the argument, else the setting, else builtin. */
  readonly model: string;
  /** The progress of a download while there is one, else these words, for `withNotice`. */
  notice(words: string): Notice;
  /** Downloads a model into the store and shows the progress. */
  fetch(reference: string, signal: AbortSignal): Promise<void>;
}

/** Options of the runtime that are not settings. */
export interface SessionExtras {
  /** Replaces the setting `models`. */
  readonly models?: NonNullable<RuntimeSettings["models"]>;
  /** Whether rows of concurrent requests share batches. */
  readonly shareBatches?: boolean;
  /** Threads that tokenize long texts. */
  readonly textThreads?: TextThreadSettings;
  /** Threads that compile constraints. */
  readonly constraintThreads?: ConstraintThreadSettings;
  /**
   * Whether the command reports on the machine and its settings. Such a command prints notes on all environment variables of other runtimes, not only
   * on variables about placement, and on models in the setting `models` that are not on this machine. Default: false.
   */
  readonly isReport?: boolean;
  readonly onEvent?: (event: RuntimeEvent) => void;
  readonly onBatch?: NonNullable<RuntimeSettings["onBatch"]>;
  /** Whether models that the settings name for preloading are loaded before the session opens. Default: true. */
  readonly preloads?: boolean;
}

/** Creates a runtime from the effective settings. The caller disposes of it. */
export async function openSession(
  terminal: Terminal,
  flags: Readonly<Record<string, unknown>>,
  model?: string,
  more: SessionExtras = {},
): Promise<Session> {
  const { values, origins, ignoredVariables } = await effectiveSettings(terminal, flags);
  const { model: defaultModel = "builtin", variant: _variant, batchTokens: _batchTokens, server: _server, ...settings } = values;
  const { quiet } = flags as GlobalFlags;
  if (ignoredVariables.length > 0 && quiet !== true)
    writeLine(terminal.stderr, `inferyard: ${describeIgnored(ignoredVariables)}`);
  if (quiet !== true) {
    const isReport = more.isReport === true;
    const variables = foreignVariables(terminal.environment).filter((each) => isReport || each.isPlacement === true);
    for (const { name, note } of [...variables, ...(isReport ? await missingModels(values) : [])])
      writeLine(terminal.stderr, `inferyard: ${name} ${note}`);
  }
  let download: PullProgress | undefined;
  const onProgress = (progress: PullProgress): void => {
    const { stage, reference, bytes } = progress;
    download = stage === "done" ? undefined : progress;
    if (stage === "done" && quiet !== true)
      writeLine(terminal.stderr, `${clearLine(terminal)}inferyard: ${reference} is in the store now (${formatBytes(bytes)})`);
  };
  const onEvent = (event: RuntimeEvent): void => {
    more.onEvent?.(event);
    if (event.type === "download") onProgress(event.progress);
    if (event.type === "fallback" && quiet !== true)
      writeLine(terminal.stderr, `${clearLine(terminal)}inferyard: ${describeFallback(event)}`);
    if (event.type === "failover" && quiet !== true)
      writeLine(terminal.stderr, `inferyard: ${event.from} failed (${event.reason}); trying the next target`);
  };
  // Defaults are not passed on: the runtime has the same ones, and distinguishes configured values from defaults.
  const chosen = Object.fromEntries(Object.entries(settings).filter(([name]) => origins[name as SettingName] !== "default"));
  const notice =
    (words: string): Notice =>
    (elapsed) =>
      download === undefined ? `${words} ${elapsed}` : describeProgress(download, terminal.stderr.columns);
  const fetch = async (reference: string, signal: AbortSignal): Promise<void> => {
    const { offline } = chosen as { readonly offline?: boolean };
    const pulling = openStore(terminal).pull(reference, { signal, onProgress, ...omitUndefined({ offline }) });
    await withNotice(terminal, notice(`fetching ${reference}`), pulling);
  };
  const own = {
    ...omitUndefined({
      models: more.models,
      shareBatches: more.shareBatches,
      textThreads: more.textThreads,
      constraintThreads: more.constraintThreads,
      onBatch: more.onBatch,
    }),
  };
  const reference = model ?? defaultModel;
  // Flags apply to the command's model, which is refused if a flag has no effect on it. For any other model of the session they are defaults.
  const ofModel = Object.fromEntries(
    loadSettingNames.flatMap((name) => (flags[name] === undefined ? [] : [[name, flags[name]]])),
  );
  const models =
    more.models !== undefined || Object.keys(ofModel).length === 0
      ? {}
      : { models: { ...values.models, [reference]: { ...values.models?.[reference], ...ofModel } } };
  const { library, xla } = values;
  const absolute = (path: string): string => resolve(terminal.directory, path);
  const paths = {
    ...(library === undefined ? {} : { library: absolute(library) }),
    ...(xla?.plugin === undefined ? {} : { xla: { ...xla, plugin: absolute(xla.plugin) } }),
  };
  const config: RuntimeConfig = { ...chosen, ...paths, ...models };
  const create = more.preloads === false ? prepareRuntime : createRuntime;
  const runtime = await create({ ...config, ...own, onEvent });
  return { runtime, settings: values, config, model: reference, notice, fetch };
}

/** Maximum length of a reason in a note, in columns. */
const maxReasonColumns = 300;

/** A note of one line that a fallback target is used. Line breaks in the engine's message are removed. */
function describeFallback({ from, to, reason }: Extract<RuntimeEvent, { type: "fallback" }>): string {
  return `${to} is used, and not ${from}: ${printable(reason, maxReasonColumns)}`;
}

/** One line on variables that a container platform set for a Service called inferyard. */
function describeIgnored(variables: readonly string[]): string {
  return `ignoring ${variables.length} variables of a Service, which are no settings: ${variables.join(", ")}`;
}

function clearLine({ stderr }: Terminal): string {
  return stderr.isTTY === true ? "\r\u001B[K" : "";
}

/** The text to show now; `elapsed` is the time since the work began, for notices without a better progress. */
export type Notice = (elapsed: string) => string;

/** Awaits work. On a terminal, shows a line after half a second, and clears it at the end. */
export async function withNotice<Result>(terminal: Terminal, notice: string | Notice, work: Promise<Result>): Promise<Result> {
  if (terminal.stderr.isTTY !== true) return work;
  const started = performance.now();
  const timer = setInterval(() => {
    const seconds = (performance.now() - started) / 1000;
    const elapsed = `${seconds.toFixed(1)} s`;
    const text = typeof notice === "string" ? `${notice} ${elapsed}` : notice(elapsed);
    if (seconds > 0.5) terminal.stderr.write(`\r\u001B[K${text}`);
  }, 100);
  try {
    return await work;
  } finally {
    clearInterval(timer);
    terminal.stderr.write("\r\u001B[K");
  }
}
