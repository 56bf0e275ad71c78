/** Verification of a loaded language model: it decodes a few tokens, its logits are finite, and the engine reports where it computed. */
import { InferyardError } from "../../contract/errors.ts";
import type { HostedLanguageModel } from "../../hosts/host.ts";
import { type Verification, reportedEvidence, reportsNothing } from "./verification.ts";

/**
 * Verifies a language model with tokens from the middle of its vocabulary: a call with two, then one with the cache; fewer where its context is shorter.
 * Throws VERIFICATION_FAILED.
 */
export async function verifyLanguageModel(
  model: Pick<HostedLanguageModel, "createSequence" | "decode" | "releaseSequence" | "limits" | "evidence">,
  signal?: AbortSignal,
): Promise<Verification> {
  const { vocabulary, hasEncoder, contextLength = 3 } = model.limits;
  const tokens = [Math.floor(vocabulary / 3), Math.floor(vocabulary / 2), Math.floor((2 * vocabulary) / 3)];
  const options = signal === undefined ? {} : { signal };
  const sequence = await model.createSequence({ ...options, ...(hasEncoder ? { source: tokens } : {}) });
  try {
    const first = Math.min(2, Math.max(1, contextLength - 1));
    for (const part of [tokens.slice(0, first), tokens.slice(first, contextLength)]) {
      if (part.length === 0) continue;
      const [logits] = await model.decode([{ sequence, tokens: part }], options);
      if (logits === undefined || logits.length !== vocabulary || !logits.every(Number.isFinite)) {
        throw new InferyardError("VERIFICATION_FAILED", "probe tokens gave logits that are not finite numbers", {
          remedy: "try another variant or backend",
        });
      }
    }
  } finally {
    await model.releaseSequence(sequence);
  }
  const evidence = ["probe tokens were decoded, and their logits are finite"];
  const reported = await reportedEvidence(model);
  if ("unproven" in reported) return { evidence, unproven: reported.unproven };
  if (reported.evidence.length === 0) return { evidence, unproven: reportsNothing };
  return { evidence: [...evidence, ...reported.evidence] };
}
