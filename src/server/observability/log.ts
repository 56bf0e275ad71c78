/** The log: a line of JSON for each request and each thing that happens to a model. Texts of clients are never in it. */
import { pino } from "pino";
import type { Fact } from "../../backend.ts";
import { messageOf } from "../../errors.ts";
import type { RuntimeEvent } from "../../runtime/options/runtime-settings.ts";
import type { LogLevel } from "../../settings/server-section.ts";
import { publicEvent } from "./public-event.ts";
import { type RequestRecord, codeOf } from "./request-records.ts";

export interface Log {
  request(record: RequestRecord): void;
  event(event: RuntimeEvent): void;
  /** The memory that models may take together, where no setting says it. */
  budget(bytes: Fact<number>): void;
}

export interface LogOptions {
  readonly level: LogLevel;
  /** Where lines go. */
  readonly stream: { write(line: string): unknown };
}

/** Asked for all the time by those who watch. */
const probeRoutes: ReadonlySet<string> = new Set([
  "/health",
  "/health/live",
  "/health/ready",
  "/v2/health/live",
  "/v2/health/ready",
  "/metrics",
]);

/** What an operator should see. */
const warningEvents: ReadonlySet<RuntimeEvent["type"]> = new Set<RuntimeEvent["type"]>(["failover", "died", "load-failed"]);

export function createLog({ level, stream }: LogOptions): Log {
  const lines = pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    { write: (line) => void stream.write(line) },
  );
  return {
    request({ call, fault, milliseconds, ...record }) {
      const { error: _error, model, target, queueMs, inferenceMs, tokens } = call ?? {};
      const times = { ms: rounded(milliseconds), queueMs: rounded(queueMs), inferenceMs: rounded(inferenceMs) };
      const line = { ...record, model, target, tokens, ...times, ...failure(record.status, fault) };
      lines[levelOf(record)](line, "request");
    },
    budget({ value: bytes, source }) {
      lines.info({ bytes, source }, "memory budget");
    },
    event(event) {
      const quiet = event.type === "loading" || (event.type === "download" && event.progress.stage !== "done");
      const { type, ...fields } = publicEvent(event);
      lines[quiet ? "debug" : warningEvents.has(event.type) ? "warn" : "info"](fields, type);
    },
  };
}

function levelOf({ status, route }: Pick<RequestRecord, "status" | "route">): "error" | "warn" | "info" | "debug" {
  if (probeRoutes.has(route)) return "debug";
  if (status >= 500) return "error";
  return status >= 400 ? "warn" : "info";
}

/** The words of a failure of ours are for whoever mends it; those of a bad request may quote it. */
function failure(status: number, fault: unknown): object {
  if (fault === undefined) return {};
  const code = codeOf(fault);
  if (status < 500) return { code };
  return { code, message: messageOf(fault), ...(code === "DEFECT" && fault instanceof Error ? { stack: fault.stack } : {}) };
}

function rounded(milliseconds: number | undefined): number | undefined {
  return milliseconds === undefined ? undefined : Math.round(milliseconds * 10) / 10;
}
