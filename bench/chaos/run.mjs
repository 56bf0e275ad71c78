// The server treated badly, round after round: its models' processes killed, broken models loaded, clients that hang up, senders that stall,
// SIGTERM under load. Every request that was taken gets a right answer or a typed error that may be retried, no process is left behind, and
// the port is free again. `npm run eval:chaos`; `-- --rounds 200 --seed 1` are what holds when nothing is said, `--small` leaves MiniLM out.
// Ends with 1 where something did not hold.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { describeMachine } from "../measuring/machine.mjs";
import { readOptions } from "../measuring/options.mjs";
import { createRandom } from "../measuring/random.mjs";
import { formatTable } from "../measuring/table.mjs";
import { ask, hangUp, post, sendSlowly } from "./clients.mjs";
import { brokenModels, libraryVectors, soundModels } from "./models.mjs";
import { leftOf, portIsFree, startServer } from "./server.mjs";

const flags = { rounds: { type: "string" }, seed: { type: "string" }, small: { type: "boolean" } };
const { rounds = "200", seed = "1", small = false } = readOptions(flags);
const random = createRandom(Number(seed) * 7919);
for (let skipped = 0; skipped < 20; skipped += 1) random(); // small seeds begin with small numbers
const below = (count) => Math.floor(random() * count);
const pick = (list) => list[below(list.length)];

