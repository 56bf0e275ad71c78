/**
 * Verification of a loaded model: it runs a probe input, its outputs are finite, the known answers of its manifest hold, and
 * the engine reports where it computed.
 */
import type { Device, ModelBase, TensorModel } from "../../contract/backend.ts";
import { type TensorInfo, type TensorMap, firstNonFinite } from "../../contract/tensor.ts";
import { type ErrorCode, InferyardError } from "../../contract/errors.ts";
import type { Manifest } from "../../models/manifest.ts";
import { required, omitUndefined } from "../../contract/checked.ts";
import { checkEvidence } from "../../contract/shapes/held-contract.ts";
import type { Constraints } from "../targets/constraints.ts";
import { guessedLengths, hasGuessedLength, probeInputs } from "./probe-inputs.ts";

/**
 * Compares a model's outputs with the known answers of its manifest. Returns a sentence for the evidence, or undefined if the
 * manifest has no answers. Implemented by `tasks/`, which can turn texts into tensors. Throws VERIFICATION_FAILED.
 */
export type AnswerCheck = (model: TensorModel, manifest: Manifest, signal?: AbortSignal) => Promise<string | undefined>;

/** The result of a verification. */
export interface Verification {
  /** Sentences for the decision's `evidence`. */
  readonly evidence: readonly string[];
  /** Why nothing proves where the engine computed. Undefined if the engine's own evidence does. */
  readonly unproven?: UnprovenPlacement;
}

/** Why nothing proves where an engine computed. */
export interface UnprovenPlacement {
  readonly reason: string;
  readonly remedy?: string;
  /** true: nothing could run at the load, so that the engine can report only after the first request. */
  readonly pending?: true;
}

/** Verifies a model. Throws VERIFICATION_FAILED. */
export async function verifyKnownAnswer(
  model: TensorModel,
  manifest: Manifest,
  checkAnswers: AnswerCheck,
  signal?: AbortSignal,
): Promise<Verification> {
  const probe = await runProbe(model, manifest, signal);
  const answers = await checkAnswers(model, manifest, signal);
  const evidence = answers === undefined ? [probe] : [probe, answers];
  const ranNothing = probe !== ran && answers === undefined;
  return reportPlacement(
    model,
    evidence,
    ranNothing ? { reason: "nothing ran at the load; the first request is checked", pending: true } : reportsNothing,
  );
}

const reportsNothing: UnprovenPlacement = { reason: "the engine reports nothing about where it computed" };

/**
 * Adds to the evidence what the engine reports about where it computed, or says why that is unproven. `silence`: the reason where the engine reports
 * nothing.
 */
export async function reportPlacement(
  model: Pick<ModelBase, "evidence" | "library">,
  evidence: readonly string[],
  silence: UnprovenPlacement = reportsNothing,
): Promise<Verification> {
  try {
    const reported = checkEvidence(model, await model.evidence());
    return reported.length === 0 ? { evidence, unproven: silence } : { evidence: [...evidence, ...reported] };
  } catch (error) {
    if (!(error instanceof InferyardError && error.code === "PLACEMENT_UNPROVEN")) throw error;
    const { message: reason, remedy } = error;
    return { evidence, unproven: { reason, ...omitUndefined({ remedy }) } };
  }
}

/**
 * The PLACEMENT_UNPROVEN error that refuses a model whose placement is unproven: on any device but the CPU, and wherever a target
 * is required. Undefined if the model may be used; also for one that nothing could run at its load (`pending`).
 */
export function unprovenRefusal(
  unproven: UnprovenPlacement | undefined,
  device: Device,
  { required }: Constraints,
): InferyardError | undefined {
  if (unproven === undefined || unproven.pending === true) return undefined;
  if (device.type === "cpu" && required.length === 0) return undefined;
  const why = required.length > 0 ? "a required target must be proved" : "a device other than the CPU must be proved";
  const remedy = unproven.remedy === undefined ? {} : { remedy: unproven.remedy };
  return new InferyardError("PLACEMENT_UNPROVEN", `where it computed is unproven, and ${why}: ${unproven.reason}`, remedy);
}

/** Evidence of a probe that ran. */
const ran = "a probe input ran, and its output is finite";

/**
 * Runs the manifest's probe input, or a synthetic one, and requires finite outputs. Returns a sentence about the input. If no input can be synthesized, or if
 * the model refuses all inputs whose lengths are guessed, the sentence says so: that proves nothing about the model. Throws VERIFICATION_FAILED for outputs
 * that are not finite, and errors of a run with known shapes.
 */
export async function runProbe(
  model: Pick<TensorModel, "inputs" | "outputs" | "run">,
  manifest: Manifest,
  signal?: AbortSignal,
): Promise<string> {
  // Tensor outputs are named explicitly: a model may also have outputs that are not tensors.
  const options = { outputs: model.outputs.map(({ name }) => name), ...omitUndefined({ signal }) };
  const run = async (inputs: TensorMap): Promise<void> => refuseNonFinite(await model.run(inputs, options));
  if (manifest.probe?.kind === "tensors") {
    await run(manifest.probe.inputs);
    return ran;
  }
  const { inputs } = model;
  if (probeInputs(inputs) === undefined) {
    return "no probe ran: no shape is known; sizes of this model's inputs are free, and its manifest names no probe";
  }
  if (!hasGuessedLength(inputs)) {
    await runFilled(inputs, guessedLengths[0], run);
    return ran;
  }
  return await runGuessed(inputs, run);
}

/** Runs inputs of growing length until the model accepts one. */
async function runGuessed(inputs: readonly TensorInfo[], run: (inputs: TensorMap) => Promise<void>): Promise<string> {
  const failures: InferyardError[] = [];
  for (const length of guessedLengths) {
    try {
      await runFilled(inputs, length, run);
      return ran;
    } catch (error) {
      if (!(error instanceof InferyardError && (inputFailureCodes.has(error.code) || error.code === "MODEL_UNSUPPORTED")))
        throw error;
      failures.push(error);
    }
  }
  const wrong = failures.find(({ code }) => code === "VERIFICATION_FAILED");
  if (wrong !== undefined) throw wrong;
  const tried = guessedLengths.join(", ");
  return `no probe ran: no shape is known; the model refused inputs of the guessed lengths ${tried}: ${failures[0]?.message ?? ""}`;
}

/** Runs an input of zeros, and one of ones if that fails: a correct model may divide by its input or take its logarithm. */
async function runFilled(
  inputs: readonly TensorInfo[],
  length: number,
  run: (inputs: TensorMap) => Promise<void>,
): Promise<void> {
  try {
    await run(required(probeInputs(inputs, { length }), "a probe input"));
  } catch (error) {
    if (!(error instanceof InferyardError && inputFailureCodes.has(error.code))) throw error;
    await run(required(probeInputs(inputs, { fill: 1, length }), "a probe input")).catch(() => {
      throw error;
    });
  }
}

/** Errors that a synthetic input may cause in a correct engine. */
const inputFailureCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>(["INPUT_INVALID", "RUN_FAILED", "VERIFICATION_FAILED"]);

function refuseNonFinite(outputs: TensorMap): void {
  for (const [name, tensor] of Object.entries(outputs)) {
    const index = firstNonFinite(tensor);
    if (index === -1) continue;
    throw new InferyardError(
      "VERIFICATION_FAILED",
      `a probe input gave a value that is not a number in output "${name}", element ${index}`,
      {
        remedy: "try another variant or backend; where the model is sound, give it a probe input in inferyard.json",
      },
    );
  }
}
