import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type Command, Option } from "commander";
import { omitUndefined } from "../../../contract/checked.ts";
import { invalidInput } from "../../../contract/errors.ts";
import type { RunRequest, RunResult } from "../../../api/task-requests.ts";
import type { DataType, TensorMap } from "../../../contract/tensor.ts";
import { checkWritable, writeTensor } from "../../tensors/write-npy.ts";
import { addLoadFlags, withNotice, withSession } from "../../session.ts";
import { formatTable, printable } from "../../output/table.ts";
import { readInputs, tensorsFor } from "../../tensors/input-flags.ts";
import { jsonOfTensor } from "../../tensors/json-tensor.ts";
import { type Terminal, writeAll, writeLine } from "../../terminal.ts";
import { formatMilliseconds, plural } from "../../output/units.ts";
import { withOutputErrors } from "../../../platform/node/output-errors.ts";

interface RunFlags {
  readonly input?: readonly string[];
  readonly output?: readonly string[];
  readonly npy?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

/** Values shown per output. */
const shownValues = 6;
const widestText = 24;

/** Accumulates the uses of a flag; commas are part of JSON. */
const oneMore = (text: string, before: readonly string[] = []): string[] => [...before, text];

/** Defines the command `run`. */
export function defineRun(command: Command, terminal: Terminal): void {
  command
    .argument("<model>", "model: a path, hf:owner/name, or a name in the store")
    .addOption(new Option("--input <name=value>", "an input: @file.npy, @file.json, or JSON; once for each").argParser(oneMore))
    .addOption(new Option("--output <name>", "an output wanted, instead of all; may be given again").argParser(oneMore))
    .option("--npy <folder>", "write each output as a NumPy file there");
  addLoadFlags(command).action(async (model: string, flags: RunFlags) => {
    const { input = [], output, json, npy, quiet } = flags;
    if (json === true && npy !== undefined) {
      throw invalidInput("--json and --npy exclude each other", "choose one form of output");
    }
    const given = await readInputs(input);
    if (npy !== undefined) await makeFolder(npy);
    await withSession(terminal, flags, model, async (session) => {
      const { runtime, notice, settings } = session;
      const { signal } = terminal;
      const options = { signal, ...omitUndefined({ variant: settings.variant }) };
      const handle = await withNotice(terminal, notice(`loading ${model}`), runtime.load(model, options));
      const tensors = tensorsFor(handle.inputs, given);
      const request: RunRequest = { signal, ...omitUndefined({ outputs: output }) };
      const result = await withNotice(terminal, notice(`running ${model}`), runtime.run(handle, tensors, request));
      if (json === true) return await writeAll(terminal.stdout, `${toJson(result)}\n`);
      writeLine(terminal.stdout, `${result.model} · ${result.target}`);
      const files = npy === undefined ? undefined : await writeFiles(npy, result.outputs);
      writeLine(terminal.stdout, describe(result, files));
      if (quiet === true) return;
      const told = `${plural(Object.keys(result.outputs).length, "output")} in ${formatMilliseconds(result.milliseconds)}`;
      writeLine(terminal.stderr, npy === undefined ? `${told} · --json for all numbers` : told);
    });
  });
}

function toJson({ model, target, outputs, decision }: RunResult): string {
  const results = Object.entries(outputs).map(([name, tensor]) => [name, jsonOfTensor(tensor)] as const);
  return JSON.stringify({ model, target, results: Object.fromEntries(results), decision });
}

function describe({ outputs }: RunResult, files: ReadonlyMap<string, string> | undefined): string {
  const rows = Object.entries(outputs).map(([name, tensor]) => {
    const values = jsonOfTensor(tensor, shownValues).data.map((value) => printable(shown(value, tensor.dataType), widestText));
    const more = tensor.data.length > shownValues ? ", …" : "";
    const last = files?.get(name) ?? `${values.join(", ")}${more}`;
    return [name, tensor.dataType, `[${tensor.shape.join(", ")}]`, last];
  });
  return formatTable(rows, ["output", "type", "shape", files === undefined ? "first values" : "file"]);
}

function shown(value: number | string | boolean, dataType: DataType): string {
  if (typeof value === "string") return dataType === "string" ? JSON.stringify(value) : value;
  return typeof value === "number" && !Number.isInteger(value) ? String(Number(value.toPrecision(5))) : String(value);
}

async function makeFolder(path: string): Promise<void> {
  await withOutputErrors(path, () => mkdir(path, { recursive: true }));
  await checkWritable(join(path, "output.npy"));
}

/** Writes each output; returns its path by name. In file names, characters other than letters and digits become _. */
async function writeFiles(folder: string, outputs: TensorMap): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>();
  const taken = new Set<string>();
  for (const [name, tensor] of Object.entries(outputs)) {
    const plain = name.replaceAll(/[^\w-]+/g, "_").slice(0, 100) || "output";
    let file = plain;
    for (let number = 2; taken.has(file.toLowerCase()); number += 1) file = `${plain}-${number}`;
    taken.add(file.toLowerCase());
    const path = join(folder, `${file}.npy`);
    await writeTensor(path, tensor);
    files.set(name, path);
  }
  return files;
}
