/** Tracing of `serve`, enabled by OpenTelemetry's own environment variables; its SDK reads the others (protocol, headers, sampler, names). */
import { setTimeout as sleep } from "node:timers/promises";
import type { NodeSDK } from "@opentelemetry/sdk-node";
import { InferyardError } from "../../contract/errors.ts";

type Environment = Readonly<Record<string, string | undefined>>;
interface Sdk {
  readonly NodeSDK: typeof NodeSDK;
}

/** Any of these variables enables tracing. */
const requestingVariables: readonly string[] = [
  "OTEL_EXPORTER_OTLP_ENDPOINT",
  "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
  "OTEL_TRACES_EXPORTER",
];
/** At shutdown, maximum time to wait until the last spans are exported. */
const maxFlushMs = 4000;

/**
 * Starts the SDK if a variable enables tracing; the returned function exports the last spans and stops it. Throws CONFIG_INVALID if tracing is
 * enabled and the SDK is not installed.
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
