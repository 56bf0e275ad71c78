/**
 * Which loaded model a request gets. Requests are resolved to targets, and those that resolve to the same model, weights, target and settings
 * share one, however their constraints are written; each has a decision of its own all the same. What was resolved is remembered, so that a
 * request for a model in memory reads neither files nor facts.
 */
import type { InferyardError } from "../../errors.ts";
import type { Decision } from "../decision/decision.ts";
import { type Choice, type Decide, type FailedAttempt, type Loaded, type Tried, tryCandidates } from "../loading/loading.ts";
import { permittedTargets, requestKey, residentKey } from "./model-keys.ts";
import type { Lease, Residency, Room, Stay } from "./residency.ts";
import type { ResidentModel } from "./resident-model.ts";
import type { ModelOptions } from "../options/runtime-settings.ts";
import type { OpenCandidate } from "../selection/selection.ts";
import { SharedTasks } from "../../concurrency/single-flight.ts";
import { formatTarget } from "../selection/target.ts";
import type { AdmitLoad } from "../scheduling/scheduling-key.ts";

export interface ModelRequest {
  readonly reference: string;
  readonly options: Omit<ModelOptions, "signal">;
  /** See `Stay`. */
  readonly hold: "handle" | "work";
  /** See `Turn`. */
  readonly admitLoad?: AdmitLoad | undefined;
}

/** One user's hold on a loaded model. */
export interface HeldModel {
  readonly lease: Lease<ResidentModel>;
  /** Why the user's request runs where it runs now. */
  readonly decisionOf: (loaded: Loaded) => Decision;
}

/** One candidate, to be loaded. */
export interface CandidateLoad {
  readonly reference: string;
  readonly options: Omit<ModelOptions, "signal">;
  readonly choice: Choice;
  readonly candidate: OpenCandidate;
  readonly decide: Decide;
  readonly signal: AbortSignal;
  readonly room: Room;
}

export interface SharedModelsOptions {
  readonly residency: Residency<ResidentModel>;
  /** Whether models move to other targets when they fail. */
  readonly movable: boolean;
  readonly stayOf: (reference: string) => Promise<Omit<Stay, "hold">>;
  /** Reads what is decided on. `fetch`: whether a model that is not on this machine is fetched. */
  readonly choose: (
    request: Pick<ModelRequest, "reference" | "options">,
    fetch: boolean,
    signal?: AbortSignal,
  ) => Promise<Choice>;
  readonly load: (load: CandidateLoad) => Promise<Tried<ResidentModel>>;
  /** Told of a load that was given up, because no target could run the model or because nobody waited for it any more. */
  readonly onFailed: (reference: string, error: unknown) => void;
}

interface Remembered {
  /** Under which the residency has the model. */
  readonly key: string;
  readonly resident: ResidentModel;
  /** As it was when the request was resolved. */
  readonly loaded: Loaded;
  readonly decision: Decision;
  /** Set when the model has moved since: where it was then, and the decision of this request. */
  moved?: { readonly loaded: Loaded; readonly decision: Decision };
}

/** Spellings of requests that are remembered, the most recent ones; a client may make up any number. */
const maxRemembered = 1000;

export class SharedModels {
  readonly #options: SharedModelsOptions;
  /** By request, the least recently used first. */
  readonly #remembered = new Map<string, Remembered>();
  readonly #resolving = new SharedTasks<Lease<ResidentModel>>((lease) => lease.release());
  /** Of candidates that did not load: why, by the error that says so. */
  readonly #failed = new WeakMap<object, FailedAttempt>();
  /** Errors of loads that were not admitted: they are those of one client, and not of the others that wait. */
  readonly #notAdmitted = new WeakSet<object>();

  constructor(options: SharedModelsOptions) {
    this.#options = options;
  }

