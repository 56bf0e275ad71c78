/** Asks NVIDIA's driver in a child process: a driver that does not fit its kernel module can hang or end the process that loads it. */
import { fileURLToPath } from "node:url";
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
  const program = fileURLToPath(new URL("./cuda-driver-child.ts", import.meta.url));
  const { report, ended } = await runReportingChild<DriverReport>(program, library, signal);
  throwIfAborted(signal);
  return report ?? { problem: `asking ${library} for its GPUs: ${ended}` };
}
