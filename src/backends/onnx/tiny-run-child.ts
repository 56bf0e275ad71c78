/** Program of the child process of `tiny-run.ts`: its request is the device, and its answer the milliseconds that the tiny graph took. */
import type { Device } from "../../contract/backend.ts";
import { InferyardError } from "../../contract/errors.ts";
import { answerParent } from "../../platform/node/child-report.ts";
import { runTinyGraph } from "../onnxruntime/tiny-graph.ts";
import { importLibrary } from "./package.ts";
import { getProvider, sessionOptions } from "./providers.ts";

await answerParent(async (request): Promise<number> => {
  const device = request as Device;
  const started = performance.now();
  const provider = getProvider(device);
  if (provider === undefined)
    throw new InferyardError("BACKEND_UNAVAILABLE", `onnxruntime-node has no provider for ${device.type}`);
  const runtime = await importLibrary("warning");
  await runTinyGraph(runtime, { ...sessionOptions(provider, device, { threads: 1 }), logSeverityLevel: 2 });
  return performance.now() - started;
});
