/** Requests that another target serves while the model of their first target is compiled: the setting `whileCompiling: next`. */
import { abortable } from "../../concurrency/abortable.ts";
import { InferyardError } from "../../contract/errors.ts";
import {
  type DecisionFactory,
  type LoadCandidate,
  type LoadOutcome,
  type RefusedLoad,
  type SuccessfulLoad,
  tryCandidates,
} from "../loading/loading.ts";
import type { EligibleCandidate } from "../selection/selection.ts";
import type { SelectionOutcome } from "../selection/selection-outcome.ts";
import type { Target } from "../targets/target.ts";
import type { Lease } from "./residency.ts";
import type { ResidentModel } from "./resident-model.ts";

/** Request of `serveWhileCompiling`. */
export interface CompilingRequest {
  readonly outcome: SelectionOutcome;
  /** Loads the model of a candidate. */
  readonly load: (
    candidate: EligibleCandidate,
    decide: DecisionFactory,
    signal: AbortSignal,
  ) => Promise<LoadOutcome<Lease<ResidentModel>>>;
  /** Aborts the request. The compilation of a model for later requests continues. */
  readonly signal: AbortSignal;
  /** Called once loading began. */
  readonly onLoading: () => void;
  /** Whether the model of a candidate is loaded. */
  readonly isLoaded: (candidate: EligibleCandidate) => boolean;
  /** Called when the background compilation of the model has ended successfully. */
  readonly onCompiled: () => void;
}

/**
 * The lease that serves a request while the model of its first candidate is compiled: another model, or that model if nothing else can serve it. Once it is
 * compiled, requests of this kind are resolved again, and get it.
 */
export async function serveWhileCompiling(
  request: CompilingRequest,
): Promise<SuccessfulLoad<Lease<ResidentModel>> | RefusedLoad> {
  const { outcome, load, signal, onLoading, onCompiled } = request;
  let compiling: Promise<LoadOutcome<Lease<ResidentModel>>> | undefined;
  const attempt: LoadCandidate<Lease<ResidentModel>> = async (candidate, decide) => {
    if (!isLoadedBeside(request, candidate)) return await load(candidate, decide, signal);
    const { signal: own } = new AbortController(); // it goes on when the request has been served; `Residency.close` ends it
    compiling ??= load(candidate, decide, own);
    compiling.catch(() => {}); // reported to whoever waits for it
    return { ok: false, stage: "load", error: servedMeanwhile() };
  };
  const loading = tryCandidates(outcome, attempt, signal);
  onLoading();
  try {
    const served = await loading;
    // Only now, so that what served the request is not remembered after the compiled model.
    void compiling?.then(
      (compiled) => {
        if (!compiled.ok) return;
        onCompiled();
        compiled.item.release();
      },
      () => {},
    );
    return served;
  } catch (error) {
    if (compiling === undefined || signal.aborted) throw error;
    const compiled = await abortable(compiling, signal);
    if (compiled.ok || compiled.stage === "admission") return compiled;
    throw error;
  }
}

/** Whether the model of a candidate must be compiled, and another candidate can serve the request meanwhile. */
function isLoadedBeside({ outcome, isLoaded }: CompilingRequest, candidate: EligibleCandidate): boolean {
  const compiles = ({ backend, device }: Target): boolean =>
    outcome.facts.backends.find(({ name }) => name === backend)?.capabilities(device).compiles === true;
  if (!compiles(candidate.target) || isLoaded(candidate)) return false;
  return outcome.selections.some((each) => each.verdict === "eligible" && !compiles(each.target));
}

function servedMeanwhile(): InferyardError {
  return new InferyardError("BACKEND_UNAVAILABLE", "the model is being compiled for it, and another target serves meanwhile", {
    remedy: "set whileCompiling to wait, or compile the model ahead of time",
  });
}
