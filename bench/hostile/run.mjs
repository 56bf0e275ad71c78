// The server under attack, one attack after the other, beside a well-behaved client: the server and its models' processes have 2 GB of memory
// together. It must stay alive, answer the well-behaved client rightly with a 99th percentile under ten times the quiet one, give memory back,
// and end with all its processes within `drainTimeout` and 5 s. `npm run eval:hostile`; `-- --seconds 10` is how long an attack that lasts
// goes on, `--only words` runs the attacks whose names contain them. Ends with 1 where something does not hold.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { createRuntime } from "../measuring/built-package.mjs";
import { childrenOf, leftOf } from "../chaos/server.mjs";
import { describeLoad, describeMachine, watchLoad } from "../measuring/machine.mjs";
import { readOptions } from "../measuring/options.mjs";
import { quantile } from "../measuring/statistics.mjs";
import { formatTable } from "../measuring/table.mjs";
import { bodies } from "./attacks/bodies.mjs";
import { constraints } from "./attacks/constraints.mjs";
import { graphs, hang, impatience } from "./attacks/graphs.mjs";
import { pages } from "./attacks/pages.mjs";
import { placement, priority } from "./attacks/placement.mjs";
import { amplification, sockets } from "./attacks/sockets.mjs";
import { tensors } from "./attacks/tensors.mjs";
import { texts, tokenizers } from "./attacks/texts.mjs";
import { head, hold, send } from "./client.mjs";
import { createMemoryGroup } from "./memory-limit.mjs";
import { hostileModels } from "./models.mjs";
import { startServer } from "./server.mjs";

const { seconds = "10", only } = readOptions({ seconds: { type: "string" }, only: { type: "string" } });
const limitBytes = 2 * 2 ** 30;
const [requestTimeoutMs, drainMs, endMs] = [20_000, 5_000, 5_000];
const allowedRatio = 10;
/** Memory that may stay after an attack, in MB above what the server held before all of them. */
const allowedGrowth = 400;
const settleMs = 10_000;
/** The models of the well-behaved client: two that embed, and one that answers in a stream, of which the time to the first token counts. */
const judged = ["builtin", "minilm", "chat"];
const honestSchema = {
  type: "object",
  properties: { a: { type: "integer", maximum: 99 }, b: { type: "boolean" } },
  required: ["a", "b"],
  additionalProperties: false,
};
const honestChat = {
  messages: [{ role: "user", content: "Hi" }],
  options: { temperature: 1, seed: 3, maxNewTokens: 40, constraint: { type: "schema", schema: honestSchema } },
  request: {
    model: "chat",
    messages: [{ role: "user", content: "Hi" }],
    temperature: 1,
    seed: 3,
    max_tokens: 40,
    stream: true,
    response_format: { type: "json_schema", json_schema: { name: "pair", schema: honestSchema } },
  },
};

