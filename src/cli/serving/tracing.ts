/** Traces of `serve`, where OpenTelemetry's own variables ask for them: its SDK reads the rest of them (protocol, headers, sampler, names). */
import { setTimeout as sleep } from "node:timers/promises";
import type { NodeSDK } from "@opentelemetry/sdk-node";
import { InferyardError } from "../../errors.ts";

type Environment = Readonly<Record<string, string | undefined>>;
interface Sdk {
  readonly NodeSDK: typeof NodeSDK;
}

/** Any of these asks for traces. */
const requestingVariables: readonly string[] = [
  "OTEL_EXPORTER_OTLP_ENDPOINT",
  "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
  "OTEL_TRACES_EXPORTER",
];
/** At the end, spans are waited for so long that no collector took yet. */
const maxFlushMs = 4000;

/**
 * Starts the SDK; the result ends it, when the last spans were sent. CONFIG_INVALID where traces are asked for and the SDK is not installed.
 */
export async function startTracing(
  environment: Environment,
  load: () => Promise<Sdk> = () => import("@opentelemetry/sdk-node"),
): Promise<() => Promise<void>> {
  const variable = requestingVariables.find((name) => (environment[name] ?? "") !== "");
  const off = environment["OTEL_SDK_DISABLED"]?.toLowerCase() === "true" || environment["OTEL_TRACES_EXPORTER"] === "none";
  if (variable === undefined || off) return async () => {};
  const { NodeSDK: Collecting } = await load().catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new InferyardError(
      "CONFIG_INVALID",
      `${variable} asks for traces, and the package @opentelemetry/sdk-node is not installed`,
      {
        remedy: `npm install @opentelemetry/api @opentelemetry/sdk-node, or unset ${variable}`,
        cause: error,
      },
    );
  });
  const isNamed = `${environment["OTEL_SERVICE_NAME"] ?? ""}${environment["OTEL_RESOURCE_ATTRIBUTES"] ?? ""}` !== "";
  // Traces alone: metrics are at /metrics, and the log is on stderr.
  const sdk = new Collecting({ ...(isNamed ? {} : { serviceName: "inferyard" }), metricReaders: [], logRecordProcessors: [] });
  sdk.start();
  return async () => {
    await Promise.race([sdk.shutdown().catch(() => {}), sleep(maxFlushMs, undefined, { ref: false })]);
  };
}
