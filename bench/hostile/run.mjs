// The server under attack, one attack after the other, beside well-behaved clients that embed and stream: the server and its models' processes
// have 2 GB of memory together. It must stay alive and healthy, answer the well-behaved clients rightly with a 99th percentile (of the time to the
// first token, where they stream) under ten times the quiet one, have its memory back within 10 s to 1.3 times the quiet one, and end with all its
// processes within `drainTimeout` and 5 s. `npm run eval:hostile`; `-- --seconds 10` is how long an attack that lasts goes on, `--only "words|others"`
// runs the attacks whose names contain one of them, `--list` names them. Ends with 1 where something does not hold.
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
import { formatTable } from "../measuring/table.mjs";
import { attacks } from "./attacks/index.mjs";
import { unloading } from "./attacks/keep-alive.mjs";
import { pages } from "./attacks/pages.mjs";
import { head, hold, send } from "./client.mjs";
import { createMemoryGroup } from "./memory-limit.mjs";
import { hostileModels } from "./models.mjs";
import { startServer } from "./server.mjs";
import { columns, findKeptMemory, findUnserved, quietMemory, rowOf, settle, timedClients } from "./verdicts.mjs";

const {
  seconds = "10",
  only,
  list = false,
} = readOptions({ seconds: { type: "string" }, only: { type: "string" }, list: { type: "boolean" } });
if (list) {
  console.log(attacks.map(({ name }) => name).join("\n"));
  process.exit(0);
}
const limitBytes = 2 * 2 ** 30;
const [requestTimeoutMs, drainMs, endMs] = [20_000, 5_000, 5_000];

const folder = mkdtempSync(join(tmpdir(), "inferyard-hostile-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
const keys = { good: "good-key", attacker: "attacker-key", admin: "admin-key" };
const models = hostileModels(folder);
const names = {
  tokenizers: Object.keys(models.tokenizers),
  graphs: Object.keys(models.graphs),
  copies: Object.keys(models.copies),
};
const digest = (key) => createHash("sha256").update(key).digest("hex");
const served = { ...models.sound, ...models.tokenizers, ...models.templates, ...models.graphs, ...models.copies };
delete served.builtin;
const common = { models: served, requestTimeout: `${requestTimeoutMs}ms`, drainTimeout: `${drainMs}ms`, logLevel: "warn" };
const withKeys = {
  ...common,
  preload: ["minilm", "chat"],
  keys: Object.entries(keys).map(([name, key]) => ({ name, sha256: digest(key), role: name === "admin" ? "admin" : "reader" })),
};

const group = createMemoryGroup(limitBytes);
const heapMebibytes = group === undefined ? 1024 : undefined;
const chosen = attacks.filter(({ name }) => only === undefined || only.split("|").some((words) => name.includes(words)));
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

// What the library answers to the requests of the well-behaved clients.
async function expectedAnswers() {
  const runtime = await createRuntime();
  const text = "a cat sits on the mat";
  const vectors = [];
  for (const name of ["builtin", "minilm"]) {
    const { embeddings } = await runtime.embed([text], { model: models.sound[name] });
    vectors.push({ name, text, vector: Array.from(embeddings[0]) });
  }
  const messages = [{ role: "user", content: "a cat" }];
  const tokens = 24;
  const options = { model: models.sound.chat, maxNewTokens: tokens, temperature: 0 };
  const schema = { enum: ["red", "green", { color: ["blue", "yellow"] }] };
  const answers = [
    await runtime.chat(messages, options),
    await runtime.chat(messages, { ...options, constraint: { type: "schema", schema } }),
  ];
  await runtime.dispose();
  const [chat, constrained] = answers.map(({ message }) => ({ model: "chat", messages, tokens, text: message.content }));
  const fields = { response_format: { type: "json_schema", json_schema: { name: "color", schema } } };
  return {
    models: vectors,
    chats: [
      { client: "chat", ...chat },
      { client: "constrained", ...constrained, fields },
    ],
  };
}

async function attackServer() {
  const settings = writeSettings("attacked", { server: withKeys });
  const server = await startServer({ folder, settings, group, heapMebibytes });
  await untilReady(server);
  const observer = observe(server);
  await pause(3000);
  await observer.takeWhole(); // the first requests load
  const memory = await quietMemory(server, Number(seconds) * 1000);
  const quiet = await observer.takeWhole();
  rows.push(rowOf({ name: "quiet", said: "", observed: quiet, quiet, peak: memory.all, after: { ...memory, seconds: 0 } }));
  for (const words of findUnserved(quiet, quiet)) violate(`quiet: ${words}`);
  for (const attack of chosen) {
    if (!server.isAlive()) break;
    console.error(`... ${attack.name}`);
    group?.resetPeak();
    const peak = watchPeak(server);
    const processes = () => processesOf(server).length;
    const { said, wrong } = await attack.run({ server, keys, names, seconds: Number(seconds), processes, requestTimeoutMs });
    const observed = await observer.takeWhole();
    const peakMegabytes = peak();
    await unloadOthers(server);
    const after = await settle(server, memory);
    observed.push(...(await observer.take()).filter(({ client }) => client === "health"));
    rows.push(rowOf({ name: attack.name, said, observed, quiet, peak: peakMegabytes, after }));
    if (wrong > 0) violate(`${attack.name}: ${said}`);
    if (!server.isAlive()) violate(`${attack.name}: the server ended: ${server.stderr().slice(-500)}`);
    for (const words of [...findUnserved(observed, quiet), ...findKeptMemory(after, memory)]) violate(`${attack.name}: ${words}`);
  }
  if (group !== undefined && group.kills() > 0) violate(`the kernel killed ${group.kills()} processes for their memory`);
  observer.end();
  await endServer(server, "SIGTERM", "after all attacks");
  console.log(`\n${formatTable(columns, rows)}`);
}

async function untilReady(server) {
  for (let check = 0; check < 600; check += 1) {
    const { status } = await send(server, { method: "GET", path: "/health/ready" });
    if (status === 200) return;
    await pause(100);
  }
  violate("the server is not ready after 60 s");
}

// Models that an attack loaded stay for their keepAlive: an operator unloads them, so that what is left is the attack's.
async function unloadOthers(server) {
  for (const model of Object.keys(served).filter((name) => !withKeys.preload.includes(name)))
    await send(server, { path: `/api/models/${model}/unload`, body: {}, key: keys.admin, longestMs: 10_000 });
}

// Its records of an attack that is short have a request of each well-behaved client too, begun within it.
function observe({ url }) {
  const workerData = { url, key: keys.good, ...expected, pauseMs: 20, localAddress: "127.0.0.2" };
  const worker = new Worker(new URL("observer.mjs", import.meta.url), { workerData });
  worker.on("error", (error) => violate(`the well-behaved clients failed: ${error.stack}`));
  // The records since the last call.
  const take = () =>
    new Promise((resolve) => {
      worker.once("message", ({ take: records }) => resolve(records));
      worker.postMessage("take");
    });
  return {
    take,
    // The same, once every client whose time is judged has one.
    takeWhole: async () => {
      const records = await take();
      const isWhole = () => timedClients.every((name) => records.some(({ client }) => client === name));
      for (let check = 0; check < 350 && !isWhole(); check += 1) {
        await pause(100);
        records.push(...(await take()));
      }
      return records;
    },
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
  const onKeyless = { "pages and proxies, no keys": pages, "a program of this machine, no keys": unloading };
  for (const [name, attack] of Object.entries(onKeyless)) {
    const { said, wrong } = await attack(server);
    console.log(`\n${name}: ${said}`);
    if (wrong > 0) violate(`${name}: ${said}`);
  }
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