const folder = mkdtempSync(join(tmpdir(), "inferyard-hostile-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
const keys = { good: "good-key", attacker: "attacker-key", admin: "admin-key" };
const models = hostileModels(folder);
const names = { tokenizers: Object.keys(models.tokenizers), graphs: Object.keys(models.graphs) };
const digest = (key) => createHash("sha256").update(key).digest("hex");
const served = { ...models.sound, ...models.language, ...models.tokenizers, ...models.graphs };
delete served.builtin;
const common = { models: served, requestTimeout: `${requestTimeoutMs}ms`, drainTimeout: `${drainMs}ms`, logLevel: "warn" };
const withKeys = {
  ...common,
  preload: ["minilm", "chat"],
  keys: Object.entries(keys).map(([name, key]) => ({ name, sha256: digest(key), role: name === "admin" ? "admin" : "reader" })),
};

const group = createMemoryGroup(limitBytes);
const heapMebibytes = group === undefined ? 1024 : undefined;
const attacks = [
  ...bodies,
  placement,
  texts,
  tokenizers,
  tensors,
  ...sockets,
  amplification,
  priority,
  graphs,
  impatience,
  hang,
  ...constraints,
];
const chosen = attacks.filter(({ name }) => only === undefined || name.includes(only));
const violations = [];
const violate = (words) => {
  violations.push(words);
  console.error(words);
};

console.log(describeMachine());
console.log(
  group === undefined
    ? "memory: a heap of 1 GB (no control group can be made here)"
    : "memory: a control group of 2 GB for the server and all it starts",
);
const load = watchLoad();
const rows = [];
const expected = await expectedAnswers();
await attackServer();
await attackPages();
for (const signal of ["SIGTERM", "SIGKILL"]) await endUnder(signal);
group?.remove();
console.log(`\n${describeLoad(load())}`);
console.log(`\n${violations.length} violations`);
process.exitCode = violations.length === 0 ? 0 : 1;

// What the well-behaved client asks, and what it is answered when nothing else happens.
async function expectedAnswers() {
  const runtime = await createRuntime();
  const text = "a cat sits on the mat";
  const vectors = [];
  for (const name of ["builtin", "minilm"]) {
    const { embeddings } = await runtime.embed([text], { model: models.sound[name] });
    vectors.push({ name, text, vector: Array.from(embeddings[0]) });
  }
  const { message } = await runtime.chat(honestChat.messages, { ...honestChat.options, model: models.language.chat });
  await runtime.dispose();
  return [...vectors, { name: "chat", request: honestChat.request, answer: message.content }];
}

async function attackServer() {
  const settings = writeSettings("attacked", { server: withKeys });
  const server = await startServer({ folder, settings, group, heapMebibytes });
  const observer = observe(server);
  await pause(3000);
  await observer.take(); // the first requests load
  await pause(Number(seconds) * 1000);
  const quiet = await observer.take();
  const memory = server.memory();
  describeRow({ name: "quiet", said: "", observed: quiet, quiet, peak: memory, after: memory });
  for (const attack of chosen) {
    if (!server.isAlive()) break;
    console.error(`... ${attack.name}`);
    group?.resetPeak();
    const peak = watchPeak(server);
    const processes = () => processesOf(server).length;
    const { said, wrong } = await attack.run({ server, keys, names, seconds: Number(seconds), processes, requestTimeoutMs });
    const observed = await observer.take();
    const peakMegabytes = peak();
    await unloadOthers(server);
    await pause(settleMs);
    await observer.take(); // what follows is not of this attack
    describeRow({ name: attack.name, said, observed, quiet, peak: peakMegabytes, after: server.memory() });
    if (wrong > 0) violate(`${attack.name}: ${said}`);
    if (!server.isAlive()) violate(`${attack.name}: the server ended: ${server.stderr().slice(-500)}`);
    judge(attack.name, observed, quiet);
    if (server.memory() > memory + allowedGrowth)
      violate(`${attack.name}: memory stays at ${Math.round(server.memory())} MB, and was ${Math.round(memory)}`);
  }
  if (group !== undefined && group.kills() > 0) violate(`the kernel killed ${group.kills()} processes for their memory`);
  observer.end();
  await endServer(server, "SIGTERM", "after all attacks");
  console.log(
    `\n${formatTable(["attack", ...judged.flatMap((model) => [`${model} p99 ms`, "ratio"]), "not right", "peak MB", "after MB", "answers"], rows)}`,
  );
}

// Models that an attack loaded stay for their keepAlive: an operator unloads them, so that what is left is the attack's.
async function unloadOthers(server) {
  for (const model of Object.keys(served).filter((name) => name !== "minilm" && name !== "chat"))
    await send(server, { path: `/api/models/${model}/unload`, body: {}, key: keys.admin, longestMs: 10_000 });
}

function describeRow({ name, said, observed, quiet, peak, after }) {
  const cells = judged.flatMap((model) => {
    const [now, before] = [p99(observed, model), p99(quiet, model)];
    return [now.toFixed(0), (now / before).toFixed(1)];
  });
  rows.push([
    name,
    ...cells,
    observed.filter(({ outcome }) => outcome !== "right").length,
    Math.round(peak),
    Math.round(after),
    said,
  ]);
}

function judge(name, observed, quiet) {
  const failures = observed.filter(({ outcome }) => outcome !== "right");
  for (const outcome of new Set(failures.map((record) => record.outcome))) {
    const same = failures.filter((record) => record.outcome === outcome);
    const [{ model, milliseconds, body }] = same;
    violate(
      `${name}: the well-behaved client got ${outcome} ${same.length} times, first from ${model} after ${Math.round(milliseconds)} ms ${body}`,
    );
  }
  for (const model of judged) {
    const ratio = p99(observed, model) / p99(quiet, model);
    if (!(ratio < allowedRatio)) violate(`${name}: p99 of ${model} is ${ratio.toFixed(1)} times the quiet one`);
  }
}

function p99(records, model) {
  const times = records.filter((record) => record.model === model).map(({ milliseconds }) => milliseconds);
  return times.length === 0 ? Number.NaN : quantile(times, 0.99);
}

function observe({ url }) {
  const workerData = { url, key: keys.good, models: expected, pauseMs: 20, localAddress: "127.0.0.2" };
  const worker = new Worker(new URL("observer.mjs", import.meta.url), { workerData });
  worker.on("error", (error) => violate(`the well-behaved client failed: ${error.stack}`));
  return {
    // The records since the last call.
    take: () =>
      new Promise((resolve) => {
        worker.once("message", ({ take }) => resolve(take));
        worker.postMessage("take");
      }),
    end: () => worker.postMessage("end"),
  };
}

function watchPeak(server) {
  let highest = server.memory();
  const timer = setInterval(() => (highest = Math.max(highest, server.memory())), 200);
  return () => {
    clearInterval(timer);
    return Math.max(highest, (group?.peak() ?? 0) / 2 ** 20);
  };
}

// Its children and theirs.
function processesOf({ child }) {
  const below = (pid) => childrenOf(pid).flatMap((each) => [each, ...below(each)]);
  return below(child.pid);
}

async function attackPages() {
  const settings = writeSettings("keyless", { server: common });
  const server = await startServer({ folder, settings, group, heapMebibytes });
  const { said, wrong } = await pages(server);
  console.log(`\npages and proxies, no keys (item 3): ${said}`);
  if (wrong > 0) violate(`pages: ${said}`);
  await endServer(server, "SIGTERM", "keyless");
}

// Ends the server while children compute for ever, one is stopped, answers are unread and bodies unfinished.
async function endUnder(signal) {
  const settings = writeSettings("ending", { server: withKeys });
  const server = await startServer({ folder, settings, group, heapMebibytes });
  const infer = (model, inputs, target) =>
    send(server, {
      path: `/v2/models/${model}/infer`,
      body: { inputs },
      key: keys.attacker,
      headers: { "x-inferyard-target": `require=${target}` },
    });
  const x = { name: "x", datatype: "FP32", shape: [1], data: [1] };
  const trips = (count) => ({ name: "trips", datatype: "INT64", shape: [], data: [count] });
  await Promise.all([
    infer("loop", [x, trips(3)], "onnx:cpu"),
    send(server, { path: "/api/embed", body: { model: "minilm", input: "a" }, key: keys.good }),
    send(server, { path: "/api/embed", body: { model: "tiny", input: "a" }, key: keys.good }),
  ]);
  const [first] = processesOf(server);
  // Nobody is left to end a stopped process when the server was killed: it ends when it is continued (docs/decisions/0015).
  if (first !== undefined && signal !== "SIGKILL") process.kill(first, "SIGSTOP");
  void infer("loop", [x, trips(2 ** 53 - 1)], "onnx:cpu");
  void infer("endless", [x], "onnx:cpu");
  void infer("endless", [x], "native");
  hold(server, `${head("POST", "/api/embed", { key: keys.attacker, length: 1000 })}{"input":"unfin`);
  hold(server, head("GET", "/api/events", { key: keys.attacker }));
  await pause(2000);
  await endServer(server, signal, "with endless runs, an endless load, a stopped process (SIGTERM) and unfinished requests");
}

async function endServer(server, signal, situation) {
  const seen = [server.child.pid, ...processesOf(server)];
  const began = performance.now();
  server.child.kill(signal);
  const late = setTimeout(() => server.child.kill("SIGKILL"), drainMs + endMs + 20_000);
  const { code } = await server.ended;
  clearTimeout(late);
  const tookMs = performance.now() - began;
  const left = await leftOf(seen);
  const tookAll = performance.now() - began;
  console.log(
    `${signal} ${situation}: the server ended after ${(tookMs / 1000).toFixed(1)} s with code ${code}, all ${seen.length} processes after ${(tookAll / 1000).toFixed(1)} s; left: ${left.length}`,
  );
  if (tookMs > drainMs + endMs) violate(`${signal} ${situation}: it took ${tookMs.toFixed(0)} ms`);
  if (signal === "SIGTERM" && code !== 0) violate(`${signal} ${situation}: exit code ${code}: ${server.stderr().slice(-500)}`);
  if (left.length > 0) {
    violate(`${signal} ${situation}: processes were left: ${left.map((pid) => describeProcess(pid)).join(", ")}`);
    for (const pid of left) process.kill(pid, "SIGKILL");
  }
}

function describeProcess(pid) {
  return execFileSync("ps", ["-o", "pid=,stat=,etime=,rss=", "-p", String(pid)])
    .toString()
    .trim();
}

function writeSettings(name, content) {
  const path = join(folder, `${name}.yaml`);
  writeFileSync(path, JSON.stringify(content)); // JSON is YAML
  return path;
}
