/** Runs one case with all its sets of data, and says how it went. */
import { readFileSync } from "node:fs";
import { getMessage } from "../../src/contract/errors.ts";
import type { MachineCode } from "../../src/engine/codegen/x64/index.ts";
import { type OnnxModel, readOnnxModel } from "../../src/engine/index.ts";
import { type ConformanceCase, dataSets, readValues } from "./cases.ts";
import { interpret, runNative } from "./native.ts";
import { isRandom } from "./operators.ts";
import { type CaseValue, difference } from "./values.ts";

export type Verdict = "passed" | "failed" | "refused";

export interface Outcome {
  readonly verdict: Verdict;
  readonly reason?: string;
}

/** A model ready to run on one target. */
export interface OpenModel {
  run(inputs: readonly CaseValue[]): Promise<readonly CaseValue[]> | readonly CaseValue[];
  close?(): Promise<void>;
}

/** Opens a model that was read on one target. Throws Refused, or an error with the code MODEL_UNSUPPORTED, where the target does not take it. */
export type OpenCase = (model: OnnxModel, bytes: Uint8Array) => Promise<OpenModel> | OpenModel;

/** A target says that it does not take a model or its data. */
export class Refused extends Error {}

export async function judge(each: ConformanceCase, open: OpenCase): Promise<Outcome> {
  try {
    const found = await firstDifference(each, open);
    return found === undefined ? { verdict: "passed" } : { verdict: "failed", reason: found };
  } catch (error) {
    const unsupported = error instanceof Error && "code" in error && error.code === "MODEL_UNSUPPORTED";
    return { verdict: unsupported || error instanceof Refused ? "refused" : "failed", reason: getMessage(error) };
  }
}

/** The reference interpreter, whatever compiled kernels there are. */
export const openInterpreter: OpenCase = (model) => ({ run: (inputs) => interpret(model, inputs) });

/** Compiled kernels, all of them in WebAssembly. */
export const openNative: OpenCase = openNativeWith(undefined);

/** Compiled kernels; machine code that `create` makes for each run computes those that have some. Undefined: WebAssembly computes all. */
export function openNativeWith(create: (() => MachineCode) | undefined): OpenCase {
  return (model) => ({ run: (inputs) => runNative(model, inputs, create?.()) });
}

async function firstDifference(each: ConformanceCase, open: OpenCase): Promise<string | undefined> {
  const bytes = readFileSync(each.modelPath);
  const { model } = readOnnxModel(bytes, each.modelPath);
  const inputTypes = model.graph.inputs.map(({ type }) => type);
  const outputTypes = model.graph.outputs.map(({ type }) => type);
  const typesOnly = isRandom(model);
  const opened = await open(model, bytes);
  try {
    for (const folder of dataSets(each)) {
      const results = await opened.run(readValues(folder, "input", inputTypes));
      for (const [index, wanted] of readValues(folder, "output", outputTypes).entries()) {
        const result = results[index];
        const found = result === undefined ? "nothing" : difference(result, wanted, typesOnly);
        if (found !== undefined) return `output ${index}: ${found}`;
      }
    }
    return undefined;
  } finally {
    await opened.close?.();
  }
}
