/** The error of a load for which no candidate succeeded: every candidate with its reason, and a remedy. */
import { omitUndefined } from "../../contract/checked.ts";
import { type ErrorCode, InferyardError, quoteOption } from "../../contract/errors.ts";
import type { Manifest } from "../../models/manifest.ts";
import type { OpenCircuit } from "../supervision/circuit-breakers.ts";
import type { Candidate, Decision } from "../decision/decision.ts";
import { formatPattern } from "../targets/target.ts";
import type { Constraints } from "../targets/constraints.ts";

/**
 * Builds that error. `failures` are the errors of the candidates that were tried; `circuits` are the open circuit breakers,
 * which give `retryAfterMs`. `data.decision` holds the decision. The code is HOST_DIED or CIRCUIT_OPEN if the same load may
 * succeed later; MODEL_INVALID, MODEL_UNSUPPORTED or OUT_OF_MEMORY if every attempt failed with it; otherwise
 * BACKEND_UNAVAILABLE (one candidate) or NO_BACKEND.
 */
export function noCandidateError(
  manifest: Manifest,
  constraints: Constraints,
  decision: Decision,
  { failures, circuits }: { readonly failures: readonly InferyardError[]; readonly circuits: readonly OpenCircuit[] },
): InferyardError {
  const { candidates } = decision;
  const considered = candidates.filter((candidate) => candidate.stage !== "constraints");
  const listed = considered.length > 0 ? considered : candidates;
  const [only] = listed;
  const headline = getHeadline(manifest.name, listed);
  const lines = listed.length === 1 && only !== undefined ? [`${only.stage}: ${only.reason}`] : table(listed);
  const delays = getDelays(listed, failures, circuits);
  return new InferyardError(codeFor(listed, failures), [headline, ...lines.map((line) => `  ${line}`)].join("\n"), {
    data: { decision },
    ...(delays.length === 0 ? {} : { retryAfterMs: Math.ceil(Math.min(...delays)) }),
    remedy: remedyFor(constraints, listed),
    ...omitUndefined({ cause: failures[0] }),
  });
}

function getHeadline(name: string, listed: readonly Candidate[]): string {
  const [only] = listed;
  if (only === undefined) return `nothing can run ${name}: no backend is registered in this runtime`;
  return listed.length === 1 ? `${only.target} cannot run ${name}` : `no backend on this machine can run ${name}`;
}

/** Milliseconds until candidates with an open circuit or a retryable failure can be tried again. */
function getDelays(
  listed: readonly Candidate[],
  failures: readonly InferyardError[],
  circuits: readonly OpenCircuit[],
): readonly number[] {
  const openReasons = new Set(listed.filter(({ stage }) => stage === "circuit").map(({ reason }) => reason));
  const cooldowns = circuits.filter(({ reason }) => openReasons.has(reason)).map(({ remainingMs }) => remainingMs);
  return [...cooldowns, ...failures.flatMap(({ retryAfterMs }) => (retryAfterMs === undefined ? [] : [retryAfterMs]))];
}

/**
 * Transient causes come first, since the same load may succeed later. If all attempts failed with the same error of the model
 * itself, that error is reported.
 */
function codeFor(listed: readonly Candidate[], failures: readonly InferyardError[]): ErrorCode {
  const codes = new Set(failures.map((failure) => failure.code));
  if (codes.has("HOST_DIED")) return "HOST_DIED";
  if (codes.has("CIRCUIT_OPEN") || listed.some(({ stage }) => stage === "circuit")) return "CIRCUIT_OPEN";
  const [code] = codes;
  if (codes.size === 1 && (code === "MODEL_INVALID" || code === "MODEL_UNSUPPORTED" || code === "OUT_OF_MEMORY")) return code;
  return listed.length === 1 ? "BACKEND_UNAVAILABLE" : "NO_BACKEND";
}

function table(candidates: readonly Candidate[]): string[] {
  const names = candidates.map(({ target, variant }) => (variant === undefined ? target : `${target} ${variant}`));
  const width = Math.max(...names.map((name) => name.length));
  return candidates.map(({ stage, reason, remedy }, index) => {
    const mend = remedy === undefined ? "" : `  (${remedy})`;
    return `${(names[index] ?? "").padEnd(width)}  ${stage}: ${reason}${mend}`;
  });
}

/** The table of candidates shows each remedy. A single candidate's remedy belongs to the error. */
function remedyFor(constraints: Constraints, listed: readonly Candidate[]): string {
  const [own] = listed.length === 1 ? listed.flatMap(({ remedy }) => (remedy === undefined ? [] : [remedy])) : [];
  if (constraints.required.length > 1) return "process, model and request each require a target, and no target meets all of them";
  if (constraints.required.length === 0)
    return own ?? "`inferyard doctor` runs a tiny computation on every target and says what is missing";
  const asked = constraints.required.flat().map(formatPattern);
  const fallback = `you required this target, so nothing else was tried; ${quoteOption("prefer", asked)} would fall back to another`;
  return own === undefined ? fallback : `${own}; ${fallback}`;
}
