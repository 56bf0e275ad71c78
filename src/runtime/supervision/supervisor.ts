/**
 * Supervision of the hosts of a runtime in Node.js: restarts with exponential backoff, and a circuit breaker that opens when
 * the host of a model dies repeatedly. A browser has no supervision.
 */
import { omitUndefined } from "../../contract/checked.ts";
import { InferyardError, invalidInput } from "../../contract/errors.ts";
import type { Supervision } from "../../hosts/supervision.ts";
import type { CircuitBreakers } from "./circuit-breakers.ts";
import { CrashHistory } from "./crash-history.ts";
import { parseDuration } from "../options/duration.ts";
import { runtimeDefaults } from "../options/runtime-options.ts";
import type { RuntimeSettings } from "../options/runtime-settings.ts";
import { parseSize } from "../options/size.ts";
import { type PlacedFiles, type Target, formatTarget, placementKey } from "../targets/target.ts";
import { sleep } from "../../concurrency/abortable.ts";
import { maxTimerMs } from "../../concurrency/time-limit.ts";

/** Returns the supervision of a model loaded as `reference`. Undefined: none; a host that died is restarted by the next call. */
export type SupervisionFactory = (reference: string, target: Target, variant: PlacedFiles) => Supervision | undefined;

/**
 * Creates the supervision for these settings, with a crash history for each file of weights on each target. `now`: monotonic clock in milliseconds. Throws
 * INPUT_INVALID if `maxProcessMemory` is set and models do not live in processes.
 */
export function createSupervision(
  settings: RuntimeSettings,
  circuits: CircuitBreakers,
  now?: () => number,
): (...placed: Parameters<SupervisionFactory>) => Supervision {
  const { maxProcessMemory, host, onEvent } = settings;
  if (maxProcessMemory !== undefined && host !== undefined && host !== "process") {
    throw invalidInput("maxProcessMemory is set, and models do not live in processes", 'set host to "process", or leave it out');
  }
  const all = { ...runtimeDefaults, ...omitUndefined(settings) };
  const { maxCrashes, crashWindow, loadTimeout, runTimeout = 0, maxProcessGrowth, growthIdle } = all;
  const limits = { maxCrashes, windowMs: parseDuration(crashWindow) };
  const [maxLoadMs, maxRunMs] = [parseTimeLimit(loadTimeout), parseTimeLimit(runTimeout)];
  const maxMemory = maxProcessMemory === undefined ? undefined : parseSize(maxProcessMemory);
  const [maxGrowth, growthIdleMs] = [parseSize(maxProcessGrowth), parseTimeLimit(growthIdle)];
  /** By `placementKey`. Replicas of a model share a history, since they die together. */
  const histories = new Map<string, CrashHistory>();
  return (reference, target, variant) => {
    const key = placementKey(target, variant);
    const crashes = histories.get(key) ?? new CrashHistory(limits, now);
    histories.set(key, crashes);
    const subject = { reference, target: formatTarget(target) };
    return {
      maxMemory,
      growth: growthIdleMs === undefined ? undefined : { bytes: maxGrowth, idleMs: growthIdleMs, isVerified: false },
      maxLoadMs,
      maxRunMs,
      admit: async (signal) => {
        const open = circuits.current().get(key);
        if (open !== undefined) throw circuitOpen(open.reason, open.remainingMs);
        await sleep(crashes.waitMs, signal);
      },
      died: (reason, hungMs) => {
        const crashLoop = crashes.add(hungMs) === "crash-loop";
        const deaths = crashes.count;
        const backoffMs = crashLoop ? limits.windowMs : crashes.waitMs;
        if (crashLoop) circuits.open(key, loopReason(deaths, reason), backoffMs);
        const hung = hungMs === undefined ? {} : { hung: true };
        onEvent?.({ type: "died", ...subject, reason, deaths, crashLoop, backoffMs, ...hung });
        return backoffMs;
      },
      replaced: (why, milliseconds) => onEvent?.({ type: "restarted", ...subject, why, milliseconds }),
    };
  };
}

/** Milliseconds of a time limit. Undefined for 0, which means no limit. */
function parseTimeLimit(written: number | string): number | undefined {
  const milliseconds = parseDuration(written);
  return milliseconds === 0 ? undefined : Math.min(milliseconds, maxTimerMs);
}

function loopReason(deaths: number, reason: string): string {
  const times = deaths === 1 ? "again after a crash loop" : `${deaths} times within crashWindow`;
  return `its host died ${times}, most recently: ${reason}`;
}

function circuitOpen(reason: string, remainingMs: number): InferyardError {
  return new InferyardError("CIRCUIT_OPEN", `this model is not started for ${Math.ceil(remainingMs / 1000)} s: ${reason}`, {
    remedy: "send the request again later; try another target, or another variant of the model",
    retryAfterMs: Math.ceil(remainingMs),
  });
}
