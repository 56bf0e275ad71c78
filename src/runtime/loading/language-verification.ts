/**
 * Verification of a loaded language model: a few tokens are decoded in several ways, the logits must be finite and equal, and the engine must report
 * where it computed.
 */
import { omitUndefined } from "../../contract/checked.ts";
import { InferyardError } from "../../contract/errors.ts";
import type { HostedLanguageModel } from "../../hosts/host.ts";
import type { KnownContinuation, ModelProbe, Variant } from "../../models/manifest.ts";
import {
  type Agreement,
  type VerifiableLanguageModel,
  agreementTolerance,
  probeSource,
  verifyAgreement,
} from "./sequence-agreement.ts";
import { type Verification, reportPlacement } from "./verification.ts";

/**
 * Verifies a loaded language model: agreement of its logits (see `verifyAgreement`), known continuations in the manifest, and the engine's report.
 * Throws VERIFICATION_FAILED.
 */
export async function verifyLanguageModel(
  model: VerifiableLanguageModel & Pick<HostedLanguageModel, "evidence" | "library">,
  variant: Pick<Variant, "format" | "precision">,
  probe: ModelProbe | undefined,
  signal?: AbortSignal,
): Promise<Verification> {
  const agreement = await verifyAgreement(model, agreementTolerance(variant), signal);
  const evidence = ["probe tokens were decoded, and their logits are finite", ...agreementSentences(agreement)];
  if (probe?.kind === "tokens") evidence.push(await verifyContinuations(model, probe.answers, signal));
  return reportPlacement(model, evidence);
}

/** Compares greedy continuations of prompts with the known answers in the manifest. Throws VERIFICATION_FAILED for a token that differs. */
async function verifyContinuations(
  model: VerifiableLanguageModel,
  answers: readonly KnownContinuation[],
  signal: AbortSignal | undefined,
): Promise<string> {
  const options = signal === undefined ? {} : { signal };
  for (const [index, { source, prompt, continuation }] of answers.entries()) {
    const sequence = await model.createSequence({ ...options, ...omitUndefined({ source }) });
    try {
      let tokens = prompt;
      for (const [position, known] of continuation.entries()) {
        const [logits = new Float32Array()] = await model.decode([{ sequence, tokens }], options);
        const given = logits.indexOf(logits.reduce((most, each) => Math.max(most, each), Number.NEGATIVE_INFINITY));
        if (given !== known) {
          throw new InferyardError(
            "VERIFICATION_FAILED",
            `known continuation ${index} of the manifest does not hold: token ${position} is ${given}, and ${known} is right`,
            { remedy: "the engine computes this model wrongly on this target: try another target or variant" },
          );
        }
        tokens = [known];
      }
    } finally {
      await model.releaseSequence(sequence);
    }
  }
  return `${answers.length} known ${answers.length === 1 ? "continuation" : "continuations"} of its manifest held`;
}

function agreementSentences({ rows, difference, readsContext }: Agreement): readonly string[] {
  if (rows === 0) return ["no agreement was verified: the context is too short"];
  const largest = difference === 0 ? "0" : difference.toPrecision(2);
  return [
    `tokens have the same logits in one call and in several, in a fork, after a truncation and beside others: largest difference ${largest} of their deviation`,
    ...(readsContext ? [] : ["warning: the logits after a token do not depend on the tokens before it"]),
  ];
}

/** Health check of an already verified model: decodes two tokens. Throws VERIFICATION_FAILED for logits that are not finite. */
export async function probeLanguageModel(
  model: Pick<HostedLanguageModel, "createSequence" | "decode" | "releaseSequence" | "limits">,
  signal?: AbortSignal,
): Promise<void> {
  const { vocabulary, contextLength = 2 } = model.limits;
  const tokens = [Math.floor(vocabulary / 3), Math.floor(vocabulary / 2)];
  const options = signal === undefined ? {} : { signal };
  const sequence = await model.createSequence({ ...options, ...probeSource(model.limits, tokens) });
  try {
    const [logits] = await model.decode([{ sequence, tokens: tokens.slice(0, contextLength) }], options);
    if (logits?.length === vocabulary && logits.every(Number.isFinite)) return;
    throw new InferyardError("VERIFICATION_FAILED", "probe tokens gave logits that are not finite numbers", {
      remedy: "try another variant or backend",
    });
  } finally {
    await model.releaseSequence(sequence);
  }
}
