/**
 * Which loaded model a request gets. Requests are resolved to targets, and those that resolve to the same model, weights, target and settings
 * share one, however their constraints are written; each has a decision of its own all the same. What was resolved is remembered, so that a
 * request for a model in memory reads neither files nor facts.
 */
import type { InferyardError } from "../../errors.ts";
import type { Decision } from "../decision/decision.ts";
import {
  type SelectionOutcome,
  type DecisionFactory,
  type FailedLoad,
  type VerifiedModel,
  type LoadOutcome,
  tryCandidates,
} from "../loading/loading.ts";
import { permittedTargets, requestKey, residentKey } from "./model-keys.ts";
import type { Lease, Residency, MemoryBooking, Reservation } from "./residency.ts";
import type { ResidentModel } from "./resident-model.ts";
import type { ModelOptions } from "../options/runtime-settings.ts";
import type { EligibleCandidate } from "../selection/selection.ts";
import { SingleFlight } from "../../concurrency/single-flight.ts";
import { formatTarget } from "../selection/target.ts";
import type { AdmitLoad } from "../scheduling/scheduling-key.ts";

export interface ModelRequest {
  readonly reference: string;
  readonly options: Omit<ModelOptions, "signal">;
  /** See `Stay`. */
  readonly leaseKind: "handle" | "work";
  /** See `Turn`. */
  readonly admitLoad?: AdmitLoad | undefined;
}

/** One user's hold on a loaded model. */
export interface LeasedModel {
  readonly lease: Lease<ResidentModel>;
  /** Why the user's request runs where it runs now. */
  readonly decisionOf: (loaded: VerifiedModel) => Decision;
}

/** One candidate, to be loaded. */
export interface CandidateLoad {
  readonly reference: string;
  readonly options: Omit<ModelOptions, "signal">;
  readonly choice: SelectionOutcome;
  readonly candidate: EligibleCandidate;
  readonly decide: DecisionFactory;
  readonly signal: AbortSignal;
  readonly booking: MemoryBooking;
}

export interface SharedModelsOptions {
  readonly residency: Residency<ResidentModel>;
  /** Whether models move to other targets when they fail. */
  readonly failover: boolean;
  readonly reservationFor: (reference: string) => Promise<Omit<Reservation, "leaseKind">>;
  /** Reads what is decided on. `fetch`: whether a model that is not on this machine is fetched. */
  readonly choose: (
    request: Pick<ModelRequest, "reference" | "options">,
    fetch: boolean,
    signal?: AbortSignal,
  ) => Promise<SelectionOutcome>;
  readonly load: (load: CandidateLoad) => Promise<LoadOutcome<ResidentModel>>;
  /** Told of a load that was given up, because no target could run the model or because nobody waited for it any more. */
  readonly onFailed: (reference: string, error: unknown) => void;
}

interface ResolvedRequest {
  /** Under which the residency has the model. */
  readonly key: string;
  readonly resident: ResidentModel;
  /** As it was when the request was resolved. */
  readonly loaded: VerifiedModel;
  readonly decision: Decision;
  /** Set when the model has moved since: where it was then, and the decision of this request. */
  failedOver?: { readonly loaded: VerifiedModel; readonly decision: Decision };
}

/** Spellings of requests that are remembered, the most recent ones; a client may make up any number. */
const maxResolvedRequests = 1000;

export class SharedModels {
  readonly #options: SharedModelsOptions;
  /** By request, the least recently used first. */
  readonly #resolved = new Map<string, ResolvedRequest>();
  readonly #resolving = new SingleFlight<Lease<ResidentModel>>((lease) => lease.release());
  /** Of candidates that did not load: why, by the error that says so. */
  readonly #failed = new WeakMap<object, FailedLoad>();
  /** Errors of loads that were not admitted: they are those of one client, and not of the others that wait. */
  readonly #notAdmitted = new WeakSet<object>();

  constructor(options: SharedModelsOptions) {
    this.#options = options;
  }

