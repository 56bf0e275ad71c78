/**
 * Sharing of loaded models between requests. A request is resolved to a target, and requests that resolve to the same model,
 * weights, target and settings share one loaded model, however their constraints are written. Each request still has its own
 * decision. Resolved requests are cached, so that a request for a loaded model reads neither files nor facts.
 */
import type { InferyardError } from "../../contract/errors.ts";
import { type Manifest, type ModelReference, type Variant, resolveReference } from "../../models/index.ts";
import type { Decision } from "../decision/decision.ts";
import {
  type DecisionFactory,
  type FailedLoad,
  type VerifiedModel,
  type LoadOutcome,
  tryCandidates,
} from "../loading/loading.ts";
import type { SelectionOutcome } from "../selection/selection-outcome.ts";
import { unprovenRefusal } from "../loading/verification.ts";
import { permittedTargets, requestKey, residentKey } from "./model-keys.ts";
import type { Lease, Residency, MemoryBooking } from "./residency.ts";
import type { Reservation } from "../selection/reservation.ts";
import type { ResidentModel } from "./resident-model.ts";
import type { LoadCandidate } from "./serve-while-compiling.ts";
import type { ModelOptions, WhileCompiling } from "../options/runtime-settings.ts";
import { settingsFor } from "../selection/option-scope.ts";
import type { EligibleCandidate } from "../selection/selection.ts";
import { SingleFlight } from "../../concurrency/single-flight.ts";
import { formatTarget } from "../targets/target.ts";
import type { AdmitLoad } from "../scheduling/scheduling-key.ts";

/** A request for a loaded model. */
export interface ModelRequest {
  readonly reference: string;
  readonly options: Omit<ModelOptions, "signal">;
  /** See `Reservation.leaseKind`. */
  readonly leaseKind: "handle" | "work";
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

/** A candidate that must be loaded, and everything the load needs. */
export interface CandidateLoad {
  readonly reference: string;
  readonly options: Omit<ModelOptions, "signal">;
  readonly outcome: SelectionOutcome;
  readonly candidate: EligibleCandidate;
  readonly decide: DecisionFactory;
  readonly signal: AbortSignal;
  readonly booking: MemoryBooking;
}

/** The components that `SharedModels` coordinates. */
export interface SharedModelsOptions {
  readonly residency: Residency<ResidentModel>;
  /** Whether a model moves to another target after a failure. */
  readonly failover: boolean;
  /** See `RuntimeSettings.whileCompiling`. */
  readonly whileCompiling: WhileCompiling;
  readonly reservationFor: (reference: ModelReference) => Promise<Omit<Reservation, "leaseKind">>;
  /**
   * Reads the manifest and the facts and runs the selection. `download`: whether a model that is not on this machine is
   * downloaded.
   */
  readonly choose: (
    reference: ModelReference,
    options: ModelRequest["options"],
    download: boolean,
    signal?: AbortSignal,
  ) => Promise<SelectionOutcome>;
  readonly load: (load: CandidateLoad) => Promise<LoadOutcome<ResidentModel>>;
  /**
   * Called before the files of a model are read that is not loaded: prepares resources that a load needs. The returned function is called when the load has
   * ended, successfully or not.
   */
  readonly prepare: (reference: ModelReference) => () => void;
  /** Called when a request could not be resolved: no target could run the model, or no caller waited any more. */
  readonly onFailed: (reference: string, error: unknown) => void;
}

interface ResolvedRequest {
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
  readonly #options: SharedModelsOptions;
  /** By request key, least recently used first. */
  readonly #resolved = new Map<string, ResolvedRequest>();
  readonly #resolving = new SingleFlight<Lease<ResidentModel>>((lease) => lease.release());
  /** By error: the failed load that it stands for. */
  readonly #failed = new WeakMap<object, FailedLoad>();
  /** Errors of `admitLoad`. They concern one client only; others that wait for the same load start their own. */
  readonly #notAdmitted = new WeakSet<object>();
  /** Errors thrown by `LoadHooks.requireModel`. Each concerns one request only. */
  readonly #notServed = new WeakSet<object>();

