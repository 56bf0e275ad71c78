/** `inferyard jobs run` while its workers, itself and Redis are killed: every row once, and in order. bench/jobs/run.mjs does the same with a million rows. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createReadStream, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { RedisServer, noRedis } from "../fixtures/redis-server.ts";
import { amount } from "../fixtures/slow.ts";

const program = fileURLToPath(new URL("../../bin/inferyard.js", import.meta.url));
const count = amount(20_000, 2000);
const folder = mkdtempSync(join(tmpdir(), "inferyard-chaos-"));
const input = join(folder, "rows.jsonl");
beforeAll(() => {
  const rows = Array.from(
    { length: count },
    (_, row) => `${JSON.stringify({ id: `row-${row}`, input: `the text number ${row}` })}\n`,
  );
  writeFileSync(input, rows.join(""));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Starts a command whose jobs are in a folder of their own. */
function start(
  home: string,
  args: readonly string[],
  environment: object = {},
): { readonly child: ChildProcess; readonly ended: Promise<Ended> } {
  const child = spawn(process.execPath, [program, ...args], {
    env: { ...process.env, INFERYARD_HOME: join(folder, home), ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (text: Buffer) => (stdout += text.toString()));
  child.stderr.on("data", (text: Buffer) => (stderr += text.toString()));
  return { child, ended: once(child, "exit").then(([code]) => ({ code: code as number | null, stdout, stderr })) };
}

/** Process ids of the workers of a command; none once it has ended. */
function workersOf({ pid }: ChildProcess): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

/** Waits until some results are written. */
async function progress(output: string, bytes: number): Promise<void> {
  await vi.waitFor(() => expect(statSync(`${output}.partial`).size).toBeGreaterThan(bytes), { timeout: 60_000, interval: 20 });
}

async function expectAllRows(output: string): Promise<void> {
  const ids: string[] = [];
  for await (const line of createInterface({ input: createReadStream(output) })) {
    const { id, result } = JSON.parse(line) as { id: string; result: number[] };
    if (result.length !== 256) throw new Error(`${id} has ${result.length} numbers`);
    ids.push(id);
  }
  expect(ids).toEqual(Array.from({ length: count }, (_, row) => `row-${row}`));
}

const run = (output: string, ...more: string[]): string[] => {
  const words = `jobs run embed --input ${input} --output ${output} --id chaos --workers 2 --chunk-rows 50 --json`;
  return [...words.split(" "), ...more];
};

describe.skipIf(process.platform !== "linux")(`${count} rows`, () => {
  it("on the spool outlive kills of workers and of the command", async () => {
    const output = join(folder, "spool.jsonl");
    const first = start("spool", run(output));
    await progress(output, 0);
    for (const worker of workersOf(first.child).slice(0, 1)) process.kill(worker, "SIGKILL");
    await progress(output, 200_000);
    first.child.kill("SIGKILL"); // its workers end with it
    await first.ended;
    const status = await start("spool", ["jobs", "status", "chaos", "--json"]).ended;
    expect(JSON.parse(status.stdout)).toMatchObject({ status: "running", isRunning: false });
    const second = await start("spool", ["jobs", "resume", "chaos", "--workers", "2", "--json"]).ended;
    expect(second).toMatchObject({ code: 0 });
    expect(JSON.parse(second.stdout)).toMatchObject({ status: "done", rows: count, done: count, failed: 0 });
    await expectAllRows(output);
    const again = await start("spool", run(output)).ended;
    expect(again.stderr).toContain("the job chaos is done, and its input has not changed since");
  });

  it.skipIf(noRedis !== undefined)(
    `on Redis outlive kills of workers and of Redis${noRedis === undefined ? "" : ` (skipped: ${noRedis})`}`,
    async () => {
      const server = await RedisServer.start(folder);
      try {
        const output = join(folder, "redis.jsonl");
        const job = start("redis", run(output, "--redis", server.url));
        await progress(output, 0);
        for (const worker of workersOf(job.child).slice(0, 1)) process.kill(worker, "SIGKILL");
        for (const bytes of [100_000, 300_000]) {
          await progress(output, bytes);
          await server.kill();
          await server.restart();
        }
        const ended = await job.ended;
        expect(ended).toMatchObject({ code: 0 });
        expect(JSON.parse(ended.stdout)).toMatchObject({ status: "done", rows: count, done: count, failed: 0 });
        await expectAllRows(output);
      } finally {
        await server.kill();
      }
    },
  );
});

it("rows that kill their worker are set aside with the reason, and no others", async () => {
  const [rows, output, fatal] = [join(folder, "fatal.jsonl"), join(folder, "alive.jsonl"), "a row that kills"];
  const poison = [3, 4, 25];
  const texts = Array.from({ length: 40 }, (_, row) => (poison.includes(row) ? fatal : `text ${row}`));
  writeFileSync(rows, texts.map((input, id) => `${JSON.stringify({ id, input })}\n`).join(""));
  // The tokenizer of the built-in model makes texts lower-case.
  const preload = join(folder, "poison.mjs");
  writeFileSync(
    preload,
    `const lower = String.prototype.toLowerCase;
    String.prototype.toLowerCase = function () {
      if (String(this) === ${JSON.stringify(fatal)} && process.argv.includes("work")) process.kill(process.pid, "SIGKILL");
      return lower.call(this);
    };`,
  );
  const words = `jobs run embed --input ${rows} --output ${output} --workers 1 --chunk-rows 20 --retries 0 --json`;
  const ended = await start("poison", words.split(" "), { NODE_OPTIONS: `--import ${preload}` }).ended;
  expect(ended).toMatchObject({ code: 0, stderr: "" });
  expect(JSON.parse(ended.stdout)).toMatchObject({ status: "done", rows: 40, done: 37, failed: 3 });
  const failed = readFileSync(`${output}.failed.jsonl`, "utf8").trim().split("\n");
  expect(failed.map((line) => JSON.parse(line) as unknown)).toEqual(
    poison.map((id) => ({
      id,
      input: fatal,
      row: id + 1,
      error: { code: "HOST_DIED", message: "a worker died while computing this row" },
    })),
  );
});
