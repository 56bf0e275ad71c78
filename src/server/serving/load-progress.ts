/** How far loads are, by what the runtime reports of them, and how long they will take, by how long others took. */
import type { RuntimeEvent } from "../../runtime/options/runtime-settings.ts";

/** "preparing": files are read, room is made. Then the weights are fetched where they are not here, and loaded. */
export type LoadStage = "preparing" | "downloading" | "loading";

export interface LoadProgress {
  readonly stage: LoadStage;
  /** Since the load was first asked for. */
  readonly elapsedMs: number;
  /** Of the download. */
  readonly bytes?: number;
  readonly totalBytes?: number;
  /** From 0 to 1, of this stage; left out where nobody knows. */
  readonly progress?: number;
  /** Until this stage is over; left out where nobody knows. */
  readonly estimateMs?: number;
}

interface TrackedLoad {
  readonly since: number;
  stage: LoadStage;
  stageSince: number;
  target: string;
  bytes: number;
  download: Extract<RuntimeEvent, { type: "download" }>["progress"] | undefined;
}

interface MeasuredLoad {
  readonly target: string;
  readonly bytes: number;
  readonly milliseconds: number;
}

/** Weights up to so many times larger or smaller say how long a load takes; others are too different. */
const maxSizeRatio = 4;
/** Loads that are remembered, the newest. */
const maxMeasured = 100;

export class LoadProgressTracker {
  readonly #now: () => number;
  /** By reference. */
  readonly #loads = new Map<string, TrackedLoad>();
  #measured: MeasuredLoad[] = [];

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** A load begins, or is joined. */
  start(reference: string): void {
    if (!this.#loads.has(reference)) this.#track(reference);
  }

  /** Whatever became of it. */
  end(reference: string): void {
    this.#loads.delete(reference);
  }

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

  /** Undefined where nothing is known of a load of this reference. */
  progressOf(reference: string): LoadProgress | undefined {
    const load = this.#loads.get(reference);
    if (load === undefined) return undefined;
    const { stage } = load;
    const own = { stage, elapsedMs: Math.round(this.#now() - load.since) };
    if (stage === "downloading") return { ...own, ...downloadOf(load) };
    return stage === "loading" ? { ...own, ...this.#estimate(load) } : own;
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

  /** By the load of the most similar size on the same target; the newest of equals. Nothing once it takes longer than that. */
  #estimate({ target, bytes, stageSince }: TrackedLoad): Pick<LoadProgress, "progress" | "estimateMs"> {
    const unlike = (load: MeasuredLoad): number => Math.abs(Math.log(load.bytes / bytes));
    const like = this.#measured.filter((load) => load.target === target && unlike(load) <= Math.log(maxSizeRatio));
    const [nearest] = like.toSorted((a, b) => unlike(a) - unlike(b));
    if (nearest === undefined) return {};
    const expected = (nearest.milliseconds * bytes) / nearest.bytes;
    const elapsed = this.#now() - stageSince;
    if (elapsed >= expected) return {};
    return { progress: rounded(elapsed / expected), estimateMs: Math.ceil(expected - elapsed) };
  }
}

function downloadOf({ download }: TrackedLoad): Omit<LoadProgress, "stage" | "elapsedMs"> {
  if (download === undefined) return {};
  const { bytes, totalBytes, secondsLeft } = download;
  return {
    bytes,
    ...(totalBytes === undefined ? {} : { totalBytes, ...(totalBytes > 0 ? { progress: rounded(bytes / totalBytes) } : {}) }),
    ...(secondsLeft === undefined ? {} : { estimateMs: Math.ceil(secondsLeft * 1000) }),
  };
}

function rounded(share: number): number {
  return Math.round(Math.min(share, 1) * 1000) / 1000;
}
