/**
 * onnxruntime-node sends usage events to Microsoft on Linux and macOS by default (github.com/microsoft/onnxruntime/pull/27379; seen in
 * 1.30.0: a device id and a database in ~/.cache/Microsoft, a log file per process in the temporary folder). It reads these variables once,
 * when it starts; the second name is the one of some versions. A worker has only a copy of the environment, so this is done on the main
 * thread, before a worker loads the library.
 */
const variables = ["ORT_DISABLE_TELEMETRY", "ORT_TELEMETRY_DISABLED"];

/** Turns the events off, unless the user has set the variable. */
export function disableTelemetry(): void {
  for (const variable of variables) process.env[variable] ??= "1";
}
