// Our server, our library offline, and transformers.js behind Hono, on the same MiniLM and the same texts, in one run. `npm run bench:server`,
// and with `-- --quick` a short run that shows the order of things but settles nothing.
import { fork, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import "../measuring/built-package.mjs";
import { describeLoad, describeMachine, watchLoad } from "../measuring/machine.mjs";
import { readOptions } from "../measuring/options.mjs";
import { installPeers } from "../peers/install.mjs";
import { miniLm } from "../measuring/shared-data.mjs";
import { formatTable } from "../measuring/table.mjs";
import { mixedLengths, textsOfLengths } from "../measuring/texts.mjs";
import { load } from "./load.mjs";
import { memoryOfTree, secondsOfTree } from "./process-tree.mjs";

const options = {
  quick: { type: "boolean" },
  json: { type: "boolean" },
  only: { type: "string" },
  load: { type: "string" },
  precision: { type: "string" },
};
const { quick = false, json = false, only, load: onlyLoad, precision: onlyPrecision } = readOptions(options);
const texts = textsOfLengths(mixedLengths(512));
const size = quick ? { warmUp: 512, measure: 512, longestMs: 30_000 } : { warmUp: 512, measure: 1536, longestMs: 35_000 };
const passes = quick ? 1 : 3;
const loads = [
  { name: "32 x 1", clients: 32, textsPerRequest: 1 },
  { name: "16 x 32", clients: 16, textsPerRequest: 32 },
].filter(({ name }) => onlyLoad === undefined || name === onlyLoad);
const contenders = [
  { name: "inferyard serve", start: startInferyard, path: "/api/embed" },
  { name: "hono + transformers.js", start: startTransformers, path: "/embed" },
].filter(({ name }) => only === undefined || name.startsWith(only));

if (contenders.length > 1) installPeers();
const started = performance.now();
const machineLoad = watchLoad();
const records = [];
for (const precision of ["fp32", "int8"].filter((name) => onlyPrecision === undefined || name === onlyPrecision)) {
  console.error(`${precision}: offline`);
  const offline = await runOffline(precision);
  records.push({ precision, contender: "library, offline", load: "512 in one", ...offline });
  for (const { name, start, path } of contenders) {
    const server = await start(precision);
    try {
      for (const { name: loadName, clients, textsPerRequest } of loads) {
        console.error(`${precision}: ${name}, ${loadName}`);
        const next = requestsOf(textsPerRequest);
        const cpuSeconds = () => secondsOfTree(server.child.pid);
        const measured = await load(`${server.url}${path}`, { clients, next, ...size, cpuSeconds });
        const memory = memoryOfTree(server.child.pid);
        const share = measured.textsPerSecond / offline.textsPerSecond;
        console.error(
          `  ${measured.textsPerSecond.toFixed(1)} texts/s, p50 ${measured.p50.toFixed(0)} ms, worst ${measured.worst.toFixed(0)} ms`,
        );
        records.push({ precision, contender: name, load: loadName, ...measured, memory, share });
      }
    } finally {
      await server.stop();
    }
  }
}
const result = { machine: describeMachine(), load: machineLoad(), minutes: (performance.now() - started) / 60_000, records };
console.log(json ? JSON.stringify(result, null, 2) : report(result));

// All texts in turn, again and again; each round is cut elsewhere, since a server answers a question that is asked twice at once only once.
function requestsOf(count) {
  const requests = texts.length / count;
  let place = 0;
  return () => {
    const start = place * count + Math.floor(place / requests);
    place += 1;
    return {
      body: JSON.stringify({ input: Array.from({ length: count }, (_, index) => texts[(start + index) % texts.length]) }),
      count,
    };
  };
}

function startInferyard(precision) {
  const program = fileURLToPath(new URL("../../bin/inferyard.js", import.meta.url));
  const model = precision === "fp32" ? `${miniLm}/onnx/model.onnx` : `${miniLm}/onnx/model_quantized.onnx`;
  return startServer([program, "serve", "--port", "0", "--model", model, "--target", "onnx:cpu"]);
}

function startTransformers(precision) {
  return startServer([fileURLToPath(new URL("./hono-transformers.mjs", import.meta.url)), precision]);
}

// The server says where it listens on its first line.
function startServer(argv) {
  const child = spawn(process.execPath, argv, { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const stop = async () => {
    child.kill("SIGTERM");
    await ended;
  };
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    void ended.then((code) => reject(new Error(`${argv.join(" ")} ended with code ${code}`)));
    child.stdout.setEncoding("utf8").on("data", (text) => {
      const url = /http:\/\/\S+/.exec(text)?.[0];
      if (url !== undefined) resolve({ url, child, stop });
    });
  });
}

function runOffline(precision) {
  return new Promise((resolve, reject) => {
    const child = fork(new URL("./offline.mjs", import.meta.url));
    let answer;
    child.once("message", (message) => (answer = message));
    child.once("error", reject);
    child.once("exit", (code) => (answer === undefined ? reject(new Error(`offline ended with code ${code}`)) : resolve(answer)));
    child.send({ model: miniLm, variant: precision, texts, passes });
  });
}

function report({ machine, load: others, minutes, records: all }) {
  const whole = (value) => (value === undefined ? "" : value.toFixed(0));
  const head = [
    "",
    "load",
    "requests/s",
    "texts/s",
    "of offline",
    "p50 ms",
    "p99 ms",
    "worst ms",
    "worst/p50",
    "CPU ms/text",
    "RSS MB",
    "PSS MB",
  ];
  const rows = all.map(
    ({ precision, contender, load: name, requestsPerSecond, textsPerSecond, p50, p99, worst, cpuMsPerText, memory, share }) => [
      `${precision}  ${contender}`,
      name,
      requestsPerSecond?.toFixed(1),
      textsPerSecond.toFixed(1),
      share === undefined ? "" : `${(share * 100).toFixed(0)} %`,
      whole(p50),
      whole(p99),
      whole(worst),
      worst === undefined ? "" : (worst / p50).toFixed(1),
      cpuMsPerText?.toFixed(2),
      whole(memory?.resident),
      whole(memory?.proportional),
    ],
  );
  return [machine, describeLoad(others), `${minutes.toFixed(1)} minutes`, "", formatTable(head, rows)].join("\n");
}
