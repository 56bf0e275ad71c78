// Rows per second of `inferyard jobs run` beside a plain loop with as many processes, while workers and Redis are killed.
// node bench/jobs/run.mjs [--rows 20000] [--workers 4] [--queue spool,redis] [--kill-every 10] [--redis-kills 2] [--no-loop] ; --queue "": the loop alone
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createReadStream, createWriteStream, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: {
    rows: { type: "string", default: "20000" },
    workers: { type: "string", default: "4" },
    queue: { type: "string", default: "spool,redis" },
    "kill-every": { type: "string", default: "10" },
    "redis-kills": { type: "string", default: "2" },
    "no-loop": { type: "boolean", default: false },
  },
});
const [count, workers] = [Number(values.rows), Number(values.workers)];
const folder = mkdtempSync(join(tmpdir(), "inferyard-bench-jobs-"));
const environment = { ...process.env, INFERYARD_HOME: join(folder, "home") };
const root = new URL("../..", import.meta.url).pathname;
const input = join(folder, "rows.jsonl");

const words =
  "the river bank of a small town where old boats lie and people talk about weather trade music bread and far away places".split(
    " ",
  );
const file = createWriteStream(input);
for (let row = 0; row < count; row += 1) {
  const text = Array.from({ length: 12 }, (_, index) => words[(row * (index + 3) + index * index) % words.length]).join(" ");
  if (!file.write(`${JSON.stringify({ id: `row-${row}`, input: `${text} ${row}` })}\n`)) await once(file, "drain");
}
file.end();
await once(file, "close");

/** Processor time of ended children and of theirs, in seconds (proc(5): cutime and cstime in ticks of 10 ms). */
const childTime = () => {
  const fields = readFileSync("/proc/self/stat", "utf8").split(") ")[1].split(" ");
  return (Number(fields[13]) + Number(fields[14])) / 100;
};
const seconds = async (work) => {
  const [started, cpu] = [performance.now(), childTime()];
  await work();
  report.processorMicrosecondsPerRow.push(Math.round(((childTime() - cpu) * 1e6) / count));
  return (performance.now() - started) / 1000;
};
const rate = (time) => Math.round(count / time);
const report = { rows: count, workers, processorMicrosecondsPerRow: [] };

/** Every row once, in order, with as many numbers as the model has. */
async function check(output) {
  let row = 0;
  for await (const line of createInterface({ input: createReadStream(output) })) {
    if (!line.startsWith(`{"id":"row-${row}","result":[`) || !line.endsWith("]}"))
      throw new Error(`row ${row}: ${line.slice(0, 80)}`);
    if (row % 997 === 0 && JSON.parse(line).result.length !== 256) throw new Error(`row ${row} has another length`);
    row += 1;
  }
  if (row !== count) throw new Error(`${row} of ${count} rows`);
}

async function loop(writing) {
  const outputs = Array.from({ length: workers }, (_, part) => join(folder, `loop-${part}.jsonl`));
  const time = await seconds(() =>
    Promise.all(
      outputs.map(async (output, part) => {
        const args = [
          "--import",
          "tsx",
          join(root, "bench/jobs/plain-loop.mjs"),
          input,
          output,
          String(part),
          String(workers),
          writing,
        ];
        const [code] = await once(spawn(process.execPath, args, { stdio: "inherit", env: environment, cwd: root }), "exit");
        if (code !== 0) throw new Error(`the loop ended with ${code}`);
      }),
    ),
  );
  for (const output of outputs) rmSync(output);
  return time;
}

async function startRedis() {
  const port = 20_000 + Math.floor(Math.random() * 10_000);
  const args = ["--port", String(port), "--dir", folder, "--appendonly", "yes", "--save", "", "--bind", "127.0.0.1"];
  let server;
  const start = async () => {
    server = spawn("redis-server", args, { stdio: ["ignore", "pipe", "inherit"] });
    for await (const text of server.stdout) if (text.includes("Ready to accept")) break;
    server.stdout.resume();
  };
  await start();
  const stop = async () => {
    const ended = once(server, "exit");
    server.kill("SIGKILL");
    await ended;
  };
  return { url: `redis://127.0.0.1:${port}`, start, stop };
}

/** Process ids of the workers that a process has started. */
const children = (pid) => readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);

async function job(queue) {
  const output = join(folder, `${queue}.jsonl`);
  const redis = queue === "redis" ? await startRedis() : undefined;
  const kills = { workers: 0, redis: 0 };
  let time;
  try {
    const args = ["jobs", "run", "embed", "--input", input, "--output", output, "--workers", String(workers), "--json"];
    if (redis !== undefined) args.push("--redis", redis.url);
    const program = spawn(process.execPath, [join(root, "bin/inferyard.js"), ...args], {
      stdio: ["ignore", "pipe", "inherit"],
      env: environment,
      cwd: root,
    });
    let printed = "";
    program.stdout.on("data", (text) => (printed += text));
    const every = Number(values["kill-every"]) * 1000;
    const killing = setInterval(() => {
      const all = children(program.pid);
      const victim = all[kills.workers % all.length];
      if (victim === undefined) return;
      process.kill(victim, "SIGKILL");
      kills.workers += 1;
    }, every);
    const redisKilling =
      redis &&
      setInterval(async () => {
        if (kills.redis >= Number(values["redis-kills"])) return;
        kills.redis += 1;
        await redis.stop();
        await redis.start();
      }, every * 0.8);
    let peak = 0;
    const watching = setInterval(() => {
      const status = readFileSync(`/proc/${program.pid}/status`, "utf8");
      peak = Math.max(peak, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
    }, 500);
    time = await seconds(async () => {
      const [code] = await once(program, "exit");
      for (const timer of [killing, redisKilling, watching]) clearInterval(timer);
      if (code !== 0) throw new Error(`jobs run ended with ${code}: ${printed}`);
    });
    await check(output);
    return {
      rowsPerSecond: rate(time),
      seconds: time,
      kills,
      coordinatorMiB: Math.round(peak),
      outputMB: Math.round(statSync(output).size / 1e6),
    };
  } finally {
    await redis?.stop();
    for (const name of readdirSync(folder))
      if (name !== "rows.jsonl") rmSync(join(folder, name), { recursive: true, force: true });
  }
}

try {
  for (const queue of values.queue.split(",").filter(Boolean)) report[queue] = await job(queue);
  if (!values["no-loop"])
    for (const writing of ["plain", "short"]) report[`loop, numbers written ${writing}`] = rate(await loop(writing));
  console.log(JSON.stringify(report, undefined, 2));
} finally {
  rmSync(folder, { recursive: true });
}
