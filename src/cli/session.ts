/** What the commands share: the flags of selection, a runtime made from the effective settings, and a note when loading takes long. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { createRuntime } from "../api/create-runtime.ts";
import type { Runtime } from "../api/runtime.ts";
import type { RuntimeEvent, RuntimeSettings, TextThreadSettings } from "../runtime/options/runtime-settings.ts";
import { hostNames } from "../hosts/host.ts";
import { policies } from "../runtime/selection/constraints.ts";
import { type EffectiveSettings, readSettings } from "../settings/read.ts";
import { type SettingName, settingNames } from "../settings/settings.ts";
import type { PullProgress } from "../models/hub/progress.ts";
import { describeProgress } from "./output/download-progress.ts";
import { openStore } from "./model-store.ts";
import { type Terminal, writeLine } from "./terminal.ts";
import { formatBytes } from "./output/units.ts";

/** Flags every command has. */
export interface GlobalFlags {
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly debug?: boolean;
  readonly config?: string;
}

/** Values separated by commas; a flag given twice adds to the first. */
export const list = (text: string, before: string[] = []): string[] => [...before, ...text.split(",").map((part) => part.trim())];

function parseWholeNumber(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1) throw new InvalidArgumentError("It must be a whole number above 0.");
  return value;
}

export const positiveInteger: (text: string) => number = parseWholeNumber;

export function zeroOrMore(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !Number.isSafeInteger(value) || value < 0)
    throw new InvalidArgumentError("It must be a whole number from 0.");
  return value;
}

export function positiveNumber(text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new InvalidArgumentError("It must be a number above 0.");
  return value;
}

/** Flags that decide which engine runs. Names equal the settings'. */
export function addSelectionFlags(command: Command): Command {
  return command
    .addOption(new Option("--variant <name>", "variant of the model, for example int8"))
    .addOption(new Option("--target <targets>", "the only targets that may run, for example onnx:cpu").argParser(list))
    .addOption(new Option("--prefer <targets>", "targets to try first").argParser(list))
    .addOption(new Option("--exclude <targets>", "targets never to run on").argParser(list))
    .addOption(new Option("--policy <policy>", "how candidates are ordered").choices(policies))
    .addOption(new Option("--priority <backends>", "order of backends, separated by commas").argParser(list));
}

/** Flags of commands that load. */
export function addLoadFlags(command: Command): Command {
  return addSelectionFlags(command)
    .addOption(new Option("--threads <number>", "most threads of one model").argParser(parseWholeNumber))
    .addOption(new Option("--host <host>", "where the model lives").choices(hostNames))
    .addOption(
      new Option("--graph-optimization <level>", "how far an engine may rewrite the graph").choices([
        "disabled",
        "basic",
        "extended",
        "all",
      ]),
    )
    .addOption(new Option("--cpu-nodes <how>", "on other devices: nodes the device cannot run").choices(["refuse", "allow"]))
    .addOption(booleanOption("--memory-pattern <yes>", "may the engine lay out the memory of a run beforehand"))
    .addOption(booleanOption("--memory-arena <yes>", "may the engine keep memory between runs"))
    .addOption(new Option("--max-memory <size>", "most memory all models may take together, for example 2GB"))
    .addOption(
      new Option("--replicas <number>", 'copies that share the work, or "auto"').argParser((text) =>
        text === "auto" ? text : parseWholeNumber(text),
      ),
    )
    .addOption(offlineOption());
}

export function offlineOption(): Option {
  return new Option("--offline", "fetch nothing: a model that is not on this machine is an error");
}

/** A flag that takes "true" or "false", so that either can overrule the settings file. */
function booleanOption(flags: string, description: string): Option {
  return new Option(flags, description).choices(["true", "false"]).argParser((text) => {
    if (text !== "true" && text !== "false") throw new InvalidArgumentError("Allowed choices are true, false.");
    return text === "true";
  });
}

export async function effectiveSettings(
  terminal: Terminal,
  flags: Readonly<Record<string, unknown>>,
): Promise<EffectiveSettings> {
  const { config } = flags as GlobalFlags;
  const names: ReadonlySet<string> = new Set<SettingName>(settingNames);
  return readSettings({
    flags: Object.fromEntries(Object.entries(flags).filter(([name]) => names.has(name))),
    environment: terminal.environment,
    directory: terminal.directory,
    ...(config === undefined ? {} : { file: config }),
  });
}

/** A runtime, and what the settings say of single calls. */
export interface Session {
  readonly runtime: Runtime;
  readonly settings: EffectiveSettings["values"];
  /** The model of the command: given, or set, or builtin. */
  readonly model: string;
  /** What is going on, for `withNotice`: a download while there is one, else the words given. */
  notice(words: string): Notice;
  /** Fetches a model that is not in the store, with a line for those who watch. */
  fetch(reference: string, signal: AbortSignal): Promise<void>;
}

/** What a command adds to the settings. */
export interface SessionExtras {
  /** In place of the settings' own. */
  readonly models?: NonNullable<RuntimeSettings["models"]>;
  /** Rows of requests that overlap share batches. */
  readonly shareBatches?: boolean;
  /** Threads that read long texts. */
  readonly textThreads?: TextThreadSettings;
  readonly onEvent?: (event: RuntimeEvent) => void;
  readonly onBatch?: NonNullable<RuntimeSettings["onBatch"]>;
}

export async function openSession(
  terminal: Terminal,
  flags: Readonly<Record<string, unknown>>,
  model?: string,
  more: SessionExtras = {},
): Promise<Session> {
  const { values, origins } = await effectiveSettings(terminal, flags);
  const { model: defaultModel = "builtin", variant: _variant, batchTokens: _batchTokens, server: _server, ...settings } = values;
  const { quiet } = flags as GlobalFlags;
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
    if (event.type === "failover" && quiet !== true)
      writeLine(terminal.stderr, `inferyard: ${event.from} failed (${event.reason}); trying the next target`);
  };
  // A default is not passed on: the runtime has it too, and tells what was chosen from what was not.
  const chosen = Object.fromEntries(Object.entries(settings).filter(([name]) => origins[name as SettingName] !== "default"));
  const notice =
    (words: string): Notice =>
    (elapsed) =>
      download === undefined ? `${words} ${elapsed}` : describeProgress(download, terminal.stderr.columns);
  const fetch = async (reference: string, signal: AbortSignal): Promise<void> => {
    const { offline } = chosen as { readonly offline?: boolean };
    const pulling = openStore(terminal).pull(reference, { signal, onProgress, ...(offline === undefined ? {} : { offline }) });
    await withNotice(terminal, notice(`fetching ${reference}`), pulling);
  };
  const own = {
    ...(more.models === undefined ? {} : { models: more.models }),
    ...(more.shareBatches === undefined ? {} : { shareBatches: more.shareBatches }),
    ...(more.textThreads === undefined ? {} : { textThreads: more.textThreads }),
    ...(more.onBatch === undefined ? {} : { onBatch: more.onBatch }),
  };
  const runtime = await createRuntime({ ...chosen, ...own, onEvent });
  return { runtime, settings: values, model: model ?? defaultModel, notice, fetch };
}

function clearLine({ stderr }: Terminal): string {
  return stderr.isTTY === true ? "\r\u001B[K" : "";
}

/** What is going on at this moment; `elapsed` is the time since it began, for those who have nothing better to show. */
export type Notice = (elapsed: string) => string;

/** Runs work; when it takes longer than half a second and a person is watching, a line says what is going on, and goes away. */
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
