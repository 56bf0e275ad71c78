// The server under load, then under ten times as much: 64 connections of mixed texts on MiniLM, every vector held against the library's; then 640
// connections on a short queue. Run with `npm run eval:server`; `-- --seconds 60` is the whole of it, 15 where nothing is said. Ends with 1 when
// an answer was wrong or lost, or the server did not come back.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createRuntime } from "../measuring/built-package.mjs";
import { describeLoad, describeMachine, watchLoad } from "../measuring/machine.mjs";
import { readOptions } from "../measuring/options.mjs";
import { miniLm } from "../measuring/shared-data.mjs";
import { quantile } from "../measuring/statistics.mjs";
import { formatTable } from "../measuring/table.mjs";
import { mixedLengths, textsOfLengths } from "../measuring/texts.mjs";

const { seconds = "15" } = readOptions({ seconds: { type: "string" } });
const tolerance = 1e-5; // other batches, other last digits
const texts = textsOfLengths(mixedLengths(1024));
const expected = await offline();
const load = watchLoad();
const server = await startServer();
const rows = [];
const warm = await run(64, 3);
rows.push(rowOf("warm-up", warm));
const before = memoryOf(server.child.pid);
await eventLoopLag(); // from here on
const during = [];
const looks = setInterval(() => during.push(memoryOf(server.child.pid)), Number(seconds) * 200);
const steady = await run(64, Number(seconds));
clearInterval(looks);
rows.push(rowOf("64 connections", steady));
const lag = await eventLoopLag();
const flood = await run(640, Math.min(Number(seconds), 15));
rows.push(rowOf("640 connections", flood));
await pause(1000);
const recovered = await run(8, 3);
rows.push(rowOf("8 connections, after", recovered));
const exit = await server.stop();

console.log(`${describeMachine()}\n${describeLoad(load())}\n`);
console.log(formatTable(["", "answers", "wrong", "lost", "refused", "with Retry-After", "p50 ms", "p99 ms", "worst ms"], rows));
console.log(
  `\nmemory of the server and its children: ${before} MB before, then ${during.join(", ")}; event loop p99: ${lag}; exit code ${exit}`,
);
const all = [warm, steady, flood, recovered];
const sound = all.every(({ wrong, lost }) => wrong === 0 && lost === 0) && flood.refused === flood.polite;
process.exitCode = sound && recovered.refused === 0 && exit === 0 ? 0 : 1;

async function offline() {
  const runtime = await createRuntime();
  const { embeddings } = await runtime.embed(texts, { model: miniLm });
  await runtime.dispose();
  return embeddings;
}

function startServer() {
  const program = fileURLToPath(new URL("../../bin/inferyard.js", import.meta.url));
  const flags = [
    "--port",
    "0",
    "--model",
    miniLm,
    "--target",
    "onnx:cpu",
    "--max-concurrent-requests",
    "64",
    "--max-queue",
    "128",
  ];
  const child = spawn(process.execPath, [program, "serve", ...flags], { stdio: ["ignore", "pipe", "ignore"] });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const stop = () => {
    child.kill("SIGTERM");
    return ended;
  };
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    void ended.then((code) => reject(new Error(`the server ended with code ${code}`)));
    child.stdout.setEncoding("utf8").on("data", (text) => {
      const url = /http:\/\/\S+/.exec(text)?.[0];
      if (url !== undefined) resolve({ url, child, stop });
    });
  });
}

// Each connection asks for one text after the other until the time is over; the texts take turns.
async function run(connections, duration) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const result = { answers: 0, wrong: 0, lost: 0, refused: 0, polite: 0, times: [] };
  const end = performance.now() + duration * 1000;
  let next = 0;
  const connection = async () => {
    while (performance.now() < end) {
      const place = next++ % texts.length;
      const started = performance.now();
      try {
        const { status, headers, body } = await post(agent, { input: texts[place] });
        if (status === 200) {
          result.answers += 1;
          result.times.push(performance.now() - started);
          if (differs(JSON.parse(body).embeddings[0], expected[place])) result.wrong += 1;
        } else if (status === 429 || status === 503) {
          result.refused += 1;
          if (Number(headers["retry-after"]) > 0) result.polite += 1;
          await pause(50); // less than it is asked for: it must bear that
        } else result.lost += 1;
      } catch {
        result.lost += 1;
      }
    }
  };
  await Promise.all(Array.from({ length: connections }, connection));
  agent.destroy();
  return result;
}

function post(agent, content) {
  return new Promise((resolve, reject) => {
    const asked = request(`${server.url}/api/embed`, { method: "POST", agent, headers: { "content-type": "application/json" } });
    asked.once("error", reject);
    asked.once("response", (response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (text) => (body += text));
      response.once("end", () => resolve({ status: response.statusCode, headers: response.headers, body }));
      response.once("error", reject);
    });
    asked.end(JSON.stringify(content));
  });
}

function differs(vector, golden) {
  return vector.length !== golden.length || golden.some((value, index) => !(Math.abs(value - vector[index]) <= tolerance));
}

function rowOf(name, { answers, wrong, lost, refused, polite, times }) {
  const at = (share) => (times.length === 0 ? "" : quantile(times, share).toFixed(0));
  return [name, answers, wrong, lost, refused, polite, at(0.5), at(0.99), at(1)];
}

// Resident memory of a process and those below it, in MB; undefined where there is no /proc.
function memoryOf(pid) {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean);
    const own = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1000;
    return Math.round(children.reduce((sum, child) => sum + (memoryOf(child) ?? 0), own));
  } catch {
    return undefined;
  }
}

async function eventLoopLag() {
  const response = await fetch(`${server.url}/metrics`);
  const found = response.ok
    ? /^inferyard_event_loop_delay_seconds\{quantile="0\.99"\}\s+(\S+)/m.exec(await response.text())
    : null;
  return found === null ? "not told" : `${(Number(found[1]) * 1000).toFixed(1)} ms`;
}
