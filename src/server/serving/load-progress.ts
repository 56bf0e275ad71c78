/** Progress of loads: how far each is, by the events of the runtime, and how long it will still take, by how long similar loads took. */
import type { RuntimeEvent } from "../../runtime/options/runtime-settings.ts";

/**
 * Stages of a load. "preparing": the files are read and memory is made available; "downloading": missing weights are fetched; "loading": the
 * engine loads them.
 */
export type LoadStage = "preparing" | "downloading" | "loading";

/** How far the load of a model is: its stage, elapsed time and estimated remaining time. */
export interface LoadProgress {
  readonly stage: LoadStage;
  /** Milliseconds since the load was first requested. */
  readonly elapsedMs: number;
  /** Bytes downloaded until now. */
  readonly bytes?: number;
  /** Size of the download in bytes. */
  readonly totalBytes?: number;
  /** Completed fraction of the current stage, 0 to 1; left out if unknown. */
  readonly progress?: number;
  /** Estimated remaining time of the current stage in milliseconds; left out if unknown. */
  readonly estimateMs?: number;
}

/** A load under way. Times are milliseconds of the tracker's clock. */
interface TrackedLoad {
  readonly since: number;
  stage: LoadStage;
  stageSince: number;
  target: string;
  bytes: number;
  download: Extract<RuntimeEvent, { type: "download" }>["progress"] | undefined;
}

/** How long a completed load took. */
interface MeasuredLoad {
  readonly target: string;
  readonly bytes: number;
  readonly milliseconds: number;
}

/** A measured load predicts another one only if their sizes differ by at most this factor. */
const maxSizeRatio = 4;
/** Number of completed loads that are remembered, newest first. */
const maxMeasured = 100;

/** Tracks loads by the events of the runtime, and estimates their remaining time from earlier loads. */
export class LoadProgressTracker {
  readonly #now: () => number;
  /** Loads under way, by reference of the model. */
  readonly #loads = new Map<string, TrackedLoad>();
  #measured: MeasuredLoad[] = [];

  /** `now`: milliseconds of a monotonic clock. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Starts to track the load of a model; no effect if it is tracked already. */
  start(reference: string): void {
    if (!this.#loads.has(reference)) this.#track(reference);
  }

  /** Stops tracking the load, whether it succeeded or failed. */
  end(reference: string): void {
    this.#loads.delete(reference);
  }

  /** Updates the tracked loads by an event of the runtime. */
  onEvent(event: RuntimeEvent): void {
    if (event.type === "loaded") return this.#finish(event.decision.model.reference);
    if (event.type === "load-failed") return this.end(event.reference);
    if (event.type !== "loading" && event.type !== "download") return;
    const load = this.#loads.get(event.reference) ?? this.#track(event.reference);
    const stage = event.type === "loading" ? "loading" : event.progress.stage === "done" ? "preparing" : "downloading";
    if (stage !== load.stage || stage === "loading") load.stageSince = this.#now();
    load.stage = stage;
    if (event.type === "loading") Object.assign(load, { target: event.target, bytes: event.bytes });
    else load.download = event.progress;
  }

  /** Progress of the load of this model; undefined if it is not loading. */
  getProgress(reference: string): LoadProgress | undefined {
    const load = this.#loads.get(reference);
    if (load === undefined) return undefined;
    const { stage } = load;
    const common = { stage, elapsedMs: Math.round(this.#now() - load.since) };
    if (stage === "downloading") return { ...common, ...getDownload(load) };
    return stage === "loading" ? { ...common, ...this.#estimate(load) } : common;
  }

  #track(reference: string): TrackedLoad {
    const now = this.#now();
    const load: TrackedLoad = { since: now, stage: "preparing", stageSince: now, target: "", bytes: 0, download: undefined };
    this.#loads.set(reference, load);
    return load;
  }

  #finish(reference: string): void {
    const load = this.#loads.get(reference);
    this.#loads.delete(reference);
    if (load?.stage !== "loading") return;
    const measured = { target: load.target, bytes: load.bytes, milliseconds: this.#now() - load.stageSince };
    this.#measured = [measured, ...this.#measured].slice(0, maxMeasured);
  }

  /**
   * Estimated remaining load time, from the most recent load of the most similar size on the same target, scaled by size. Empty if there is none,
   * and once the estimate is exceeded.
   */
  #estimate({ target, bytes, stageSince }: TrackedLoad): Pick<LoadProgress, "progress" | "estimateMs"> {
    const distance = (load: MeasuredLoad): number => Math.abs(Math.log(load.bytes / bytes));
    const comparable = this.#measured.filter((load) => load.target === target && distance(load) <= Math.log(maxSizeRatio));
    const [nearest] = comparable.toSorted((a, b) => distance(a) - distance(b));
    if (nearest === undefined) return {};
    const expected = (nearest.milliseconds * bytes) / nearest.bytes;
    const elapsed = this.#now() - stageSince;
    if (elapsed >= expected) return {};
    return { progress: rounded(elapsed / expected), estimateMs: Math.ceil(expected - elapsed) };
  }
}

function getDownload({ download }: TrackedLoad): Omit<LoadProgress, "stage" | "elapsedMs"> {
  if (download === undefined) return {};
  const { bytes, totalBytes, secondsLeft } = download;
  return {
    bytes,
    ...(totalBytes === undefined ? {} : { totalBytes, ...(totalBytes > 0 ? { progress: rounded(bytes / totalBytes) } : {}) }),
    ...(secondsLeft === undefined ? {} : { estimateMs: Math.ceil(secondsLeft * 1000) }),
  };
}

function rounded(fraction: number): number {
  return Math.round(Math.min(fraction, 1) * 1000) / 1000;
}