  constructor(options: SharedModelsOptions) {
    this.#options = options;
  }

  /** A lease on the loaded model of this request; loads it if necessary. Throws errors of loading. */
  async acquire(request: ModelRequest, signal: AbortSignal | undefined): Promise<LeasedModel> {
    const key = requestKey(request.reference, request.options);
    for (;;) {
      const held = this.#leaseLoaded(key, request.leaseKind);
      if (held !== undefined) return held;
      let began = false;
      const begin = (together: AbortSignal): Promise<Lease<ResidentModel>> => {
        began = true;
        return this.#resolve(key, request, together);
      };
      try {
        const taken = await this.#resolving.join(key, begin, () => this.#leaseLoaded(key, request.leaseKind), signal);
        if (taken !== undefined) return taken; // otherwise it is already being unloaded, and is loaded again
      } catch (error) {
        if (began || !this.#isOfOneRequest(error)) throw error;
      }
    }
  }

  /** Like `acquire` if the request was resolved before and its model is still loaded; otherwise undefined. Never loads. */
  acquireLoaded({ reference, options, leaseKind }: ModelRequest): LeasedModel | undefined {
    return this.#leaseLoaded(requestKey(reference, options), leaseKind);
  }

  /** Whether `acquire` would return a model that is already loaded. */
  async isLoaded(request: Pick<ModelRequest, "reference" | "options">): Promise<boolean> {
    const { residency, choose } = this.#options;
    const key = requestKey(request.reference, request.options);
    const known = this.#resolved.get(key);
    if (known !== undefined) return residency.has(known.key);
    if (this.#resolving.has(key)) return false;
    const outcome = await resolveReference(request.reference)
      .then((reference) => choose(reference, request.options, false))
      .catch(() => undefined); // a model that cannot be read is not loaded
    const first = outcome?.selections.find((selection) => selection.verdict === "eligible");
    return outcome !== undefined && first !== undefined && residency.has(this.#getKey(request.reference, outcome, first));
  }

  /** Drops all cached requests of a model that was unloaded. */
  forget(resident: ResidentModel): void {
    for (const [key, known] of this.#resolved) if (known.resident === resident) this.#resolved.delete(key);
  }

  #leaseLoaded(key: string, leaseKind: "handle" | "work"): LeasedModel | undefined {
    const known = this.#resolved.get(key);
    if (known === undefined) return undefined;
    const lease = this.#options.residency.acquireLoaded(known.key, leaseKind);
    if (lease === undefined) return undefined;
    if (lease.item !== known.resident) {
      lease.release(); // it was unloaded and loaded again for another request; this one must be resolved again
      return undefined;
    }
    this.#remember(key, known);
    return { lease, getDecision: (loaded) => currentDecision(known, loaded) };
  }

  async #resolve(key: string, request: ModelRequest, signal: AbortSignal): Promise<Lease<ResidentModel>> {
    const { choose, reservationFor, onFailed, prepare, residency, whileCompiling } = this.#options;
    let endPreparation = (): void => {};
    try {
      const reference = await resolveReference(request.reference);
      endPreparation = prepare(reference);
      const reservation = { ...(await reservationFor(reference)), leaseKind: "work" as const };
      const outcome = await choose(reference, request.options, true, signal);
      await this.#requireModel(request, outcome);
      const load: LoadCandidate = (candidate, decide, own) =>
        this.#attempt(key, request, reservation, outcome, { candidate, decide, signal: own });
      const onLoading = (): void => request.loadHooks?.whileLoading?.(outcome.manifest);
      if (whileCompiling === "next") {
        const { serveWhileCompiling } = await import("./serve-while-compiling.ts");
        return await serveWhileCompiling({
          outcome,
          load,
          signal,
          onLoading,
          isLoaded: (candidate) => residency.has(this.#getKey(request.reference, outcome, candidate)),
          onCompiled: () => this.#resolved.delete(key),
        });
      }
      const loading = tryCandidates(outcome, (candidate, decide) => load(candidate, decide, signal), signal);
      onLoading();
      return await loading;
    } catch (error) {
      if (typeof error !== "object" || error === null || !this.#notServed.has(error)) onFailed(request.reference, error);
      throw error;
    } finally {
      endPreparation();
    }
  }

  /** Leases the model of one candidate, which another request may have loaded or may be loading. */
  async #attempt(
    key: string,
    { reference, options, admitLoad }: ModelRequest,
    reservation: Reservation,
    outcome: SelectionOutcome,
    { candidate, decide, signal }: Pick<CandidateLoad, "candidate" | "decide" | "signal">,
  ): Promise<LoadOutcome<Lease<ResidentModel>>> {
    const modelKey = this.#getKey(reference, outcome, candidate);
    const started = Date.now();
    for (;;) {
      let began = false;
      const load = async (loadSignal: AbortSignal, booking: MemoryBooking): Promise<ResidentModel> => {
        began = true;
        const end = await this.#admit(admitLoad, loadSignal);
        try {
          const tried = await this.#options.load({ reference, options, outcome, candidate, decide, signal: loadSignal, booking });
          if (tried.ok) return tried.item;
          this.#failed.set(tried.error, tried);
          throw tried.error;
        } finally {
          end();
        }
      };
      try {
        const lease = await this.#options.residency.acquire(modelKey, reservation, load, signal);
        const { loaded } = lease.item;
        const refusal = began ? undefined : unprovenRefusal(loaded.unproven, loaded.target.device, outcome.constraints);
        if (refusal !== undefined) {
          lease.release();
          return { ok: false, stage: "verify", error: refusal };
        }
        const decision = began ? loaded.decision : decisionFor(candidate, loaded, decide, started);
        this.#remember(key, { key: modelKey, resident: lease.item, loaded, decision });
        return { ok: true, item: lease };
      } catch (error) {
        const failed = typeof error === "object" && error !== null ? this.#failed.get(error) : undefined;
        if (failed !== undefined) return failed;
        if (began || !this.#isNotAdmitted(error)) throw error;
      }
    }
  }

  async #requireModel({ loadHooks }: ModelRequest, { manifest, selections }: SelectionOutcome): Promise<void> {
    const variants = selections.flatMap((each) => (each.verdict === "eligible" ? [each.variant] : []));
    await loadHooks?.requireModel?.(manifest, variants).catch((error: object) => {
      this.#notServed.add(error);
      throw error;
    });
  }

  async #admit(admitLoad: AdmitLoad | undefined, signal: AbortSignal): Promise<() => void> {
    if (admitLoad === undefined) return () => {};
    return admitLoad(signal).catch((error: InferyardError) => {
      this.#notAdmitted.add(error);
      throw error;
    });
  }

  #isOfOneRequest(error: unknown): boolean {
    return this.#isNotAdmitted(error) || (typeof error === "object" && error !== null && this.#notServed.has(error));
  }

  #isNotAdmitted(error: unknown): boolean {
    return typeof error === "object" && error !== null && this.#notAdmitted.has(error);
  }

  #getKey(reference: string, { selections, request }: SelectionOutcome, { target, variant }: EligibleCandidate): string {
    const permitted = this.#options.failover ? { permitted: permittedTargets(selections) } : {};
    return residentKey({ reference, target, variant, settings: settingsFor(request, variant), kind: request.kind, ...permitted });
  }

  #remember(key: string, known: ResolvedRequest): void {
    this.#resolved.delete(key); // the most recently used comes last
    this.#resolved.set(key, known);
    if (this.#resolved.size <= maxResolvedRequests) return;
    for (const oldest of this.#resolved.keys()) return void this.#resolved.delete(oldest);
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
