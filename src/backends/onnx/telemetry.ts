/**
 * onnxruntime-node sends usage events to Microsoft on Linux and macOS by default (github.com/microsoft/onnxruntime/pull/27379;
 * observed in 1.30.0: a device id and a database in ~/.cache/Microsoft, and a log file per process in the temporary folder). It
 * reads these variables once, at its start; some versions use the second name. Workers have a copy of the environment, so the
 * main thread sets them before a worker loads the library.
 */
const variables = ["ORT_DISABLE_TELEMETRY", "ORT_TELEMETRY_DISABLED"];

/** Disables the events, unless the user has set the variable. */
export function disableTelemetry(): void {
  for (const variable of variables) process.env[variable] ??= "1";
}
