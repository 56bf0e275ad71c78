/** The log: JSON lines for requests and for events of models. It never contains texts of clients, but the names of fields that were ignored. */
import { pino } from "pino";
import type { Fact } from "../../contract/backend.ts";
import { getMessage } from "../../contract/errors.ts";
import type { RuntimeEvent } from "../../runtime/options/runtime-settings.ts";
import type { ServerSection } from "../../settings/generated-server-settings.ts";
import { publicEvent } from "./public-event.ts";
import { type RequestRecord, getCode, probePaths } from "./request-records.ts";
import type { StartupReport } from "./startup-report.ts";

/** Writes log lines. */
export interface Log {
  /** A request has been responded to. */
  request(record: RequestRecord): void;
  /** An event of the runtime. */
  event(event: RuntimeEvent): void;
  /** The default memory budget of the models, where no setting gives one. */
  budget(bytes: Fact<number>): void;
  /** Logs the available targets at the start, and where each model would run: one line each. */
  startup(report: StartupReport): void;
  /** Variables with our prefix that are ignored; see `EffectiveSettings`. */
  ignoredVariables(names: readonly string[]): void;
  /** Logs environment variables and settings that have no effect, each with the reason. */
  notes(notes: readonly { readonly name: string; readonly note: string }[]): void;
}

/** Options of a log. */
export interface LogOptions {
  readonly level: NonNullable<ServerSection["logLevel"]>;
  /** Where lines are written. */
  readonly stream: { write(line: string): unknown };
}

/** Events that an operator should notice. */
const warningEvents: ReadonlySet<RuntimeEvent["type"]> = new Set<RuntimeEvent["type"]>([
  "fallback",
  "failover",
  "died",
  "load-failed",
]);

/** A log with one JSON object per line: requests, and events of models. */
export function createLog({ level, stream }: LogOptions): Log {
  const lines = pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    { write: (line) => void stream.write(line) },
  );
  return {
    request({ call, fault, milliseconds, ignored, ...record }) {
      const { error: _error, model, target, decision, queueMs, inferenceMs, tokens } = call ?? {};
      const times = { ms: rounded(milliseconds), queueMs: rounded(queueMs), inferenceMs: rounded(inferenceMs) };
      const line = {
        ...record,
        model,
        target,
        decision,
        tokens,
        ignored: ignored?.names,
        ...times,
        ...failure(record.status, fault),
      };
      lines[getLevel(record, fault)](line, "request");
    },
    budget({ value: bytes, source }) {
      lines.info({ bytes, source }, "memory budget");
    },
    startup({ backends, defaultModel, models }) {
      for (const backend of backends) lines.info(backend, "backend");
      lines.info({ model: defaultModel }, "default model");
      for (const model of models) {
        const isWarning = model.target === undefined || model.fellBackFrom !== undefined;
        lines[isWarning ? "warn" : "info"](model, "model");
      }
    },
    ignoredVariables(names) {
      if (names.length > 0) lines.info({ names }, "ignoring variables of a Service, which are no settings");
    },
    notes(notes) {
      for (const { name, note } of notes) lines.warn({ name }, `${name} ${note}`);
    },
    event(event) {
      const quiet = event.type === "loading" || (event.type === "download" && event.progress.stage !== "done");
      const { type, ...fields } = publicEvent(event);
      lines[quiet ? "debug" : warningEvents.has(event.type) ? "warn" : "info"](fields, type);
    },
  };
}

/** Log level of a request. A response that failed after its status was sent is a warning, unless the client disconnected. */
function getLevel(
  { status, route }: Pick<RequestRecord, "status" | "route">,
  fault: unknown,
): "error" | "warn" | "info" | "debug" {
  if (probePaths.has(route)) return "debug";
  if (status >= 500) return "error";
  const failedLate = fault !== undefined && status < 400 && getCode(fault) !== "ABORTED";
  return status >= 400 || failedLate ? "warn" : "info";
}

/** Code of a failure, with the message of an internal error; the message of a client error may quote the request and is left out. */
function failure(status: number, fault: unknown): object {
  if (fault === undefined) return {};
  const code = getCode(fault);
  if (status < 500 && code !== "DEFECT") return { code };
  return { code, message: getMessage(fault), ...(code === "DEFECT" && fault instanceof Error ? { stack: fault.stack } : {}) };
}

function rounded(milliseconds: number | undefined): number | undefined {
  return milliseconds === undefined ? undefined : Math.round(milliseconds * 10) / 10;
}
