/** Compiles programs in child processes: for some programs a plugin ends the process that it compiles in. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { omitUndefined } from "../../../contract/checked.ts";
import { InferyardError, throwIfAborted } from "../../../contract/errors.ts";
import type { StableHloProgram } from "../../../engine/codegen/stablehlo/index.ts";
import type { TensorType } from "../../../engine/ir/tensor-type.ts";
import { runReportingChild } from "../../../platform/node/report-child.ts";
import type { CompilerPlugin } from "../open-compiler.ts";

/** Request to the child process. */
export interface ChildCompileRequest {
  readonly plugin: CompilerPlugin;
  readonly threads?: number;
  /** The file with the program, as `SentProgram` in JSON. */
  readonly file: string;
}

/** A program without the elements of its constants. */
export interface SentProgram {
  readonly text: string;
  readonly arguments: readonly TensorType[];
  readonly results: readonly TensorType[];
}

/** Time limit in milliseconds: XLA's search for fast kernels on a GPU takes up to a minute and more. */
const limitMs = 600_000;

/**
 * Compiles a program in a child process, which keeps it in the folder of compiled programs, so that loading it here compiles nothing. Throws RUN_FAILED with the compiler's
 * message, HOST_DIED with the signal or code if the compiler ended the child, and ABORTED.
 */
export async function compileInChild(
  { text, arguments: parameters, results }: StableHloProgram,
  plugin: CompilerPlugin,
  { threads, signal }: { readonly threads?: number | undefined; readonly signal?: AbortSignal | undefined } = {},
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "inferyard-compile-"));
  try {
    const file = join(folder, "program.json");
    const types = (list: readonly { readonly type: TensorType }[]): readonly TensorType[] => list.map(({ type }) => type);
    const sent: SentProgram = { text, arguments: types(parameters), results: types(results) };
    await writeFile(file, JSON.stringify(sent), { mode: 0o600 });
    const request: ChildCompileRequest = { plugin, file, ...omitUndefined({ threads }) };
    const outcome = await runReportingChild<null>(new URL("./compile-child.ts", import.meta.url), request, { signal, limitMs });
    throwIfAborted(signal);
    if (outcome.ok) return;
    const { code, message } = outcome.error;
    throw new InferyardError(code, code === "HOST_DIED" ? `the compiler failed in a child process: ${message}` : message, {
      cause: outcome.error,
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
