/**
 * Returns memory to the operating system after a flood of requests. V8 collects garbage when a program allocates, so a server that has become
 * quiet keeps what its busiest moment left: strings of parsed bodies, and buffers of answers. Compare JEP 346, "Promptly Return Unused Committed
 * Memory from G1".
 */
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { ForeignFunctions, cLibraryPath } from "../../libraries/ffi/index.ts";

/** Interval of the checks, and time from one collection to the next of a sequence: V8 frees array buffers and pages behind a collection. */
const checkMs = 1000;
/** Growth above the least that was held that starts a sequence: in bytes, and as a fraction. V8's young generation alone holds 48 MiB. */
const minGrowthBytes = 48 * 2 ** 20;
const minGrowthFraction = 0.25;
/** Collections of one sequence. It ends sooner if a collection frees less than `minFreedBytes`. */
const maxCollections = 4;
const minFreedBytes = 8 * 2 ** 20;
/**
 * Time between two sequences, in milliseconds, and as a multiple of the processor time that the last one took. It doubles while they free little.
 */
const minPauseMs = 6000;
const maxPauseMs = 600_000;
/** A sequence ends with one collection this long after the others: V8 gives back its young generation when little was allocated for 5 s. */
const lateMs = 5500;
const pauseFactor = 20;
/** Utilization of the event loop from which on the process counts as busy: V8 then collects by itself. */
const busyUtilization = 0.6;

/** What idle collections observe and do. */
export interface CollectedProcess {
  /** Bytes of the heap that are committed, and of buffers outside it. */
  readonly heldBytes: () => number;
  /** Fraction of the time since the last call in which the event loop was busy, 0 to 1. */
  readonly utilization: () => number;
  /** Collects all garbage, synchronously. */
  readonly collect: () => void;
  /** Returns what the C library has freed to the operating system. */
  readonly trim: () => void;
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
  /** Processor time of the process in milliseconds. */
  readonly processorMs: () => number;
}

/** Decides when to collect garbage. */
export class IdleCollection {
  readonly #process: CollectedProcess;
  /** The least that was held, and what remained after the last sequence, in bytes. */
  #leastBytes: number;
  #remainingBytes: number;
  #collections = 0;
  #freedBytes = 0;
  #sequenceMs = 0;
  #pauseMs = minPauseMs;
  #nextSequenceAt = 0;
  #lateAt = Number.POSITIVE_INFINITY;

  constructor(process: CollectedProcess) {
    this.#process = process;
    this.#remainingBytes = process.heldBytes();
    this.#leastBytes = this.#remainingBytes;
  }

  /** Called in regular intervals. Collects at most once. */
  check(): void {
    if (this.#process.utilization() >= busyUtilization) return;
    const { heldBytes, now } = this.#process;
    const bytes = heldBytes();
    this.#leastBytes = Math.min(this.#leastBytes, bytes);
    if (hasGrown(this.#remainingBytes, bytes)) this.#pauseMs = minPauseMs;
    if (now() >= this.#lateAt) {
      this.#lateAt = Number.POSITIVE_INFINITY;
      this.#collect();
      this.#process.trim();
    } else if (this.#collections > 0 || (hasGrown(this.#leastBytes, bytes) && now() >= this.#nextSequenceAt)) this.#goOn();
  }

  /** Collects, and returns the bytes that were freed. */
  #collect(): number {
    const { heldBytes, collect, processorMs } = this.#process;
    const [bytes, began] = [heldBytes(), processorMs()];
    collect();
    this.#remainingBytes = heldBytes();
    this.#leastBytes = Math.min(this.#leastBytes, this.#remainingBytes);
    this.#sequenceMs += processorMs() - began;
    return bytes - this.#remainingBytes;
  }

  #goOn(): void {
    const freed = this.#collect();
    const { now, trim } = this.#process;
    this.#collections += 1;
    this.#freedBytes += freed;
    if (this.#collections < maxCollections && (freed >= minFreedBytes || this.#collections === 1)) return;
    trim();
    if (this.#freedBytes >= minGrowthBytes) this.#lateAt = now() + lateMs;
    // What stays is in use: the next sequence, unless there is more, is the later the less this one did.
    if (this.#freedBytes < minGrowthBytes) this.#pauseMs = Math.min(2 * this.#pauseMs, maxPauseMs);
    this.#nextSequenceAt = now() + Math.max(this.#pauseMs, this.#sequenceMs * pauseFactor);
    this.#collections = 0;
    this.#freedBytes = 0;
    this.#sequenceMs = 0;
  }
}

function hasGrown(before: number, bytes: number): boolean {
  return bytes - before >= Math.max(minGrowthBytes, before * minGrowthFraction);
}

/** Starts idle collections in this process. Returns a function that ends them. No effect where V8 offers no collection to programs. */
export function startIdleCollection(): () => void {
  const collect = garbageCollector();
  if (collect === undefined) return () => {};
  let before = performance.eventLoopUtilization();
  let trimmer: Promise<() => void> | undefined;
  const collection = new IdleCollection({
    heldBytes: () => {
      const { total_heap_size: heap, external_memory: external } = getHeapStatistics();
      return heap + external;
    },
    utilization: () => {
      const now = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(now, before);
      before = now;
      return utilization;
    },
    collect,
    trim: () => void (trimmer ??= loadTrimmer()).then((trim) => trim()),
    now: () => performance.now(),
    processorMs: () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1000;
    },
  });
  const timer = setInterval(() => collection.check(), checkMs).unref();
  return () => clearInterval(timer);
}

/** V8's collector. Contexts made while the flag is set have it as a function; the flag is unset at once, so that no other code finds it. */
function garbageCollector(): (() => void) | undefined {
  try {
    setFlagsFromString("--expose-gc");
    const collect: unknown = runInNewContext("gc");
    setFlagsFromString("--no-expose-gc");
    return typeof collect === "function" ? () => void collect() : undefined;
  } catch {
    return undefined; // the program was started with flags that forbid this
  }
}

/**
 * malloc_trim(3) of glibc, where koffi is installed; elsewhere a function without effect. Freed memory of glibc's heap otherwise goes back only from the
 * end of the heap, where one small allocation holds it.
 */
async function loadTrimmer(): Promise<() => void> {
  try {
    const library = (await ForeignFunctions.load()).open(cLibraryPath());
    if (!library.has("malloc_trim")) return () => {};
    const trim = library.bind("malloc_trim", { result: "int32", parameters: ["size"] });
    return () => void trim(0);
  } catch {
    return () => {}; // koffi is not installed, or this is no Linux
  }
}
