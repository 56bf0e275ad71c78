/**
 * Supervision of all hosts of a runtime: restarts with growing delays, and a circuit where a model's host dies again and again. Node.js hands
 * it to the runtime; a page does without.
 */
import { InferyardError, abortError } from "../../errors.ts";
import type { Supervision } from "../../hosts/supervision.ts";
import type { Variant } from "../../models/manifest.ts";
import type { CircuitBreakers } from "./circuit-breakers.ts";
import { type CrashLimits, CrashHistory } from "./crash-history.ts";
import { parseDuration } from "../options/duration.ts";
import type { RuntimeEvent, RuntimeSettings } from "../options/runtime-settings.ts";
import { parseSize } from "../options/size.ts";
import type { SupervisionFactory } from "../platform.ts";
import { type Target, formatTarget, placementKey } from "../selection/target.ts";
import { maxTimerMs } from "../../concurrency/time-limit.ts";

const defaultMaxCrashes = 5;
const defaultCrashWindow = "1m";
/** The largest models load in a few minutes from a slow disk. */
const defaultLoadTimeout = "10m";

/** Of the runtime with these settings. INPUT_INVALID where one of them could mean nothing. */
export function createSupervision(settings: RuntimeSettings, circuits: CircuitBreakers): SupervisionFactory {
  const { maxCrashes = defaultMaxCrashes, crashWindow = defaultCrashWindow, maxProcessMemory, host, onEvent } = settings;
  if (maxProcessMemory !== undefined && host !== undefined && host !== "process") {
    throw new InferyardError("INPUT_INVALID", "maxProcessMemory is set, and models do not live in processes", {
      remedy: 'set host to "process", or leave it out',
    });
  }
  const { loadTimeout = defaultLoadTimeout, runTimeout = 0 } = settings;
  const supervisor = new Supervisor({
    limits: { maxCrashes, windowMs: parseDuration(crashWindow) },
    circuits,
    maxMemory: maxProcessMemory === undefined ? undefined : parseSize(maxProcessMemory),
    maxLoadMs: parseTimeLimit(loadTimeout),
    maxRunMs: parseTimeLimit(runTimeout),
    onEvent,
  });
  return (reference, target, variant) => supervisor.of(reference, target, variant);
}

export interface SupervisorOptions {
  readonly limits: CrashLimits;
  readonly circuits: CircuitBreakers;
  /** Bytes; see `Supervision.maxMemory`. */
  readonly maxMemory?: number | undefined;
  /** Milliseconds; see `Supervision`. */
  readonly maxLoadMs?: number | undefined;
  readonly maxRunMs?: number | undefined;
  readonly onEvent?: ((event: RuntimeEvent) => void) | undefined;
  /** Milliseconds of a clock that never goes back. */
  readonly now?: () => number;
}

export class Supervisor {
  readonly #options: SupervisorOptions;
  /** One for each file of weights on each target: copies die together. */
  readonly #crashes = new Map<string, CrashHistory>();

  constructor(options: SupervisorOptions) {
    this.#options = options;
  }

  /** Of a model that is loaded as `reference`. */
  of(reference: string, target: Target, variant: Pick<Variant, "path">): Supervision {
    const { limits, circuits, maxMemory, maxLoadMs, maxRunMs, onEvent, now } = this.#options;
    const key = placementKey(target, variant);
    const crashes = this.#crashes.get(key) ?? new CrashHistory(limits, now);
    this.#crashes.set(key, crashes);
    const place = { reference, target: formatTarget(target) };
    return {
      maxMemory,
      maxLoadMs,
      maxRunMs,
      admit: async (signal) => {
        const open = circuits.current().get(key);
        if (open !== undefined) throw circuitOpen(open.reason, open.remainingMs);
        await pause(crashes.waitMs, signal);
      },
      died: (reason, hungMs) => {
        const rests = crashes.add(hungMs) === "rest";
        const deaths = crashes.count;
        const restMs = rests ? limits.windowMs : crashes.waitMs;
        if (rests) circuits.open(key, loopReason(deaths, reason), restMs);
        const hung = hungMs === undefined ? {} : { hung: true };
        onEvent?.({ type: "died", ...place, reason, deaths, resting: rests, restMs, ...hung });
        return restMs;
      },
      replaced: (why, milliseconds) => onEvent?.({ type: "restarted", ...place, why, milliseconds }),
    };
  }
}

/** Milliseconds of a limit; undefined for 0, which is none. */
function parseTimeLimit(written: number | string): number | undefined {
  const milliseconds = parseDuration(written);
  return milliseconds === 0 ? undefined : Math.min(milliseconds, maxTimerMs);
}

function loopReason(deaths: number, reason: string): string {
  const times = deaths === 1 ? "once more" : `${deaths} times in a short time`;
  return `its host died ${times}, the last time like this: ${reason}`;
}

function circuitOpen(reason: string, remainingMs: number): InferyardError {
  return new InferyardError("CIRCUIT_OPEN", `this model is left alone for ${Math.ceil(remainingMs / 1000)} s: ${reason}`, {
    remedy: "send the request again later; try another target, or another variant of the model",
    retryAfterMs: Math.ceil(remainingMs),
  });
}

async function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  if (signal?.aborted === true) throw abortError(signal);
  if (milliseconds <= 0) return;
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    const stop = (): void => {
      clearTimeout(timer);
      if (signal !== undefined) reject(abortError(signal));
    };
    signal?.addEventListener("abort", stop, { once: true });
  });
}
