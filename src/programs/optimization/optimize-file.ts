/** Searches for the fastest form of an ONNX file, and writes it. */
import { existsSync } from "node:fs";
import { copyFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { omitUndefined } from "../../contract/checked.ts";
import { InferyardError, quoteOption } from "../../contract/errors.ts";
import { writeOnnxModel } from "../../engine/onnx/write-model.ts";
import { countBytes } from "../../formats/protobuf/message-writer.ts";
import { writeAtomically } from "../../platform/node/atomic-write.ts";
import { diskError } from "../../storage/disk.ts";
import { version } from "../../version.ts";
import { programFromOnnx } from "../definition/program-from-onnx.ts";
import type { OptimizationReport } from "./optimization-report.ts";
import { optimize, type OptimizeOptions } from "./optimize-program.ts";

/** Options of `optimizeFile`. */
export interface OptimizeFileOptions extends Omit<OptimizeOptions, "weights"> {
  /** The ONNX file to write. It has the operators, inputs and outputs that any engine knows; a copy of the model if nothing is faster. Default: none is written. */
  readonly output?: string;
  /** Whether a file at `output` is replaced. Default: false, it is an error. */
  readonly replace?: boolean;
}

/** The record of a search, and what was written. */
export interface FileReport extends OptimizationReport {
  /** The file that was written, and its bytes. */
  readonly output?: { readonly path: string; readonly bytes: number } | undefined;
}

/**
 * Searches for the fastest form of an ONNX file. Throws what `programFromOnnx` and `optimize` throw, and OUTPUT_FAILED for a file that is there or cannot be
 * written.
 */
export async function optimizeFile(
  model: string,
  { output, replace = false, ...options }: OptimizeFileOptions = {},
): Promise<FileReport> {
  const path = output === undefined ? undefined : resolve(output);
  if (path !== undefined && !replace && existsSync(path))
    throw new InferyardError("OUTPUT_FAILED", `${output} exists`, {
      remedy: `choose another ${quoteOption("output")}, or set ${quoteOption("replace", true)}`,
    });
  const source = resolve(model);
  const program = await programFromOnnx(source, omitUndefined({ sizes: options.sizes }));
  const { program: found, report } = await optimize(program, options);
  if (path === undefined) return report;
  if (found !== program) return { ...report, output: { path, bytes: await writeProgram(found, path) } };
  if (path !== source)
    await copyFile(source, path).catch((error: unknown) => {
      throw diskError(path, error);
    });
  const { size } = await stat(path);
  return { ...report, output: { path, bytes: size } };
}

/** Writes the model of a program with its weights inside, and returns its bytes. */
async function writeProgram(program: Parameters<typeof optimize>[0], path: string): Promise<number> {
  const chunks = writeOnnxModel(program.toOnnx(new Map()), { producer: "inferyard", version });
  try {
    await writeAtomically(path, async (file) => {
      for (const chunk of joinSmall(chunks)) await file.writeFile(chunk);
    });
  } catch (error) {
    throw diskError(path, error);
  }
  return countBytes(chunks);
}

/** Bytes up to which chunks are joined before they are written. */
const maxJoined = 1 << 16;

/** The same bytes in fewer chunks. */
function* joinSmall(chunks: readonly Uint8Array[]): Generator<Uint8Array> {
  let small: Uint8Array[] = [];
  for (const chunk of chunks) {
    if (chunk.length >= maxJoined || countBytes(small) >= maxJoined) {
      yield Buffer.concat(small);
      small = [];
    }
    if (chunk.length >= maxJoined) yield chunk;
    else small.push(chunk);
  }
  yield Buffer.concat(small);
}
