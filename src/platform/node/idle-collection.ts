/**
 * Returns memory to the operating system after a flood of requests. V8 collects garbage when a program allocates, so a server that has become
 * quiet keeps what its busiest moment left: strings of parsed bodies, and buffers of answers. Compare JEP 346, "Promptly Return Unused Committed
 * Memory from G1".
 */
import { getHeapSpaceStatistics, getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Interval of the checks, and time from one collection to the next of a sequence: V8 returns pages and buffers after a collection. */
const checkMs = 1000;
/** Growth above the least that was held that starts a sequence: in bytes, and as a fraction. */
const minGrowthBytes = 24 * 2 ** 20;
/** Minimum growth in bytes for the heap of one worker thread, which is small compared with the process. */
const minThreadGrowthBytes = 6 * 2 ** 20;
const minGrowthFraction = 0.15;
/** Collections of one sequence. It ends sooner, after two, once less than `minFreedBytes` were freed since the one before. */
const maxCollections = 4;
const minFreedBytes = 8 * 2 ** 20;
/**
 * Time between two sequences, in milliseconds, and as a multiple of the processor time that the last one took. It doubles while they free little, and is over
 * once the process has become quieter: what a sequence met in use may be garbage then.
 */
const minPauseMs = 6000;
const maxPauseMs = 150_000;
/** A sequence ends with one collection this long after the others: V8 gives back its young generation when little was allocated for 5 s. */
const lateMs = 4500;
const pauseFactor = 8;
/** The process has become quieter if its utilization, or its number of open handles, is at most this fraction of what it was at the last sequence, and less by so much. */
const [quieterFraction, minLessUtilization] = [0.7, 0.05];
const [fewerFraction, minFewerHandles] = [0.75, 4];
/** Size of V8's young generation in bytes from which a collection shrinks it, too. */
const minLargeYoungBytes = 12 * 2 ** 20;
/** Utilization of the event loop from which on the process counts as busy: V8 then collects by itself. */
const busyUtilization = 0.6;

/** Measurements and actions of idle collections. */
export interface CollectedProcess {
  /** Bytes of memory that the operating system counts for the process. */
  readonly heldBytes: () => number;
  /** Fraction of the time since the last call in which the event loop was busy, 0 to 1. */
  readonly utilization: () => number;
  /** Number of open handles and requests, such as sockets. */
  readonly handles: () => number;
  /** Collects all garbage: before it returns, or in the next turn of the event loop. */
  readonly collect: () => void;
  /** Returns memory that the C library has freed to the operating system. */
  readonly trim: () => void;
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
  /** Processor time of the process in milliseconds. */
  readonly processorMs: () => number;
}

/** Decides when to collect garbage. */
export class IdleCollection {
  readonly #process: CollectedProcess;
  readonly #minGrowthBytes: number;
  /** The least that was held, what was held at the last check, and what remained after the last sequence, in bytes. */
  #leastBytes: number;
  #lastBytes: number;
  #remainingBytes: number;
  /** The sequence in progress: its collections so far, what was held before, and the processor time it took. */
  #collections = 0;
  #bytesBefore = 0;
  #sequenceMs = 0;
  /** Utilization and open handles at the last sequence. */
  #utilization = 0;
  #handles = 0;
  #pauseMs = minPauseMs;
  #nextSequenceAt = 0;
  #lateAt = Number.POSITIVE_INFINITY;

  /** `minGrowth`: growth in bytes that starts a sequence of collections. Default: the threshold for a whole process. */
  constructor(process: CollectedProcess, minGrowth: number = minGrowthBytes) {
    this.#process = process;
    this.#minGrowthBytes = minGrowth;
    this.#remainingBytes = process.heldBytes();
    this.#leastBytes = this.#remainingBytes;
    this.#lastBytes = this.#remainingBytes;
  }

  /** Called in regular intervals. Collects at most once. */
  check(): void {
    const utilization = this.#process.utilization();
    if (utilization >= busyUtilization) return;
    const { heldBytes, now } = this.#process;
    const bytes = heldBytes();
    const freed = this.#lastBytes - bytes;
    this.#lastBytes = bytes;
    this.#leastBytes = Math.min(this.#leastBytes, bytes);
    if (this.#collections > 0) {
      const isOver = this.#collections >= maxCollections || (this.#collections > 1 && freed < minFreedBytes);
      if (isOver) this.#endSequence(bytes);
      else this.#collect();
      return;
    }
    const isQuieter = this.#hasBecomeQuieter(utilization);
    if (isQuieter || this.#hasGrown(this.#remainingBytes, bytes)) this.#pauseMs = minPauseMs;
    if (isQuieter) this.#nextSequenceAt = Math.min(this.#nextSequenceAt, now());
    if (now() >= this.#lateAt) {
      this.#lateAt = Number.POSITIVE_INFINITY;
      this.#collect();
      this.#collections = 0;
    } else if (this.#hasGrown(this.#leastBytes, bytes) && now() >= this.#nextSequenceAt) {
      this.#bytesBefore = bytes;
      [this.#utilization, this.#handles] = [utilization, this.#process.handles()];
      this.#collect();
    }
  }

  #hasGrown(before: number, bytes: number): boolean {
    return bytes - before >= Math.max(this.#minGrowthBytes, before * minGrowthFraction);
  }

  /** Tells of each decrease once. */
  #hasBecomeQuieter(utilization: number): boolean {
    const handles = this.#process.handles();
    const isQuieter =
      isLess(this.#utilization, utilization, quieterFraction, minLessUtilization) ||
      isLess(this.#handles, handles, fewerFraction, minFewerHandles);
    if (isQuieter) [this.#utilization, this.#handles] = [utilization, handles];
    return isQuieter;
  }

  #collect(): void {
    const { collect, trim, processorMs, now } = this.#process;
    const [began, beganAt] = [processorMs(), now()];
    collect();
    trim();
    // Other threads take processor time meanwhile, and other processes elapsed time.
    this.#sequenceMs += Math.min(processorMs() - began, now() - beganAt);
    this.#collections += 1;
  }

  #endSequence(bytes: number): void {
    const { now } = this.#process;
    this.#remainingBytes = bytes;
    // What stays is in use: the next sequence, unless there is more, is the later the less this one did.
    if (this.#bytesBefore - bytes < minFreedBytes) this.#pauseMs = Math.min(2 * this.#pauseMs, maxPauseMs);
    else this.#lateAt = now() + lateMs;
    this.#nextSequenceAt = now() + Math.max(this.#pauseMs, this.#sequenceMs * pauseFactor);
    this.#collections = 0;
    this.#sequenceMs = 0;
  }
}

function isLess(before: number, now: number, fraction: number, minDifference: number): boolean {
  return now <= fraction * before && before - now >= minDifference;
}

/**
 * Starts idle collections in this process. `trim`: returns memory that the C library has freed to the operating system; default: none. Returns a function that
 * ends them. No effect where V8 does not let programs collect.
 */
export function startIdleCollection(trim: () => void = () => {}): () => void {
  const heldBytes = (): number => process.memoryUsage.rss();
  const handles = (): number => process.getActiveResourcesInfo().length;
  return start(new IdleCollection({ ...observeThread(), heldBytes, handles, trim }));
}

/**
 * Starts idle garbage collections of this worker thread's heap, which collections on the main thread do not cover. Returns a function that stops
 * them.
 */
export function startIdleHeapCollection(): () => void {
  const heldBytes = (): number => {
    const { total_physical_size: heap, external_memory: external } = getHeapStatistics();
    return heap + external;
  };
  return start(new IdleCollection({ ...observeThread(), heldBytes, handles: () => 0, trim: () => {} }, minThreadGrowthBytes));
}

/** Observations of the current thread: utilization of its event loop, garbage collector, clock, and processor time of the process. */
function observeThread(): Pick<CollectedProcess, "utilization" | "collect" | "now" | "processorMs"> {
  let collect: (() => void) | undefined;
  let before = performance.eventLoopUtilization();
  return {
    utilization: () => {
      const now = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(now, before);
      before = now;
      return utilization;
    },
    collect: () => {
      if (getYoungBytes() >= minLargeYoungBytes) void collectAndShrink((collect ??= garbageCollector()));
      else (collect ??= garbageCollector())();
    },
    now: () => performance.now(),
    processorMs: () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1000;
    },
  };
}

/** Size of V8's young generation on this thread in bytes. */
export function getYoungBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space")?.space_size ?? 0;
}

/**
 * Collects all garbage of this thread and shrinks the young generation, which grows to 32 MB in a flood. By itself V8 shrinks it only while less than 1 MB/s is
 * allocated, and no function of its own does; the collection of its inspector does (`Isolate::LowMemoryNotification`). Takes about twice as long as a
 * collection. `collect`: called where there is no inspector.
 */
export async function collectAndShrink(collect: () => void): Promise<void> {
  try {
    const { Session } = await import("node:inspector");
    const session = new Session();
    session.connect();
    await new Promise<void>((resolve) => session.post("HeapProfiler.collectGarbage", () => resolve()));
    session.disconnect();
  } catch {
    collect();
  }
}

function start(collection: IdleCollection): () => void {
  const timer = setInterval(() => collection.check(), checkMs).unref();
  return () => clearInterval(timer);
}

/** V8's collector. Contexts made while the flag is set have it as a function; the flag is unset at once, so that no other code finds it. */
function garbageCollector(): () => void {
  try {
    setFlagsFromString("--expose-gc");
    const collect: unknown = runInNewContext("gc");
    setFlagsFromString("--no-expose-gc");
    return typeof collect === "function" ? () => void collect() : () => {};
  } catch {
    return () => {}; // the program was started with flags that forbid this
  }
}
