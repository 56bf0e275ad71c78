/**
 * Sharing of loaded models between requests. A request is resolved to a target, and requests that resolve to the same model,
 * weights, target and settings share one loaded model, however their constraints are written. Each request still has its own
 * decision. Resolved requests are cached, so that a request for a loaded model reads neither files nor facts.
 */
import { InferyardError, getMessage } from "../../contract/errors.ts";
import { type Manifest, type Variant, resolveReference } from "../../models/index.ts";
import type { Decision } from "../decision/decision.ts";
import {
  type DecisionFactory,
  type LoadOutcome,
  type RefusedLoad,
  type SuccessfulLoad,
  type VerifiedModel,
  tryCandidates,
} from "../loading/loading.ts";
import { unprovenRefusal } from "../loading/verification.ts";
import { permittedTargets, requestKey, residentKey } from "./model-keys.ts";
import type { CandidateLoad, ModelLoader } from "./model-loader.ts";
import type { Lease, Load, Residency } from "./residency.ts";
import type { LeaseKind, Reservation } from "../selection/reservation.ts";
import type { ResidentModel } from "./resident-model.ts";
import type { CompilingRequest } from "./serve-while-compiling.ts";
import type { ModelOptions, RuntimeSettings } from "../options/runtime-settings.ts";
import type { ModelSelector } from "../selection/model-selector.ts";
import { settingsFor } from "../selection/option-scope.ts";
import type { EligibleCandidate } from "../selection/selection.ts";
import type { SelectionOutcome } from "../selection/selection-outcome.ts";
import { LruMap } from "../../concurrency/lru-map.ts";
import { SingleFlight } from "../../concurrency/single-flight.ts";
import { formatTarget } from "../targets/target.ts";
import type { AdmitLoad } from "../scheduling/scheduling-key.ts";

/** A request for a loaded model. */
export interface SharedModelRequest {
  readonly reference: string;
  readonly options: Omit<ModelOptions, "signal">;
  readonly leaseKind: LeaseKind;
  /** See `SchedulingKey.admitLoad`. */
  readonly admitLoad?: AdmitLoad | undefined;
  readonly loadHooks?: LoadHooks | undefined;
}

/** Callbacks of a request that starts a load. */
export interface LoadHooks {
  /**
   * Called before loading starts, with the candidate variants. Throws if the model cannot serve this request on any target. The error does not count
   * as a failed load, and is not passed to other requests for the model.
   */
  readonly requireModel?: (manifest: Manifest, variants: readonly Variant[]) => Promise<void>;
  /** Called while the model loads, to read other data that the request needs. Must not throw. */
  readonly whileLoading?: (manifest: Manifest) => void;
}

/** A caller's lease on a loaded model. */
export interface LeasedModel {
  readonly lease: Lease<ResidentModel>;
  /** The decision of the caller's request for the instance that runs now. */
  readonly getDecision: (loaded: VerifiedModel) => Decision;
}

/** The components that `SharedModels` coordinates. */
export interface SharedModelsParts {
  readonly residency: Residency<ResidentModel>;
  readonly settings: Pick<RuntimeSettings, "failover" | "whileCompiling" | "onEvent">;
  readonly selector: Pick<ModelSelector, "reservationFor" | "select">;
  readonly loader: Pick<ModelLoader, "load" | "prepareThread">;
}

/** How a request was resolved: to a loaded model, or refused, in which case other requests with its key are resolved anew. */
type Resolution =
  | SuccessfulLoad<Lease<ResidentModel>>
  | { readonly ok: false; readonly error: unknown; readonly request: SharedModelRequest };

/** What was selected for a request. */
interface SelectedModel extends Pick<CandidateLoad, "reference" | "outcome" | "signal"> {
  readonly reservation: Reservation;
}

interface ResolvedRequest {
  readonly requestKey: string;
  /** Key of the model in residency. */
  readonly key: string;
  readonly resident: ResidentModel;
  /** The instance that ran when the request was resolved. */
  readonly loaded: VerifiedModel;
  readonly decision: Decision;
  /** Set after a failover: the new instance, and the decision of this request for it. */
  failedOver?: { readonly loaded: VerifiedModel; readonly decision: Decision };
}

/** Maximum number of cached requests, since clients may write any number of different ones. The least recently used are dropped. */
const maxResolvedRequests = 1000;

