/** Triton's own client (PyPI `tritonclient`), unchanged, against the server; skipped with the reason where it cannot be installed. */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createRuntime } from "../../src/api/create-runtime.ts";
import { createHandler } from "../../src/server/handler.ts";
import { type Listening, listen } from "../../src/server/listen.ts";
import type { Runtime } from "../../src/api/runtime.ts";
import { guideExample } from "../documentation/fixtures/guide-example.ts";
import { installPython, needsInstalled, pythonOf } from "../fixtures/installed.ts";
import { clientPackage, pythonClients } from "./fixtures/client-packages.ts";

const run = promisify(execFile);
const script = fileURLToPath(new URL("fixtures/triton-client.py", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "inferyard-triton-"));
const python = pythonOf(folder);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe(`PyPI: ${clientPackage(pythonClients, "tritonclient")}`, () => {
  needsInstalled(() => installPython(folder, pythonClients));
  let runtime: Runtime;
  let listening: Listening;
  beforeAll(async () => {
    runtime = await createRuntime();
    const handler = createHandler(runtime);
    await handler.readiness.warmUp();
    listening = await listen(handler, { port: 0 });
  });
  afterAll(async () => {
    await listening.close();
    await runtime.dispose();
  });

  it("finds health, metadata and repository, and gets the library's vectors as bytes and as JSON", async () => {
    const texts = ["a cat", "zwölf 🐈", "the quick brown fox"];
    const { stdout } = await run(python, [script, new URL(listening.url).host, JSON.stringify(texts)]);
    const found = JSON.parse(stdout) as Record<string, unknown>;
    const vectors = (await runtime.embed(texts)).embeddings.map((vector) => [...vector]);
    expect(found).toMatchObject({
      live: true,
      ready: true,
      server: { name: "inferyard", extensions: ["binary_tensor_data", "model_configuration", "model_repository", "statistics"] },
      model: { inputs: [{ name: "text", datatype: "BYTES", shape: [-1] }] },
      model_version: ["1"],
      model_ready: true,
      index: [{ name: "builtin", state: "READY" }],
      id: "r1",
      binary: vectors,
      binary_all: vectors,
      json: vectors,
      error: expect.stringContaining("nothing-here"),
      unloaded: true,
    });
    const handle = await runtime.load("builtin");
    const tensor = (data: bigint[]) => ({ dataType: "int64", shape: [1, 3], data: BigInt64Array.from(data) }) as const;
    const outputs = await handle.run({ input_ids: tensor([5n, 6n, 7n]), attention_mask: tensor([1n, 1n, 1n]) });
    await handle.dispose();
    expect(found["raw"]).toEqual([...(Object.values(outputs)[0]!.data as Float32Array)]);
  });

  it("runs the guide's example", async () => {
    const [printed, said] = await guideExample("tritonclient, PyPI", { url: listening.url, folder, python });
    expect(printed).toEqual(said);
  });
});
