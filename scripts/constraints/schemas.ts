/**
 * Schemathesis against every document and models of every kind, for minutes: `npm run eval:schemas [-- --examples 15 --seed 1]`. Ends with 1
 * where something fails that is no exception in docs/reference/http.md.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { installPython, pythonOf } from "../../test/fixtures/installed.ts";
import {
  type Document,
  type Run,
  embeddingsInferenceDocument,
  endless,
  hold,
  openInferenceDocument,
  ownDocument,
  schemathesis,
} from "../../test/clients/fixtures/schemathesis.ts";
import { ServerProcesses, ready } from "../../test/fixtures/processes/server-process.ts";
import { hasSharedData, sharedData } from "../../test/fixtures/shared-data.ts";

const { values: flags } = parseArgs({
  options: { examples: { type: "string", default: "15" }, seed: { type: "string", default: "1" } },
});
if (!hasSharedData) throw new Error("../shared/data is not beside this checkout: the documents and models are there");

/** One of each kind that the routes want. */
const models = {
  minilm: `${sharedData}all-MiniLM-L6-v2`,
  scorer: `${sharedData}minilm-pair-scorer`,
  splade: `${sharedData}tiny-random-splade`,
  nli: `${sharedData}tiny-bert-nli-untrained`,
  ner: `${sharedData}minilm-l3-ner`,
};
const names = ["builtin", ...Object.keys(models)];

const folder = mkdtempSync(join(tmpdir(), "inferyard-schemathesis-"));
const servers = new ServerProcesses();
let unexpected = 0;

async function report(what: string, document: Document, run: Run): Promise<void> {
  const began = performance.now();
  const outcome = await hold(document, run);
  const seconds = ((performance.now() - began) / 1000).toFixed(0);
  console.log(`${document.name}, ${what}: ${outcome.operations} operations, ${outcome.cases} cases, ${seconds} s`);
  for (const words of outcome.expected) console.log(`  as known   ${words}`);
  for (const words of outcome.unexpected) console.log(`  UNEXPECTED ${words}`);
  if (outcome.unexpected.length > 0) console.log(outcome.output);
  unexpected += outcome.unexpected.length;
}

try {
  const problem = await installPython(folder, [schemathesis]);
  if (problem !== undefined) throw new Error(`${schemathesis} cannot be installed: ${problem}`);
  const common = { python: pythonOf(folder), examples: Number(flags.examples), seed: Number(flags.seed) };
  for (const name of names) {
    const reference = name === "builtin" ? [] : ["--model", models[name as keyof typeof models]];
    const server = await servers.serve([...reference, "--log-level", "silent"], { models });
    await ready(server);
    const run: Run = { ...common, url: server.url };
    await report(`requests that name no model on ${name}`, await ownDocument(server.url), run);
    await report(`on ${name}`, embeddingsInferenceDocument(), run);
    await report(`on ${name}`, openInferenceDocument(name), run);
    if (name === "builtin") await report(endless, await ownDocument(server.url), { ...run, only: endless, patience: 2 });
    const { ok } = await fetch(`${server.url}/health/ready`);
    if (!ok) throw new Error(`the server with ${name} is not ready any more`);
    servers.killAll();
  }
} finally {
  servers.killAll();
  servers.remove();
  rmSync(folder, { recursive: true, force: true });
}
console.log(unexpected === 0 ? "nothing unexpected" : `${unexpected} failures that are no exceptions`);
process.exitCode = unexpected === 0 ? 0 : 1;
