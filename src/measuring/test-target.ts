/** The checks of a model on one target: finite outputs, known answers, repeatability, and independence from the other inputs of a batch. */
import type { Precision } from "../contract/model-files.ts";
import type { ManifestKnownAnswer } from "../models/manifest.ts";
import { maxAbsDifference } from "../tasks/verification/known-answers.ts";
import { compareOutputs, nonFiniteOutput, getTolerance } from "./compare-outputs.ts";
import type { KindTest, MeasuredOutput, Subject } from "./kinds/index.ts";

/** One check of a target. */
export interface TargetCheck {
  readonly name: string;
  /** "skipped": there was nothing to check. */
  readonly verdict: "pass" | "fail" | "skipped";
  /** Measured result, as text for people. */
  readonly detail: string;
}

/** Result of the checks of one target, before the comparison with other targets. */
export interface TestedTarget {
  readonly target: string;
  readonly variant: string;
  /** Key of the weights that the target computed with. Only targets with the same key are compared. */
  readonly weights: string;
  readonly precision: Precision | undefined;
  /** Outputs of the inputs computed one by one; `together`: computed in one call, if the kind supports batches. */
  readonly outputs: readonly MeasuredOutput[];
  readonly together: readonly MeasuredOutput[] | undefined;
  readonly checks: readonly TargetCheck[];
  /** Check that `together` equals `outputs`. */
  readonly unaffected: TargetCheck | undefined;
  /** Whether the target was compared with known answers. */
  readonly hasAnswers: boolean;
  /** Evidence from loading the model: see `Selected.evidence`. */
  readonly evidence: readonly string[];
}

/** Runs the checks of one target. Throws the errors of loading and running. */
export async function testTarget(subject: Subject, test: KindTest, given: readonly ManifestKnownAnswer[]): Promise<TestedTarget> {
  const { target, decision, manifest } = subject.handle;
  const { variant = "", packedFrom, digest = "" } = decision.model;
  const precision = packedFrom === undefined ? manifest.variants.find(({ name }) => name === variant)?.precision : "int4";
  const own = manifest.probe?.kind === "text" ? manifest.probe.answers : [];
  const answers = [...own, ...given];
  const outputs = await test.alone(subject);
  const wrong = nonFiniteOutput(outputs);
  const finite: TargetCheck = {
    name: "finite outputs",
    verdict: wrong === undefined ? "pass" : "fail",
    detail:
      wrong === undefined
        ? `${outputs.length} ${outputs.length === 1 ? "output" : "outputs"}`
        : `${wrong.name} has a value that is not a number`,
  };
  const checks = [
    finite,
    ...(answers.length === 0 ? [] : [await knownAnswers(subject, answers)]),
    errorCheck("same answer twice", outputs, await test.alone(subject), repeatTolerance),
  ];
  const together = await test.together?.run(subject);
  const unaffected =
    test.together && together && errorCheck(test.together.name, outputs, together, getTolerance(precision).together);
  return {
    target,
    variant,
    weights: `${digest} ${variant}`,
    precision,
    outputs,
    together,
    checks,
    unaffected,
    hasAnswers: answers.length > 0,
    evidence: decision.selected?.evidence ?? [],
  };
}

async function knownAnswers({ runtime, handle }: Subject, answers: readonly ManifestKnownAnswer[]): Promise<TargetCheck> {
  const failures: string[] = [];
  let worst = 0;
  for (const { text, embedding, tolerance } of answers) {
    const { embeddings } = await runtime.embed([text], { model: handle });
    const difference = maxAbsDifference(embedding, embeddings[0] ?? new Float32Array());
    worst = Math.max(worst, difference);
    if (!(difference <= tolerance)) failures.push(`"${text.slice(0, 30)}" is off by ${difference.toPrecision(2)}`);
  }
  const held = `${answers.length - failures.length} of ${answers.length} hold, largest difference ${worst.toPrecision(2)}`;
  return {
    name: "known answers",
    verdict: failures.length === 0 ? "pass" : "fail",
    detail: [held, ...failures.slice(0, 3)].join("; "),
  };
}

/** Largest relative error between two runs of the same inputs on one target. */
const repeatTolerance = 1e-4;

function errorCheck(
  name: string,
  reference: readonly MeasuredOutput[],
  tested: readonly MeasuredOutput[],
  tolerance: number,
): TargetCheck {
  const { relativeError, output } = compareOutputs(reference, tested);
  const passed = relativeError <= tolerance;
  const where = passed ? "" : ` in ${output}, and the tolerance is ${tolerance}`;
  return { name, verdict: passed ? "pass" : "fail", detail: `largest relative error ${formatError(relativeError)}${where}` };
}

/** Formats a relative error for messages. */
export function formatError(error: number): string {
  return error === 0 ? "0" : error < 1e-3 ? error.toExponential(1) : error.toPrecision(2);
}
