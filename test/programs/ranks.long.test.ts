/** Programs on ranks in processes of their own: started by the program, or by something else with RANK and WORLD_SIZE; and what is left after one of them is killed. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it, vi } from "vitest";
import { createRuntime, type ModelHandle, type Tensor } from "inferyard";
import { childrenOf } from "../fixtures/processes/child-processes.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";
import { amount } from "../fixtures/slow.ts";

interface Line {
  readonly bits?: string;
  readonly evidence?: string;
  readonly failures?: readonly { readonly code: string; readonly message: string }[];
  readonly failed?: { readonly code: string; readonly message: string };
}

/** A process of the program, with the lines that it has written. */
interface Started {
  readonly child: ChildProcess;
  readonly lines: Line[];
  readonly ended: Promise<unknown>;
}

const program = fileURLToPath(new URL("fixtures/rank-program.mjs", import.meta.url));
const all: ChildProcess[] = [];
afterAll(() => all.forEach((child) => child.kill("SIGKILL")));
let groups = 0;

function start(
  parameters: readonly [parallelism: string, worldSize: number | "environment", runs: number],
  environment = {},
): Started {
  const child = spawn(process.execPath, [program, ...parameters.map(String)], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, ...environment },
  });
  all.push(child);
  const lines: Line[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => lines.push(JSON.parse(line) as Line));
  return { child, lines, ended: once(child, "close") };
}

/** As torchrun starts them. */
function startAll(parallelism: string, size: number, runs: number): readonly Started[] {
  groups += 1;
  const port = String(20_000 + (process.pid % 10_000) + groups);
  return Array.from({ length: size }, (_, rank) =>
    start([parallelism, "environment", runs], {
      RANK: String(rank),
      LOCAL_RANK: String(rank),
      WORLD_SIZE: String(size),
      LOCAL_WORLD_SIZE: String(size),
      MASTER_ADDR: "127.0.0.1",
      MASTER_PORT: port,
    }),
  );
}

