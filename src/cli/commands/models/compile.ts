import { type Command, InvalidArgumentError, Option } from "commander";
import { omitUndefined } from "../../../contract/checked.ts";
import { defaultProgramCacheBytes } from "../../../backends/xla/xla-settings.ts";
import { InferyardError, invalidInput } from "../../../contract/errors.ts";
import type { CompiledShape } from "../../compiling/compile-model.ts";
import type { CompiledStep } from "../../compiling/program-watch.ts";
import { usualKind } from "../../../models/language-tasks.ts";
import type { Manifest } from "../../../models/manifest.ts";
import { formatTable, printable } from "../../output/table.ts";
import { formatBytes, formatMilliseconds, plural } from "../../output/units.ts";
import { parsePositiveInteger } from "../../option-flags.ts";
import { addLoadFlags, effectiveSettings, withNotice, withSession } from "../../session.ts";
import { type Terminal, writeAll, writeLine } from "../../terminal.ts";
import { localTime } from "../store/list.ts";

interface CompileFlags {
  readonly shapes?: readonly CompiledShape[];
  readonly context?: number;
  readonly sequences?: number;
  readonly target?: readonly string[];
  readonly list?: boolean;
  readonly remove?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

/** Defines the command `compile`. */
export function defineCompile(command: Command, terminal: Terminal): void {
  command
    .argument("[model]", "model reference")
    .addOption(new Option("--shapes <shapes>", "rows x tokens of texts, for example 1x16,32x128").argParser(shapes))
    .addOption(new Option("--context <tokens>", "maximum tokens of a text of a language model").argParser(parsePositiveInteger))
    .addOption(new Option("--sequences <number>", "texts that a language model writes at once").argParser(parsePositiveInteger))
    .addOption(new Option("--list", "list the compiled programs on this machine").conflicts(["shapes", "context", "sequences"]))
    .addOption(
      new Option("--remove <what>", "remove a program by its key, those of a model, or all").conflicts([
        "list",
        "shapes",
        "context",
        "sequences",
      ]),
    );
  addLoadFlags(command).action(async (model: string | undefined, flags: CompileFlags) => {
    if (flags.list === true) return await list(terminal, model, flags);
    if (flags.remove !== undefined) return await remove(terminal, model, flags.remove, flags);
    if (model === undefined) throw invalidInput("no model is named", "inferyard compile MODEL, --list or --remove");
    await compile(terminal, model, flags);
  });
}

function shapes(text: string, before: readonly CompiledShape[] = []): readonly CompiledShape[] {
  return [
    ...before,
    ...text.split(",").map((part) => {
      const [, batch, sequence] = /^\s*(\d{1,9})(?:x(\d{1,9}))?\s*$/i.exec(part) ?? [];
      if (batch === undefined || Number(batch) < 1 || (sequence !== undefined && Number(sequence) < 1))
        throw new InvalidArgumentError("Shapes are rows x tokens, for example 1x16,32x128.");
      return { batch: Number(batch), ...(sequence === undefined ? {} : { sequence: Number(sequence) }) };
    }),
  ];
}

/** Backends that keep compiled programs on disk. */
const keepingBackends = ["xla"];

async function compile(terminal: Terminal, model: string, flags: CompileFlags): Promise<void> {
  const { target = keepingBackends, context, sequences, shapes: wanted, json, quiet } = flags;
  refuseOthers(target);
  // Imported on demand: --help needs none of it.
  const [{ plannedRuns }, { ProgramWatch }, { programAsJson }, { openProgramFolder }] = await Promise.all([
    import("../../compiling/compile-model.ts"),
    import("../../compiling/program-watch.ts"),
    import("../../compiling/stored-programs.ts"),
    import("../../../backends/xla/program-cache/program-folder.ts"),
  ]);
  await withSession(terminal, { ...flags, target }, model, async (session) => {
    const { runtime, notice, settings } = session;
    const folder = await openProgramFolder({ maxBytes: settings.xla?.programCacheBytes });
    if (folder.problem !== undefined) throw notKept(folder.path, folder.problem);
    const { signal } = terminal;
    const options = { signal, ...omitUndefined({ variant: settings.variant }) };
    const kind = usualKind(await withNotice(terminal, notice(`reading ${model}`), runtime.manifest(model, options)));
    const watch = new ProgramWatch(folder);
    const loading = runtime.load(model, { ...options, ...(kind === "language" ? { kind } : {}) });
    const handle = await withNotice(terminal, notice(`loading ${model}`), loading);
    const runs = plannedRuns(handle, { shapes: wanted, context, sequences, signal });
    const steps: CompiledStep[] = [watch.step("load", handle.programs)];
    for (const [index, { shape, run }] of runs.entries()) {
      await withNotice(terminal, notice(`compiling ${shape} (${index + 1} of ${runs.length})`), run());
      steps.push(watch.step(shape, handle.programs));
    }
    const lost = steps.find(({ compiled, programs }) => compiled > 0 && programs.length === 0);
    if (lost !== undefined) throw notKept(folder.path, "its disk is full, or it can only be read");
    const { target: used } = handle;
    if (json === true) {
      const reports = steps.map((step) => ({ ...step, programs: step.programs.map(programAsJson) }));
      return await writeAll(terminal.stdout, `${JSON.stringify({ model, target: used, folder: folder.path, steps: reports })}\n`);
    }
    writeLine(terminal.stdout, `${model} on ${used}`);
    writeLine(terminal.stdout, formatTable(getRows(steps), ["shape", "programs", "inputs"]));
    if (quiet !== true) writeLine(terminal.stderr, `kept in ${folder.path} · inferyard compile --list`);
  });
}

/** Throws INPUT_INVALID for targets whose backends keep no compiled programs. */
function refuseOthers(targets: readonly string[]): void {
  const other = targets.find((target) => !keepingBackends.includes(target.split(":")[0] ?? ""));
  if (other === undefined) return;
  throw invalidInput(
    `${other} keeps no compiled programs on disk, so there is nothing to compile ahead of time`,
    "compile for xla; native and wasm generate their code in a fraction of a second when a model is loaded, and the other engines keep their own",
  );
}

function notKept(path: string, reason: string): InferyardError {
  return new InferyardError("OUTPUT_FAILED", `compiled programs cannot be kept in ${path}: ${reason}`, {
    remedy: "make room, check the permissions, or set INFERYARD_HOME to a folder elsewhere",
  });
}

/** A row for each run; the first one, of the load, only if it needed a program. */
function getRows([load, ...runs]: readonly CompiledStep[]): readonly (readonly string[])[] {
  const isShown = load !== undefined && load.compiled + load.cached > 0;
  return [...(isShown ? [load] : []), ...runs].map(getRow);
}

function getRow({ shape, compiled, compileMs, cached, programs }: CompiledStep): readonly string[] {
  const parts = [
    ...(compiled === 0 ? [] : [`${compiled} compiled in ${formatMilliseconds(compileMs)}`]),
    ...(cached === 0 ? [] : [`${cached} from the cache`]),
  ];
  const inputs = programs.map(({ description }) => description?.inputs.join(", ") ?? "").join("; ");
  return [shape, parts.length === 0 ? "as above" : parts.join(", "), printable(inputs, 100)];
}

async function list(terminal: Terminal, model: string | undefined, flags: CompileFlags): Promise<void> {
  if (model !== undefined) throw invalidInput("--list shows all programs", "leave the model out");
  const { existingFolder, formatPrograms, programsAsJson } = await import("../../compiling/stored-programs.ts");
  const folder = existingFolder();
  const { values } = await effectiveSettings(terminal, flags as Readonly<Record<string, unknown>>);
  const maxBytes = values.xla?.programCacheBytes ?? defaultProgramCacheBytes;
  const text =
    flags.json === true ? JSON.stringify(programsAsJson(folder, maxBytes)) : formatPrograms(folder, maxBytes, localTime);
  await writeAll(terminal.stdout, `${text}\n`);
}

async function remove(terminal: Terminal, model: string | undefined, what: string, flags: CompileFlags): Promise<void> {
  if (model !== undefined) throw invalidInput("--remove names what is removed", "write --remove MODEL alone");
  const { getProgramBytes, existingFolder, programAsJson, removePrograms } = await import("../../compiling/stored-programs.ts");
  const folder = existingFolder();
  const removed = await removePrograms(folder, what, terminal.directory, (name) => getManifest(terminal, name, flags));
  const text = `${plural(removed.length, "program")} removed, ${formatBytes(getProgramBytes(removed))} freed`;
  writeLine(
    terminal.stdout,
    flags.json === true ? JSON.stringify({ removed: removed.map(programAsJson), freedBytes: getProgramBytes(removed) }) : text,
  );
}

/** The manifest of a model on this machine; undefined if there is none. */
async function getManifest(terminal: Terminal, model: string, flags: CompileFlags): Promise<Manifest | undefined> {
  return withSession(terminal, { ...flags, offline: true }, model, ({ runtime }) =>
    runtime.manifest(model, { signal: terminal.signal }).catch((error: unknown) => {
      if (error instanceof InferyardError && error.code !== "ABORTED") return undefined;
      throw error;
    }),
  );
}
