/** Asks NVIDIA's driver in a child process: a driver that does not fit its kernel module can hang or end the process that loads it. */
import { findCudaDriver, nodeSources } from "../../../devices/index.ts";
import { throwIfAborted } from "../../../contract/errors.ts";
import { runReportingChild } from "../../../platform/node/report-child.ts";
import type { CudaDevice } from "./cuda-device.ts";

/** The GPUs, or why the driver gave none. */
export type DriverReport = { readonly devices: readonly CudaDevice[] } | { readonly problem: string };

/** Asks the driver library at `path`, by default the one that the loader finds. Never throws but ABORTED. */
export async function askDriver(signal?: AbortSignal, path?: string): Promise<DriverReport> {
  const library = path ?? (await findCudaDriver(nodeSources()));
  if (library === undefined) return { problem: "the loader finds no NVIDIA driver library" };
  const program = new URL("./cuda-driver-child.ts", import.meta.url);
  const asked = await runReportingChild<readonly CudaDevice[]>(program, library, { signal });
  throwIfAborted(signal);
  if (asked.ok) return { devices: asked.value };
  const { code, message } = asked.error;
  return { problem: code === "HOST_DIED" ? `asking ${library} for its GPUs: ${message}` : message };
}
