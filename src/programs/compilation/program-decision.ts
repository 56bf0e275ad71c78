/** The record of how a program got its backend. */
import type { Library } from "../../contract/backend.ts";
import { InferyardError } from "../../contract/errors.ts";
import type { Candidate } from "../../runtime/decision/decision.ts";
import type { ProgramMode } from "../interface/program-backend.ts";

/** What runs a program. */
export interface SelectedBackend {
  /** The name that was asked for. */
  readonly backend: string;
  /** The backend with its level or device: "native", "xla:cpu". */
  readonly target: string;
  readonly library: Library;
  /** Facts about the compiled code, each a sentence without a full stop. */
  readonly evidence: readonly string[];
}

/** The record of one compilation, as plain data that survives JSON. The fields of candidates are those of every decision of this package. */
export interface ProgramDecision {
  readonly id: string;
  /** Time of the decision, ISO 8601 in UTC. */
  readonly at: string;
  readonly mode: ProgramMode;
  /** The names that were asked for, in the order in which they were tried. */
  readonly asked: readonly string[];
  /** All names that were asked for, with the verdict on each; `target` is the name. Candidates of a later switch follow. */
  readonly candidates: readonly Candidate[];
  /** Undefined if nothing runs the program. */
  readonly selected: SelectedBackend | undefined;
  /** Sentences without a full stop on settings that were read in an older form. */
  readonly notes: readonly string[];
}

/** The error for a program that no candidate runs: BACKEND_UNAVAILABLE for one candidate, NO_BACKEND for several. It lists each with its reason. */
export function noCandidate(decision: ProgramDecision): InferyardError {
  const listed = decision.candidates.map(({ target, stage, reason }) => `${target} (${stage}): ${reason}`);
  const code = listed.length === 1 ? "BACKEND_UNAVAILABLE" : "NO_BACKEND";
  const remedies = [...new Set(decision.candidates.flatMap(({ remedy }) => remedy ?? []))];
  return new InferyardError(code, `no backend runs the program: ${listed.join("; ")}`, {
    data: { decision },
    remedy: remedies.length === 0 ? undefined : remedies.join("; or "),
  });
}