  /** The model in memory for this request, or the one that is loaded for it. Throws what loading throws. */
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
        if (taken !== undefined) return taken; // else it is about to leave already, and is loaded anew
      } catch (error) {
        if (began || !this.#isNotAdmitted(error)) throw error;
      }
    }
  }

  /** As `acquire` where the model is in memory and this request was resolved before; else undefined. */
  acquireLoaded({ reference, options, leaseKind }: ModelRequest): LeasedModel | undefined {
    return this.#leaseLoaded(requestKey(reference, options), leaseKind);
  }

  /** Whether `acquire` would take a model that is in memory. */
  async isLoaded(request: Pick<ModelRequest, "reference" | "options">): Promise<boolean> {
    const { residency, choose } = this.#options;
    const key = requestKey(request.reference, request.options);
    const known = this.#resolved.get(key);
    if (known !== undefined) return residency.has(known.key);
    if (this.#resolving.has(key)) return false;
    const choice = await choose(request, false).catch(() => undefined); // what cannot be read is not in memory
    const first = choice?.selections.find((selection) => selection.verdict === "open");
    return choice !== undefined && first !== undefined && residency.has(this.#keyOf(request.reference, choice, first));
  }

  /** A model has left memory. */
  forget(resident: ResidentModel): void {
    for (const [key, known] of this.#resolved) if (known.resident === resident) this.#resolved.delete(key);
  }

  #leaseLoaded(key: string, hold: "handle" | "work"): LeasedModel | undefined {
    const known = this.#resolved.get(key);
    if (known === undefined) return undefined;
    const lease = this.#options.residency.acquireLoaded(known.key, hold);
    if (lease === undefined) return undefined;
    if (lease.item !== known.resident) {
      lease.release(); // it left and was loaded again for others: this request is resolved anew
      return undefined;
    }
    this.#remember(key, known);
    return { lease, decisionOf: (loaded) => currentDecision(known, loaded) };
  }

  async #resolve(key: string, request: ModelRequest, signal: AbortSignal): Promise<Lease<ResidentModel>> {
    const { choose, reservationFor, onFailed } = this.#options;
    try {
      const stay = { ...(await reservationFor(request.reference)), leaseKind: "work" as const };
      const choice = await choose(request, true, signal);
      const attempt = (candidate: EligibleCandidate, decide: DecisionFactory): Promise<LoadOutcome<Lease<ResidentModel>>> =>
        this.#attempt(key, request, stay, choice, { candidate, decide, signal });
      return await tryCandidates(choice, attempt, signal);
    } catch (error) {
      onFailed(request.reference, error);
      throw error;
    }
  }

  /** Takes the model of one candidate, which another request may have loaded or be loading. */
  async #attempt(
    key: string,
    { reference, options, admitLoad }: ModelRequest,
    stay: Reservation,
    choice: SelectionOutcome,
    { candidate, decide, signal }: Pick<CandidateLoad, "candidate" | "decide" | "signal">,
  ): Promise<LoadOutcome<Lease<ResidentModel>>> {
    const place = this.#keyOf(reference, choice, candidate);
    const started = Date.now();
    for (;;) {
      let began = false;
      const load = async (loadSignal: AbortSignal, booking: MemoryBooking): Promise<ResidentModel> => {
        began = true;
        const end = await this.#admit(admitLoad, loadSignal);
        try {
          const tried = await this.#options.load({ reference, options, choice, candidate, decide, signal: loadSignal, booking });
          if (tried.ok) return tried.item;
          this.#failed.set(tried.error, tried);
          throw tried.error;
        } finally {
          end();
        }
      };
      try {
        const lease = await this.#options.residency.acquire(place, stay, load, signal);
        const { loaded } = lease.item;
        const decision = began ? loaded.decision : decisionFor(candidate, loaded, decide, started);
        this.#remember(key, { key: place, resident: lease.item, loaded, decision });
        return { ok: true, item: lease };
      } catch (error) {
        const failed = typeof error === "object" && error !== null ? this.#failed.get(error) : undefined;
        if (failed !== undefined) return failed;
        if (began || !this.#isNotAdmitted(error)) throw error;
      }
    }
  }

  async #admit(admitLoad: AdmitLoad | undefined, signal: AbortSignal): Promise<() => void> {
    if (admitLoad === undefined) return () => {};
    return admitLoad(signal).catch((error: InferyardError) => {
      this.#notAdmitted.add(error);
      throw error;
    });
  }

  #isNotAdmitted(error: unknown): boolean {
    return typeof error === "object" && error !== null && this.#notAdmitted.has(error);
  }

  #keyOf(reference: string, { selections, request }: SelectionOutcome, { target, variant }: EligibleCandidate): string {
    const permitted = this.#options.failover ? { permitted: permittedTargets(selections) } : {};
    return residentKey({ reference, target, variant, settings: request.settings, ...permitted });
  }

  #remember(key: string, known: ResolvedRequest): void {
    this.#resolved.delete(key); // the most recent one comes last
    this.#resolved.set(key, known);
    if (this.#resolved.size <= maxResolvedRequests) return;
    for (const oldest of this.#resolved.keys()) return void this.#resolved.delete(oldest);
  }
}

/** A model that moved has the decision of the request it was loaded for; for others it is the same but for what they asked. */
function currentDecision(known: ResolvedRequest, loaded: VerifiedModel): Decision {
  if (loaded === known.loaded) return known.decision;
  if (known.failedOver?.loaded === loaded) return known.failedOver.decision;
  const decision = { ...loaded.decision, constraints: known.decision.constraints };
  known.failedOver = { loaded, decision };
  return decision;
}

/** Of a request that shares a model which was loaded for another one: what it asked and what it may have, and what the model's load found. */
function decisionFor({ target }: EligibleCandidate, loaded: VerifiedModel, decide: DecisionFactory, started: number): Decision {
  const { selected, model, at } = loaded.decision;
  if (selected === null || formatTarget(loaded.target) !== formatTarget(target)) return loaded.decision; // it has moved
  return decide(selected, model.digest, Date.parse(at) >= started);
}
