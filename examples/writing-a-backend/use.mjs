// The backend in a runtime, beside the standard ones. Run with: node examples/writing-a-backend/use.mjs
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRuntime, standardBackends } from "inferyard";
import { linear } from "./backend.mjs";
import { makeHead } from "./make-head.mjs";

const folder = await mkdtemp(join(tmpdir(), "linear-head-"));
await makeHead(folder, [1, 0, 2, 0, -1, 0.5], [0.25, 1]);

const runtime = await createRuntime({ backends: [...standardBackends(), linear()] });
const head = await runtime.load(folder);
const { y } = await head.run({ x: { dataType: "float32", shape: [1, 3], data: Float32Array.of(1, 2, 3) } });
console.log(head.target, head.decision.selected.host, [...y.data]);
for (const { target, verdict, reason } of head.decision.candidates) console.log(`  ${target}  ${verdict}  ${reason}`);
for (const sentence of head.decision.selected.evidence) console.log(`  ${sentence}`);
await runtime.dispose();
await rm(folder, { recursive: true });