  /** The model in memory for this request, or the one that is loaded for it. Throws what loading throws. */
  async acquire(request: ModelRequest, signal: AbortSignal | undefined): Promise<HeldModel> {
    const key = requestKey(request.reference, request.options);
    for (;;) {
      const held = this.#inMemory(key, request.hold);
      if (held !== undefined) return held;
      let began = false;
      const begin = (together: AbortSignal): Promise<Lease<ResidentModel>> => {
        began = true;
        return this.#resolve(key, request, together);
      };
      try {
        const taken = await this.#resolving.join(key, begin, () => this.#inMemory(key, request.hold), signal);
        if (taken !== undefined) return taken; // else it is about to leave already, and is loaded anew
      } catch (error) {
        if (began || !this.#isNotAdmitted(error)) throw error;
      }
    }
  }

  /** As `acquire` where the model is in memory and this request was resolved before; else undefined. */
  acquireLoaded({ reference, options, hold }: ModelRequest): HeldModel | undefined {
    return this.#inMemory(requestKey(reference, options), hold);
  }

  /** Whether `acquire` would take a model that is in memory. */
  async isLoaded(request: Pick<ModelRequest, "reference" | "options">): Promise<boolean> {
    const { residency, choose } = this.#options;
    const key = requestKey(request.reference, request.options);
    const known = this.#remembered.get(key);
    if (known !== undefined) return residency.has(known.key);
    if (this.#resolving.has(key)) return false;
    const choice = await choose(request, false).catch(() => undefined); // what cannot be read is not in memory
    const first = choice?.selections.find((selection) => selection.verdict === "open");
    return choice !== undefined && first !== undefined && residency.has(this.#keyOf(request.reference, choice, first));
  }

  /** A model has left memory. */
  forget(resident: ResidentModel): void {
    for (const [key, known] of this.#remembered) if (known.resident === resident) this.#remembered.delete(key);
  }

  #inMemory(key: string, hold: "handle" | "work"): HeldModel | undefined {
    const known = this.#remembered.get(key);
    if (known === undefined) return undefined;
    const lease = this.#options.residency.acquireLoaded(known.key, hold);
    if (lease === undefined) return undefined;
    if (lease.item !== known.resident) {
      lease.release(); // it left and was loaded again for others: this request is resolved anew
      return undefined;
    }
    this.#remember(key, known);
    return { lease, decisionOf: (loaded) => decisionNow(known, loaded) };
  }

  async #resolve(key: string, request: ModelRequest, signal: AbortSignal): Promise<Lease<ResidentModel>> {
    const { choose, stayOf, onFailed } = this.#options;
    try {
      const stay = { ...(await stayOf(request.reference)), hold: "work" as const };
      const choice = await choose(request, true, signal);
      const attempt = (candidate: OpenCandidate, decide: Decide): Promise<Tried<Lease<ResidentModel>>> =>
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
    stay: Stay,
    choice: Choice,
    { candidate, decide, signal }: Pick<CandidateLoad, "candidate" | "decide" | "signal">,
  ): Promise<Tried<Lease<ResidentModel>>> {
    const place = this.#keyOf(reference, choice, candidate);
    const started = Date.now();
    for (;;) {
      let began = false;
      const load = async (loadSignal: AbortSignal, room: Room): Promise<ResidentModel> => {
        began = true;
        const end = await this.#admit(admitLoad, loadSignal);
        try {
          const tried = await this.#options.load({ reference, options, choice, candidate, decide, signal: loadSignal, room });
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

  #keyOf(reference: string, { selections, request }: Choice, { target, variant }: OpenCandidate): string {
    const permitted = this.#options.movable ? { permitted: permittedTargets(selections) } : {};
    return residentKey({ reference, target, variant, settings: request.settings, ...permitted });
  }

  #remember(key: string, known: Remembered): void {
    this.#remembered.delete(key); // the most recent one comes last
    this.#remembered.set(key, known);
    if (this.#remembered.size <= maxRemembered) return;
    for (const oldest of this.#remembered.keys()) return void this.#remembered.delete(oldest);
  }
}

/** A model that moved has the decision of the request it was loaded for; for others it is the same but for what they asked. */
function decisionNow(known: Remembered, loaded: Loaded): Decision {
  if (loaded === known.loaded) return known.decision;
  if (known.moved?.loaded === loaded) return known.moved.decision;
  const decision = { ...loaded.decision, wish: known.decision.wish };
  known.moved = { loaded, decision };
  return decision;
}

/** Of a request that shares a model which was loaded for another one: what it asked and what it may have, and what the model's load found. */
function decisionFor({ target }: OpenCandidate, loaded: Loaded, decide: Decide, started: number): Decision {
  const { selected, model, at } = loaded.decision;
  if (selected === null || formatTarget(loaded.target) !== formatTarget(target)) return loaded.decision; // it has moved
  return decide(selected, model.digest, Date.parse(at) >= started);
}