/** Resolves requests to loaded models. Requests that resolve to the same model share it. */
export class SharedModels {
  readonly #parts: SharedModelsParts;
  /** By request key. */
  readonly #resolved = new LruMap<ResolvedRequest>(maxResolvedRequests);
  readonly #resolving = new SingleFlight<Resolution>((resolution) => resolution.ok && resolution.item.release());

  constructor(parts: SharedModelsParts) {
    this.#parts = parts;
  }

  /** A lease on the loaded model of this request; loads it if necessary. Throws errors of loading. */
  async acquire(request: SharedModelRequest, signal: AbortSignal | undefined): Promise<LeasedModel> {
    const key = requestKey(request.reference, request.options);
    for (;;) {
      const held = this.#leaseLoaded(key, request.leaseKind);
      if (held !== undefined) return held;
      const take = (resolution: Resolution): LeasedModel | undefined => {
        if (resolution.ok) return this.#leaseLoaded(key, request.leaseKind);
        if (resolution.request === request) throw resolution.error;
        return undefined;
      };
      const taken = await this.#resolving.join(key, (together) => this.#resolve(key, request, together), take, signal);
      if (taken !== undefined) return taken; // otherwise it is already being unloaded, and is loaded again
    }
  }

  /** Like `acquire` if the request was resolved before and its model is still loaded; otherwise undefined. Never loads. */
  acquireLoaded({ reference, options, leaseKind }: SharedModelRequest): LeasedModel | undefined {
    return this.#leaseLoaded(requestKey(reference, options), leaseKind);
  }

  /** Whether `acquire` would return a model that is already loaded. */
  async isLoaded(request: Pick<SharedModelRequest, "reference" | "options">): Promise<boolean> {
    const { residency, selector } = this.#parts;
    const key = requestKey(request.reference, request.options);
    const known = this.#resolved.get(key);
    if (known !== undefined) return residency.has(known.key);
    if (this.#resolving.has(key)) return false;
    const outcome = await resolveReference(request.reference)
      .then((reference) => selector.select(reference, request.options, { download: false }))
      .catch(() => undefined); // a model that cannot be read is not loaded
    const first = outcome?.selections.find((selection) => selection.verdict === "eligible");
    return outcome !== undefined && first !== undefined && residency.has(this.#getKey(request.reference, outcome, first));
  }

  #leaseLoaded(key: string, leaseKind: LeaseKind): LeasedModel | undefined {
    const known = this.#resolved.get(key);
    if (known === undefined) return undefined;
    const lease = this.#parts.residency.acquireLoaded(known.key, leaseKind);
    if (lease === undefined) return undefined;
    if (lease.item !== known.resident) {
      lease.release(); // it was unloaded and loaded again for another request; this one must be resolved again
      return undefined;
    }
    return { lease, getDecision: (loaded) => currentDecision(known, loaded) };
  }

  async #resolve(key: string, request: SharedModelRequest, signal: AbortSignal): Promise<Resolution> {
    const { selector, loader } = this.#parts;
    const { options, loadHooks } = request;
    let endPreparation = (): void => {};
    try {
      const reference = await resolveReference(request.reference);
      endPreparation = loader.prepareThread(reference);
      const reservation = { ...(await selector.reservationFor(reference)), leaseKind: "work" as const };
      const outcome = await selector.select(reference, options, { download: true, signal });
      const variants = outcome.selections.flatMap((each) => (each.verdict === "eligible" ? [each.variant] : []));
      try {
        await loadHooks?.requireModel?.(outcome.manifest, variants);
      } catch (error) {
        return { ok: false, error, request };
      }
      const resolved = await this.#load(key, request, { reference, reservation, outcome, signal });
      if (resolved.ok) return resolved;
      this.#reportFailure(request.reference, resolved.error);
      return { ok: false, error: resolved.error, request };
    } catch (error) {
      this.#reportFailure(request.reference, error);
      throw error;
    } finally {
      endPreparation();
    }
  }