/** Names of the shared memory that processes have open: numbers of files without a name. */
function sharedMemory(processes: readonly (number | string)[]): readonly string[] {
  return processes.flatMap((pid) => {
    try {
      return readdirSync(`/proc/${pid}/fd`).flatMap((descriptor) => {
        const file = readlinkSync(`/proc/${pid}/fd/${descriptor}`);
        return /^\/dev\/shm\/(#\d+|inferyard-ranks-.*) \(deleted\)$/.test(file) ? [file] : [];
      });
    } catch {
      return []; // it has ended meanwhile
    }
  });
}

const everything = (): readonly string[] => readdirSync("/proc").filter((name) => /^\d+$/.test(name));

describe("ranks", () => {
  it("give the same bits in every run, of one rank and of two, started by the program and by the environment", async () => {
    const results = new Map<string, string[]>();
    const add = async (key: string, started: Started): Promise<void> => {
      await started.ended;
      expect(started.lines).toHaveLength(1);
      results.set(key, [...(results.get(key) ?? []), started.lines[0]?.bits ?? ""]);
    };
    await add("exact", start(["data-parallel", 1, 2]));
    await add("exact", start(["data-parallel", 2, 2]));
    await add("exact", start(["pipeline", 2, 2]));
    await add("sums", start(["tensor-parallel", 2, 2]));
    for (const each of startAll("tensor-parallel", 2, 2)) await add("sums", each);
    for (const each of startAll("data-parallel", 2, 2)) await add("exact", each);
    for (const [key, bits] of results) expect(new Set(bits).size, key).toBe(1);
    const floats = (key: string): Float32Array =>
      new Float32Array(Uint8Array.from(Buffer.from(results.get(key)?.[0] ?? "", "hex")).buffer);
    const [exact, sums] = [floats("exact"), floats("sums")];
    for (const [index, value] of exact.entries()) expect(Math.abs(value - (sums[index] ?? 0))).toBeLessThan(1e-5);
  });
});

const [skip, title] = needsData("a model of a runtime");
describe.skipIf(skip)(title, () => {
  const vector = (values: readonly number[]): Tensor => ({
    dataType: "int64",
    shape: [1, values.length],
    data: BigInt64Array.from(values, BigInt),
  });
  const inputs = {
    input_ids: vector([2, 7, 9, 4, 3]),
    attention_mask: vector([1, 1, 1, 1, 1]),
    token_type_ids: vector([0, 0, 0, 0, 0]),
  };

  /** Loads the model with a placement, and calls `work` with it and the processes that were started. */
  async function withModel<Result>(
    placement: "one-device" | "pipeline" | "tensor-parallel",
    work: (handle: ModelHandle, ranks: readonly number[]) => Promise<Result>,
  ): Promise<Result> {
    const runtime = await createRuntime({ placement, target: "native:cpu", threads: 2 });
    try {
      const before = childrenOf(process.pid);
      const handle = await runtime.load(join(sharedData, "tiny-random-bert"));
      return await work(
        handle,
        childrenOf(process.pid).filter((pid) => !before.includes(pid)),
      );
    } finally {
      await runtime.dispose();
    }
  }

  const run = async (handle: ModelHandle): Promise<Float32Array> =>
    Object.values(await handle.run(inputs))[0]?.data as Float32Array;

  it("gives the results of one process where ranks compute it", async () => {
    const right = await withModel("one-device", run);
    for (const placement of ["tensor-parallel", "pipeline"] as const)
      await withModel(placement, async (handle, ranks) => {
        expect(ranks).toHaveLength(1);
        expect(handle.decision.selected?.evidence.join()).toContain(`2 ranks, ${placement}`);
        for (const [index, value] of (await run(handle)).entries())
          expect(Math.abs(value - (right[index] ?? 0))).toBeLessThan(1e-4);
      });
  });

  it("starts other ranks after one was killed", async () => {
    await withModel("pipeline", async (handle, [rank = 0]) => {
      process.kill(rank, "SIGKILL");
      await expect(run(handle)).rejects.toMatchObject({ code: "HOST_DIED" });
      expect((await run(handle)).length).toBeGreaterThan(0);
    });
  });
});

const kills = amount(50, 3);
describe(`a rank that is killed (${kills} times)`, () => {
  it.each(Array.from({ length: kills }, (_, index) => index))(
    "ends all with one error, and leaves nothing (%i)",
    async (index) => {
      const size = 2 + (index % 2);
      const victim = index % 3 === 0 ? 0 : 1 + Math.floor(Math.random() * (size - 1));
      const isStarted = index % 2 === 0;
      const parallelism = ["tensor-parallel", "data-parallel", "pipeline"][Math.floor(index / 2) % 3] ?? "pipeline";
      const started = isStarted ? [start([parallelism, size, 1e9])] : startAll(parallelism, size, 1e9);
      const [first] = started;
      await vi.waitFor(() => expect(started.every(({ lines }) => lines[0]?.bits !== undefined)).toBe(true), 120_000);
      const own = isStarted
        ? [first?.child.pid ?? 0, ...childrenOf(first?.child.pid ?? 0)]
        : started.map(({ child }) => child.pid ?? 0);
      expect(own).toHaveLength(size);
      const memory = [...new Set(sharedMemory(own))];
      expect(memory).toHaveLength(1);
      await wait(Math.random() * 300);
      process.kill(own[victim] ?? 0, "SIGKILL");
      await Promise.all(started.map(async ({ ended }) => await ended));
      for (const { child, lines } of started) {
        if (child.pid === own[victim]) continue;
        const { failures = [] } = lines[1] ?? {};
        expect(lines).toHaveLength(2);
        expect(failures.length).toBeGreaterThanOrEqual(2);
        expect(new Set(failures.map(({ code }) => code))).toEqual(new Set(["HOST_DIED"]));
        expect(new Set(failures.map(({ message }) => message)).size).toBe(1);
      }
      await vi.waitFor(() => expect(own.filter((pid) => everything().includes(String(pid)))).toEqual([]), 30_000);
      expect(sharedMemory(everything()).filter((file) => memory.includes(file))).toEqual([]);
      expect(readdirSync("/dev/shm").filter((name) => name.startsWith("inferyard-ranks"))).toEqual([]);
    },
  );
});
