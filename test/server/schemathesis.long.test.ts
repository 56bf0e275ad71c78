/** The server's routes against OpenAPI documents: a run of seconds. `npm run eval:schemas` is the long one, on models of every kind. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { installPython, needsInstalled, pythonOf } from "../fixtures/installed.ts";
import {
  type Document,
  type Outcome,
  embeddingsInferenceDocument,
  hold,
  openInferenceDocument,
  ownDocument,
  schemathesis,
} from "../clients/fixtures/schemathesis.ts";
import { type ServerProcess, ServerProcesses, ready } from "../fixtures/processes/server-process.ts";
import { needsData } from "../fixtures/shared-data.ts";
import { amount, onRequest } from "../fixtures/slow.ts";

const folder = mkdtempSync(join(tmpdir(), "inferyard-schemathesis-"));
const servers = new ServerProcesses();
afterAll(() => {
  servers.killAll();
  servers.remove();
  rmSync(folder, { recursive: true, force: true });
});

describe(`PyPI: ${schemathesis}`, () => {
  needsInstalled(() => installPython(folder, [schemathesis]));
  let server: ServerProcess;
  beforeAll(async () => {
    server = await servers.serve(["--log-level", "silent"]);
    await ready(server);
  });

  const run = (document: Document, coverage = true): Promise<Outcome> =>
    hold(document, { python: pythonOf(folder), url: server.url, examples: amount(5, 2), seed: 1, coverage });

  it("our own document: nothing fails", async () => {
    const document = await ownDocument(server.url);
    const { unexpected, cases, output } = await run(document, false); // `npm run eval:schemas` tries the borders of every field too
    expect(unexpected, output).toEqual([]);
    expect(cases).toBeGreaterThan(150);
  });

  const [skip, title] = needsData("others' documents");
  const [skipOther, other] = onRequest(`${title}: text-embeddings-inference, but for the errors of its OpenAI route`);
  it.skipIf(skip || skipOther)(other, async () => {
    const { unexpected, cases, output } = await run(embeddingsInferenceDocument());
    expect(unexpected, output).toEqual([]);
    expect(cases).toBeGreaterThan(300);
  });

  it.skipIf(skip)(`${title}: the Open Inference Protocol`, async () => {
    const { unexpected, cases, output } = await run(openInferenceDocument("builtin"));
    expect(unexpected, output).toEqual([]);
    expect(cases).toBeGreaterThan(30);
  });
});
