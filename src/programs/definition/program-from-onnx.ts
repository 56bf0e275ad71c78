/** Programs from ONNX files. */
import { InferyardError, getMessage } from "../../contract/errors.ts";
import type { TensorInfo } from "../../contract/tensor.ts";
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { tensorInfo } from "../../backends/graphs/onnx-graph.ts";
import { checkOperators, readOnnxModel, toByteSource, TraceBudget } from "../../engine/index.ts";
import type { OnnxModel } from "../../engine/index.ts";
import { checkProgram, type DefinitionOptions } from "./check-program.ts";
import type { Program } from "./program.ts";
import { openOnnxProgram, signatureOf } from "./program-from-model.ts";

/** A program of an ONNX file. */
export interface OnnxProgram extends Program {
  /** The outputs as the file states them. */
  readonly outputInfos: readonly TensorInfo[];
}

/**
 * A program of an ONNX file, given by its path or its bytes. Its initializers are its weights, and its inputs keep their names and free dimensions. Throws
 * MODEL_NOT_FOUND for a file that cannot be read, MODEL_INVALID for a damaged one, and MODEL_UNSUPPORTED for operators that the engine does not have, shapes that
 * depend on values, inputs or outputs that are no tensors, and weights in files of their own.
 */
export async function programFromOnnx(file: string | Uint8Array, options: DefinitionOptions = {}): Promise<OnnxProgram> {
  const bytes = typeof file === "string" ? await readBytes(file) : file;
  const name = typeof file === "string" ? basename(file) : "the ONNX model";
  const model = readModel(bytes, name);
  const program = {
    ...signatureOf(model),
    weights: [],
    states: [],
    open: () => openOnnxProgram(readModel(bytes, name)),
    toOnnx: () => model,
  } satisfies Omit<Program, "exampleSizes">;
  const outputInfos = model.graph.outputs.map((output) => tensorInfo(output));
  return { ...program, outputInfos, exampleSizes: checkProgram(program, options) };
}

async function readBytes(path: string): Promise<Uint8Array> {
  try {
    return await readFile(path);
  } catch (error) {
    throw new InferyardError("MODEL_NOT_FOUND", `${path} cannot be read: ${getMessage(error)}`, { cause: error });
  }
}

function readModel(bytes: Uint8Array, name: string): OnnxModel {
  const { model, external, loadRemaining } = readOnnxModel(toByteSource(bytes), name, new TraceBudget());
  checkOperators(model);
  const [other] = external;
  if (other !== undefined)
    throw new InferyardError(
      "MODEL_UNSUPPORTED",
      `${name} has weights in a file of its own (${other.location}), which programs do not read`,
      {
        remedy: "save the model with its weights inside",
      },
    );
  loadRemaining();
  return model;
}