  #reportFailure(reference: string, error: unknown): void {
    const code = error instanceof InferyardError ? error.code : "DEFECT";
    this.#parts.settings.onEvent?.({ type: "load-failed", reference, code, reason: getMessage(error) });
  }

  /** Loads the model of the first candidate that succeeds. */
  async #load(
    key: string,
    request: SharedModelRequest,
    selected: SelectedModel,
  ): Promise<SuccessfulLoad<Lease<ResidentModel>> | RefusedLoad> {
    const { residency, settings } = this.#parts;
    const { reference, outcome, signal } = selected;
    const load: CompilingRequest["load"] = (candidate, decide, own) =>
      this.#attempt(key, request, { ...selected, candidate, decide, signal: own });
    const onLoading = (): void => request.loadHooks?.whileLoading?.(outcome.manifest);
    if (settings.whileCompiling === "next") {
      const { serveWhileCompiling } = await import("./serve-while-compiling.ts");
      return await serveWhileCompiling({
        outcome,
        load,
        signal,
        onLoading,
        isLoaded: (candidate) => residency.has(this.#getKey(reference.text, outcome, candidate)),
        onCompiled: () => this.#resolved.delete(key),
      });
    }
    const loading = tryCandidates(outcome, (candidate, decide) => load(candidate, decide, signal), signal);
    onLoading();
    return await loading;
  }

  /** Leases the model of one candidate, which another request may have loaded or may be loading. */
  async #attempt(
    key: string,
    { options, admitLoad }: SharedModelRequest,
    { reference, reservation, outcome, candidate, decide, signal }: SelectedModel & Pick<CandidateLoad, "candidate" | "decide">,
  ): Promise<LoadOutcome<Lease<ResidentModel>>> {
    const modelKey = this.#getKey(reference.text, outcome, candidate);
    const started = Date.now();
    const load: Load<ResidentModel> = async (loadSignal, booking) => {
      let endLoad: (() => void) | undefined;
      try {
        endLoad = await admitLoad?.(loadSignal);
      } catch (error) {
        return { ok: false, stage: "admission", error };
      }
      const onUnloaded = (resident: ResidentModel): void => this.#forget(resident);
      const given = { reference, options, outcome, candidate, decide, signal: loadSignal, booking, onUnloaded };
      return await this.#parts.loader.load(given).finally(endLoad);
    };
    const acquired = await this.#parts.residency.acquire(modelKey, reservation, load, signal);
    if (!acquired.ok) return acquired;
    const { item: resident, isFirst, release } = acquired.item;
    const { loaded } = resident;
    const refusal = isFirst ? undefined : unprovenRefusal(loaded.unproven, loaded.target.device, outcome.constraints);
    if (refusal !== undefined) {
      release();
      return { ok: false, stage: "verify", error: refusal };
    }
    const decision = isFirst ? loaded.decision : decisionFor(candidate, loaded, decide, started);
    this.#resolved.set(key, { requestKey: key, key: modelKey, resident, loaded, decision });
    return acquired;
  }

  /** Drops all cached requests of a model that was unloaded. */
  #forget(resident: ResidentModel): void {
    for (const known of this.#resolved.values()) if (known.resident === resident) this.#resolved.delete(known.requestKey);
  }

  #getKey(reference: string, { selections, request }: SelectionOutcome, { target, variant }: EligibleCandidate): string {
    const permitted = this.#parts.settings.failover === true ? { permitted: permittedTargets(selections) } : {};
    return residentKey({ reference, target, variant, settings: settingsFor(request, variant), kind: request.kind, ...permitted });
  }
}

/**
 * After a failover the loaded model has the decision of the request that loaded it. The decision of another request differs
 * from it in its constraints only.
 */
function currentDecision(known: ResolvedRequest, loaded: VerifiedModel): Decision {
  if (loaded === known.loaded) return known.decision;
  if (known.failedOver?.loaded === loaded) return known.failedOver.decision;
  const decision = { ...loaded.decision, constraints: known.decision.constraints };
  known.failedOver = { loaded, decision };
  return decision;
}

/**
 * The decision of a request that shares a model loaded for another one: its own candidates and constraints, and the result of
 * that load.
 */
function decisionFor({ target }: EligibleCandidate, loaded: VerifiedModel, decide: DecisionFactory, started: number): Decision {
  const { selected, model, at } = loaded.decision;
  if (selected === null || formatTarget(loaded.target) !== formatTarget(target)) return loaded.decision; // it was moved by a failover
  return decide(selected, model.digest, Date.parse(at) >= started);
}
