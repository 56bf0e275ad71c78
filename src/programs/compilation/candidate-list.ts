/** The backends that were asked for, tried in order. */
import { invalidInput, InferyardError, throwIfAborted } from "../../contract/errors.ts";
import type { Candidate } from "../../runtime/decision/decision.ts";
import { type ProgramBackends, probeSafely, type RefusedBackend, type ResolvedBackend } from "../backends/program-backends.ts";
import type { Sizes } from "../definition/trace-program.ts";
import type { ProgramMode } from "../interface/program-backend.ts";
import { rankedBackend, type RankSettings } from "../ranks/rank-device.ts";
import { noCandidate, type ProgramDecision } from "./program-decision.ts";
import { ProgramSession, SessionFailure, type SessionSettings } from "./program-session.ts";

/** What was asked for. */
export interface ProgramRequest {
  readonly asked: readonly string[];
  readonly mode: ProgramMode;
  readonly notes: readonly string[];
  readonly backends: ProgramBackends;
  readonly session: Omit<SessionSettings, "qualifier">;
  /** The processes that compute the program together. Undefined: this one alone. */
  readonly ranks: RankSettings | undefined;
}

/** A session that computes right, and how it was found. */
export interface SelectedSession {
  readonly session: ProgramSession;
  readonly decision: ProgramDecision;
}

/** The candidates of one program: each is tried at most once, unless it is named again by a switch. */
export class CandidateList {
  readonly #request: ProgramRequest;
  readonly #resolved: readonly (ResolvedBackend | RefusedBackend)[];
  #next = 0;
  /** Verdicts on the candidates that were tried, in the order of the trials. */
  readonly #tried: Candidate[] = [];

  /** Throws INPUT_INVALID for unknown names, and for a name that is given twice. */
  constructor(request: ProgramRequest) {
    const { asked, backends } = request;
    const twice = asked.find((name, index) => asked.indexOf(name) !== index);
    if (twice !== undefined) throw invalidInput(`the backend "${twice}" is named twice`, "name each backend once");
    this.#request = request;
    this.#resolved = asked.map((name) => backends.resolve(name));
  }

  /** The next candidate whose graphs for all `sizes` are right. Throws BACKEND_UNAVAILABLE or NO_BACKEND if none is left, and ABORTED. */
  async select(sizes: Sizes, signal?: AbortSignal): Promise<SelectedSession> {
    while (this.#next < this.#resolved.length) {
      const candidate = this.#resolved[this.#next];
      this.#next += 1;
      if (candidate === undefined) break;
      const session = await this.#try(candidate, [sizes], signal);
      if (session !== undefined) return { session, decision: this.#decide(candidate.asked, session) };
    }
    throw noCandidate(this.#decide(undefined, undefined));
  }

  /** Opens a backend that need not be among those that were asked for. Throws BACKEND_UNAVAILABLE with the reason if it does not compute right. */
  async open(name: string, sizes: readonly Sizes[], signal?: AbortSignal): Promise<SelectedSession> {
    const candidate = this.#request.backends.resolve(name);
    const session = await this.#try(candidate, sizes, signal);
    if (session !== undefined) return { session, decision: this.#decide(name, session) };
    const decision = this.#decide(undefined, undefined);
    throw noCandidate({
      ...decision,
      candidates: decision.candidates.filter(({ verdict }) => verdict !== "not-tried").slice(-1),
    });
  }

  /** Records that the running candidate failed for new sizes of its inputs. */
  fail(name: string, failure: SessionFailure): void {
    const index = this.#tried.findLastIndex(({ target }) => target === name);
    const failed = describeFailure(name, failure, 0);
    if (index < 0) this.#tried.push(failed);
    else this.#tried[index] = failed;
  }

  async #try(
    candidate: ResolvedBackend | RefusedBackend,
    sizes: readonly Sizes[],
    signal: AbortSignal | undefined,
  ): Promise<ProgramSession | undefined> {
    const { asked } = candidate;
    throwIfAborted(signal);
    if (!("backend" in candidate)) {
      this.#tried.push({ target: asked, verdict: "refused", stage: "package", reason: candidate.reason });
      return undefined;
    }
    const found = await probeSafely(candidate);
    if (!found.isAvailable) {
      const remedy = found.remedy === undefined ? {} : { remedy: found.remedy };
      this.#tried.push({ target: asked, verdict: "refused", stage: "probe", reason: found.reason, ...remedy });
      return undefined;
    }
    const started = performance.now();
    let session: ProgramSession | undefined;
    try {
      const { ranks } = this.#request;
      const backend = ranks === undefined ? candidate.backend : rankedBackend(candidate.backend, ranks);
      session = await ProgramSession.open(backend, { ...this.#request.session, qualifier: candidate.qualifier });
      for (const each of sizes) await session.prepare(each, signal);
      const milliseconds = performance.now() - started;
      this.#tried.push({ target: asked, verdict: "selected", stage: "verify", reason: found.reason, milliseconds });
      return session;
    } catch (error) {
      await session?.dispose().catch(() => {});
      if (!(error instanceof SessionFailure)) throw error;
      this.#tried.push(describeFailure(asked, error, performance.now() - started));
      return undefined;
    }
  }

  #decide(selected: string | undefined, session: ProgramSession | undefined): ProgramDecision {
    const { mode, asked, notes } = this.#request;
    const last = this.#tried.length - 1;
    const tried = this.#tried.map((each, index): Candidate =>
      each.verdict === "selected" && index !== last ? { ...each, verdict: "would-run" } : each,
    );
    const untried = this.#resolved.slice(this.#next).filter((each) => !tried.some(({ target }) => target === each.asked));
    const rest = untried.map((each): Candidate => ({
      target: each.asked,
      verdict: "not-tried",
      stage: "load",
      reason: "an earlier candidate runs the program",
    }));
    return {
      id: crypto.randomUUID(),
      at: new Date().toISOString(),
      mode,
      asked,
      candidates: [...tried, ...rest],
      selected:
        selected === undefined || session === undefined
          ? undefined
          : { backend: selected, target: session.device.target, library: session.device.library, evidence: session.evidence() },
      notes,
    };
  }
}

function describeFailure(target: string, { step, cause, message }: SessionFailure, milliseconds: number): Candidate {
  const remedy = cause instanceof InferyardError && cause.remedy !== undefined ? { remedy: cause.remedy } : {};
  return {
    target,
    verdict: step === "requirement" ? "refused" : "failed",
    stage: step,
    reason: message,
    milliseconds,
    ...remedy,
  };
}
