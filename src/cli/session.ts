/** What commands share: flags, settings, the runtime, and notices while work takes long. */
import type { Command } from "commander";
import type { UserLoadSettings } from "../kernels/native-settings.ts";
import { omitUndefined } from "../contract/checked.ts";
import { createRuntime, type RuntimeConfig } from "../api/create-runtime.ts";
import type { Runtime } from "../api/runtime.ts";
import { loadSettingNames } from "../runtime/options/load-options.ts";
import type { RuntimeEvent } from "../runtime/options/runtime-settings.ts";
import { formatsOfKernels } from "../runtime/selection/kernel-names.ts";
import { refuseUnknownNames } from "../runtime/targets/known-names.ts";
import { foreignVariables } from "../settings/foreign-variables.ts";
import { missingModels } from "../settings/missing-models.ts";
import { type EffectiveSettings, readSettings } from "../settings/read.ts";
import { type SettingName, type Settings, getRuntimeSettings, settingNames, settingOptions } from "../settings/settings.ts";
import type { PullProgress } from "../models/hub/progress.ts";
import { describeProgress } from "./output/download-progress.ts";
import { addOptionFlags } from "./option-flags.ts";
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

/** Adds the flags of settings, which have their names. */
export function addSettingFlags(command: Command, names: readonly SettingName[]): Command {
  return addOptionFlags(command, Object.fromEntries(names.map((name) => [name, settingOptions[name]])));
}

/** Adds the flags of commands that load a model and may load replicas of it for bulk work. */
export function addBulkLoadFlags(command: Command): Command {
  return addSettingFlags(addLoadFlags(command), ["replicas"]);
}

/** Adds the flags of commands that load a model. */
export function addLoadFlags(command: Command): Command {
  return addSettingFlags(addPlacementFlags(command), ["offline"]);
}

/** Adds the flags that decide where a model would run. */
export function addPlacementFlags(command: Command): Command {
  const selection = ["variant", "target", "prefer", "exclude", "gpu", "policy", "priority"] as const;
  return addSettingFlags(command, [...selection, ...loadSettingNames, "host", "library", "maxMemory"]);
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
  const levels: readonly UserLoadSettings[] = [settings.values, ...Object.values(settings.values.models ?? {})];
  const kernels = levels.flatMap((level) => level.kernels ?? []);
  if (kernels.length > 0) await formatsOfKernels(kernels); // throws for an unknown one
  return settings;
}

/** A runtime created from the settings, and the resources of one command. */
export interface CommandSession {
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

/** What a session does besides creating a runtime. */
export interface SessionOptions {
  /**
   * Whether the command reports on the machine and its settings. Such a command prints notes on all environment variables of other runtimes, not only
   * on variables about placement, and on models in the setting `models` that are not on this machine. Default: false.
   */
  readonly isReport?: boolean;
}

/** Creates a runtime from the effective settings. The caller disposes of it. */
export async function openSession(
  terminal: Terminal,
  flags: Readonly<Record<string, unknown>>,
  model?: string,
  { isReport = false }: SessionOptions = {},
): Promise<CommandSession> {
  const { values, configured, ignoredVariables } = await effectiveSettings(terminal, flags);
  const { quiet } = flags as GlobalFlags;
  if (ignoredVariables.length > 0 && quiet !== true)
    writeLine(terminal.stderr, `inferyard: ${describeIgnored(ignoredVariables)}`);
  if (quiet !== true) {
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
    if (event.type === "download") onProgress(event.progress);
    if (event.type === "fallback" && quiet !== true)
      writeLine(terminal.stderr, `${clearLine(terminal)}inferyard: ${describeFallback(event)}`);
    if (event.type === "failover" && quiet !== true)
      writeLine(terminal.stderr, `inferyard: ${event.from} failed (${event.reason}); trying the next target`);
  };
  const notice =
    (words: string): Notice =>
    (elapsed) =>
      download === undefined ? `${words} ${elapsed}` : describeProgress(download, terminal.stderr.columns);
  const fetch = async (reference: string, signal: AbortSignal): Promise<void> => {
    const { offline } = configured;
    const pulling = openStore(terminal).pull(reference, { signal, onProgress, ...omitUndefined({ offline }) });
    await withNotice(terminal, notice(`fetching ${reference}`), pulling);
  };
  const reference = model ?? values.model ?? "builtin";
  // Flags apply to the command's model, which is refused if a flag has no effect on it. For any other model of the session they are defaults.
  const ofModel = Object.fromEntries(
    loadSettingNames.flatMap((name) => (flags[name] === undefined ? [] : [[name, flags[name]]])),
  );
  const models =
    Object.keys(ofModel).length === 0
      ? {}
      : { models: { ...values.models, [reference]: { ...values.models?.[reference], ...ofModel } } };
  // Defaults are not passed on: the runtime has the same ones, and distinguishes configured values from defaults.
  const config: RuntimeConfig = { ...getRuntimeSettings(configured, terminal.directory), ...models };
  const runtime = await createRuntime({ ...config, onEvent });
  return { runtime, settings: values, config, model: reference, notice, fetch };
}

/** Runs work with a session, and disposes of its runtime at the end. */
export async function withSession<Result>(
  terminal: Terminal,
  flags: object,
  model: string | undefined,
  work: (session: CommandSession) => Promise<Result>,
): Promise<Result> {
  const session = await openSession(terminal, { ...flags }, model);
  try {
    return await work(session);
  } finally {
    await session.runtime.dispose();
  }
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
