/** Program of the child process of `tiny-run.ts`. argv[2] is the device as JSON; the last line of stdout is the report. */
import type { Device } from "../../contract/backend.ts";
import { getMessage } from "../../contract/errors.ts";
import { runTinyGraph } from "../onnxruntime/tiny-graph.ts";
import { importLibrary } from "./package.ts";
import { getProvider, sessionOptions } from "./providers.ts";
import type { ChildReport } from "./tiny-run.ts";

async function run(device: Device): Promise<ChildReport> {
  const started = performance.now();
  const provider = getProvider(device);
  if (provider === undefined) return { ok: false, message: `onnxruntime-node has no provider for ${device.type}` };
  const runtime = await importLibrary("warning");
  await runTinyGraph(runtime, { ...sessionOptions(provider, device, { threads: 1 }), logSeverityLevel: 2 });
  return { ok: true, milliseconds: performance.now() - started };
}

const report = await run(JSON.parse(process.argv[2] ?? "") as Device).catch((error: unknown): ChildReport => ({
  ok: false,
  message: getMessage(error),
}));
process.stdout.write(`${JSON.stringify(report)}\n`);
