import { expect, it } from "vitest";
import { startTracing } from "./tracing-sdk.ts";

const missing = (): Promise<never> => Promise.reject(Object.assign(new Error("not found"), { code: "ERR_MODULE_NOT_FOUND" }));

it.each([
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: "http://localhost:4318" }],
  [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://localhost:4318" }],
  [{ OTEL_TRACES_EXPORTER: "console" }],
])("%j without the packages is an error that says what to install", async (environment) => {
  await expect(startTracing(environment, missing)).rejects.toMatchObject({
    code: "CONFIG_INVALID",
    message: expect.stringContaining(Object.keys(environment)[0]!),
    remedy: expect.stringContaining("npm install @opentelemetry/api @opentelemetry/sdk-node"),
  });
});

it.each([
  [{}],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: "" }],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: "http://localhost:4318", OTEL_SDK_DISABLED: "true" }],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: "http://localhost:4318", OTEL_TRACES_EXPORTER: "none" }],
])("%j needs no package", async (environment) => {
  await expect(startTracing(environment, missing)).resolves.toBeTypeOf("function");
});