const folder = mkdtempSync(join(tmpdir(), "inferyard-chaos-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
const sound = soundModels(folder, small);
const broken = brokenModels(folder, sound.tiny, random);
const { texts, vectors } = await libraryVectors(sound);
const settings = join(folder, "settings.yaml");
const limits = { headersTimeout: "500ms", bodyTimeout: "1s", drainTimeout: "30s", requestTimeout: "60s" };
writeFileSync(settings, JSON.stringify({ crashWindow: "1s", server: { models: { ...sound, ...broken }, ...limits } }));

const kinds = { kill, broken: loadBroken, hangup, slow, term };
// Those that cost more come more seldom.
const order = ["kill", "kill", "kill", "broken", "broken", "hangup", "hangup", "slow", "term"];
const counts = Object.fromEntries(Object.keys(kinds).map((kind) => [kind, {}]));
const violations = [];
let round = 0;
let server = await startServer(folder, settings, 0);
const { port } = server;
process.once("SIGINT", () => server.child.kill("SIGTERM"));
const began = performance.now();
await recover();
for (round = 1; round <= Number(rounds); round += 1) {
  const kind = pick(order);
  count(kind, "rounds");
  await kinds[kind](kind);
  await recover();
}
round = "the end";
await endServer();
report();

function violate(words) {
  violations.push(`round ${round}: ${words}`);
  console.error(violations.at(-1));
}

function count(kind, what) {
  counts[kind][what] = (counts[kind][what] ?? 0) + 1;
}

// So many honest requests, each for one of the sound models; sent within half a tenth of a second.
function honest(amount) {
  return Array.from({ length: amount }, async () => {
    const model = pick(Object.keys(sound));
    const places = Array.from({ length: 1 + below(3) }, () => below(texts.length));
    const asked = {
      model: model === "builtin" ? model : `${model}@onnx:cpu`,
      texts: places.map((place) => texts[place]),
      expected: places.map((place) => vectors[model][place]),
    };
    await pause(below(50));
    return ask(server.url, asked);
  });
}

// `may`: outcomes besides a right answer.
async function judge(kind, asking, may) {
  for (const { outcome, status, code, message } of await Promise.all(asking)) {
    count(kind, outcome);
    if (outcome !== "right" && !may.includes(outcome))
      violate(`${kind}: ${outcome} ${status ?? ""} ${code ?? ""} ${message ?? ""}`);
  }
}

async function kill(kind) {
  const asking = honest(6);
  await pause(below(120));
  const children = server.children();
  const victims = random() < 0.3 ? children : children.slice(0, 1 + below(2));
  for (const pid of victims) killProcess(pid);
  if (victims.length > 0) count(kind, "killed");
  await judge(kind, asking, ["retry"]);
}

function killProcess(pid) {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // it has ended by itself
  }
}

async function loadBroken(kind) {
  const names = [pick(Object.keys(broken)), pick(Object.keys(broken))];
  const loads = names.map(async (name) => ({ name, ...(await post(server.url, `/api/models/${name}@onnx:cpu/load`, {})) }));
  await judge(kind, honest(6), []); // nobody else notices
  for (const { name, status, body } of await Promise.all(loads)) {
    const { code, retryable } = body.error ?? {};
    count(kind, "refused");
    const expected =
      name === "abort" ? ["HOST_DIED", "CIRCUIT_OPEN"] : ["MODEL_INVALID", "MODEL_UNSUPPORTED", "BACKEND_UNAVAILABLE"];
    if (!expected.includes(code) || (name === "abort" && retryable !== true))
      violate(`the model ${name}: ${status} ${code} ${body.error?.message ?? ""}`);
  }
}

async function hangup(kind) {
  const leaving = Array.from({ length: 8 }, () => {
    const input = Array.from({ length: 1 + below(8) }, () => pick(texts));
    return hangUp(server, { model: `${pick(["tiny", Object.keys(sound)[1]])}`, input }, below(60));
  });
  await judge(kind, honest(6), []);
  await Promise.all(leaving);
}

async function slow(kind) {
  const senders = Array.from({ length: 4 }, () => sendSlowly(server, pick(["head", "body"])));
  await judge(kind, honest(6), []);
  for (const said of await Promise.all(senders)) {
    count(kind, "refused");
    if (!said.includes(" 408 ")) violate(`a slow sender was told ${JSON.stringify(said)}`);
  }
}

// What was sent before the signal is answered; what is sent after it is answered, refused in words, or not taken any more.
async function term(kind) {
  const before = honest(20);
  await pause(80 + below(100)); // all are sent by then, the last 30 ms ago
  server.children();
  server.child.kill("SIGTERM");
  const after = honest(6);
  await judge(kind, before, ["retry"]);
  await judge(kind, after, ["retry", "unreached"]);
  await ended();
  server = await startServer(folder, settings, port);
}

async function endServer() {
  server.children();
  server.child.kill("SIGTERM");
  await ended();
}

// A second signal would end it at once.
async function ended() {
  const late = setTimeout(() => server.child.kill("SIGKILL"), 60_000);
  const { code, signal } = await server.ended;
  clearTimeout(late);
  if (code !== 0) violate(`the server ended with code ${code}, signal ${signal}`);
  const left = await leftOf(server.seen);
  if (left.length > 0) violate(`processes were left behind: ${left.join(", ")}`);
  if (!(await portIsFree(port))) violate(`port ${port} is not free`);
}

// Every sound model answers again, by being asked again as a client would.
async function recover() {
  for (const model of Object.keys(sound)) {
    const place = below(texts.length);
    const asked = {
      model: model === "builtin" ? model : `${model}@onnx:cpu`,
      texts: [texts[place]],
      expected: [vectors[model][place]],
    };
    const deadline = performance.now() + 30_000;
    let last;
    do {
      if (last !== undefined) await pause(100);
      last = await ask(server.url, asked);
    } while (last.outcome === "retry" && performance.now() < deadline);
    if (last.outcome !== "right") violate(`${model} did not come back: ${last.outcome} ${last.code ?? ""} ${last.message ?? ""}`);
  }
}

function report() {
  const columns = ["rounds", "right", "retry", "unreached", "refused", "wrong", "other", "killed"];
  const rows = Object.entries(counts).map(([kind, own]) => [kind, ...columns.map((column) => own[column] ?? 0)]);
  const seconds = ((performance.now() - began) / 1000).toFixed(0);
  console.log(`${describeMachine()}\nseed ${seed}, ${rounds} rounds in ${seconds} s\n`);
  console.log(formatTable(["", ...columns], rows));
  console.log(`\n${violations.length} violations`);
  process.exitCode = violations.length === 0 ? 0 : 1;
}
