/** What the commands share: the flags of selection, a runtime made from the effective settings, and a note when loading takes long. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { type Runtime, createRuntime } from "../create-runtime.ts";
import type { RuntimeEvent } from "../runtime/model-runtime.ts";
import { hostNames } from "../hosts/host.ts";
import { policies } from "../runtime/wish.ts";
import { type EffectiveSettings, readSettings } from "../settings/read.ts";
import { type SettingName, settingNames } from "../settings/settings.ts";
import { type Terminal, writeLine } from "./terminal.ts";

/** Flags every command has. */
export interface GlobalFlags {
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly debug?: boolean;
  readonly config?: string;
}

const list = (text: string, before: string[] = []): string[] => [...before, ...text.split(",").map((part) => part.trim())];

function wholeNumber(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1) throw new InvalidArgumentError("It must be a whole number above 0.");
  return value;
}

export const positiveInteger: (text: string) => number = wholeNumber;

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
    .addOption(new Option("--threads <number>", "most threads of one model").argParser(wholeNumber))
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
    .addOption(new Option("--max-memory <size>", "most memory all models may take together, for example 2GB"))
    .addOption(
      new Option("--replicas <number>", 'copies that share the work, or "auto"').argParser((text) =>
        text === "auto" ? text : wholeNumber(text),
      ),
    );
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
}

export async function openSession(
  terminal: Terminal,
  flags: Readonly<Record<string, unknown>>,
  model?: string,
): Promise<Session> {
  const { values, origins } = await effectiveSettings(terminal, flags);
  const { model: defaultModel = "builtin", variant: _variant, batchTokens: _batchTokens, ...settings } = values;
  const { quiet } = flags as GlobalFlags;
  const onEvent = (event: RuntimeEvent): void => {
    if (event.type === "failover" && quiet !== true)
      writeLine(terminal.stderr, `inferyard: ${event.from} failed (${event.reason}); trying the next target`);
  };
  // A default is not passed on: the runtime has it too, and tells what was chosen from what was not.
  const chosen = Object.fromEntries(Object.entries(settings).filter(([name]) => origins[name as SettingName] !== "default"));
  return { runtime: await createRuntime({ ...chosen, onEvent }), settings: values, model: model ?? defaultModel };
}

/** Runs work; when it takes longer than half a second and a person is watching, a line says what is going on, and goes away. */
export async function withNotice<Result>(terminal: Terminal, notice: string, work: Promise<Result>): Promise<Result> {
  if (terminal.stderr.isTTY !== true) return work;
  const started = performance.now();
  const timer = setInterval(() => {
    const seconds = (performance.now() - started) / 1000;
    if (seconds > 0.5) terminal.stderr.write(`\r${notice} ${seconds.toFixed(1)} s`);
  }, 100);
  try {
    return await work;
  } finally {
    clearInterval(timer);
    terminal.stderr.write("\r\u001B[K");
  }
}
