/** `inferyard serve` with models that hang: it answers, tells that it is not ready, and ends within drainTimeout and five seconds with no orphan. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { childrenOf } from "../fixtures/processes/child-processes.ts";
import { countingModel, endlessModel } from "../fixtures/models/endless-model.ts";
import { type ServerProcess, ServerProcesses, embed, ready } from "../fixtures/processes/server-process.ts";
import { amount } from "../fixtures/slow.ts";

const servers = new ServerProcesses();
const [endless, counting] = [join(servers.folder, "endless.onnx"), join(servers.folder, "counting.onnx")];
writeFileSync(endless, endlessModel());
writeFileSync(counting, countingModel());
afterEach(() => servers.killAll());
afterAll(() => servers.remove());

const models = { endless, counting };
const forEver = Number.MAX_SAFE_INTEGER;
const drain = { drainTimeout: "1s" };
/** `drainTimeout` and five seconds, and as much again for the test itself on a busy machine. */
const maxEndMs = 12_000;

interface Answer {
  readonly status: number;
  readonly code: string | undefined;
}

async function infer({ url }: ServerProcess, model: string, trips: number | undefined, signal?: AbortSignal): Promise<Answer> {
  const x = { name: "x", datatype: "FP32", shape: [2], data: [1, 2] };
  const counter = { name: "trips", datatype: "INT64", shape: [1], data: [trips] };
  const body = JSON.stringify({ inputs: trips === undefined ? [x] : [x, counter] });
  const response = await fetch(`${url}/v2/models/${model}/infer`, { method: "POST", body, ...(signal ? { signal } : {}) });
  const { code } = (await response.json()) as { readonly code?: string };
  return { status: response.status, code };
}

const childrenOfServer = ({ child }: ServerProcess): number[] => childrenOf(child.pid!);
const left = (pids: readonly number[]): number[] => pids.filter((pid) => existsSync(`/proc/${pid}`));

/** Waits until the server computes for so many requests. */
async function running(server: ServerProcess, count: number): Promise<void> {
  const computing = async (): Promise<number> => {
    const text = await (await fetch(`${server.url}/metrics`)).text();
    return Number(/^inferyard_requests_running (\S+)$/m.exec(text)?.[1]);
  };
  await vi.waitFor(async () => expect(await computing()).toBeGreaterThanOrEqual(count), { timeout: 60_000 });
}

/** Ends the server by SIGTERM; says how. */
async function end(server: ServerProcess): Promise<{ readonly code: number | null; readonly orphans: number[] }> {
  const children = childrenOfServer(server);
  server.child.kill("SIGTERM");
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it has not ended within ${maxEndMs} ms`)), maxEndMs);
  });
  const { code } = await Promise.race([server.ended, late]).finally(() => clearTimeout(timer));
  return { code, orphans: left(children) };
}

describe.each(["native:cpu", "onnx:cpu"])("a run that never ends on %s", (target) => {
  it("SIGTERM ends the server and it", async () => {
    const server = await servers.serve([], { models, ...drain });
    await ready(server);
    expect(await infer(server, `counting@${target}`, 3)).toMatchObject({ status: 200 });
    const hung = infer(server, `counting@${target}`, forEver).catch(() => "cut off");
    await running(server, 1);
    expect(await end(server)).toEqual({ code: 0, orphans: [] });
    await hung;
  });

  it("a model that hangs while it is verified: twelve impatient clients leave no process behind", async () => {
    const server = await servers.serve([], { models, ...drain });
    await ready(server);
    const before = childrenOfServer(server).length;
    let max = 0;
    const client = async (): Promise<void> => {
      await infer(server, `endless@${target}`, undefined, AbortSignal.timeout(1500)).catch(() => {});
      max = Math.max(max, childrenOfServer(server).length - before);
    };
    for (let round = 0; round < amount(4, 2); round += 1) await Promise.all([client(), client(), client()]);
    expect(max).toBeLessThanOrEqual(1);
    await vi.waitFor(() => expect(childrenOfServer(server)).toHaveLength(before), { timeout: 10_000 });
    void infer(server, `endless@${target}`, undefined).catch(() => {});
    await vi.waitFor(() => expect(childrenOfServer(server)).toHaveLength(before + 1), { timeout: 20_000 });
    expect(await end(server)).toEqual({ code: 0, orphans: [] });
  });
});

describe("a server", () => {
  it("ends though a model's process is stopped", async () => {
    const server = await servers.serve([], { models, ...drain }, { others: { prefer: "onnx:cpu" } });
    await ready(server);
    await infer(server, "counting@onnx:cpu", 3);
    for (const child of childrenOfServer(server)) process.kill(child, "SIGSTOP");
    expect(await end(server)).toEqual({ code: 0, orphans: [] });
  });

  it("that is killed while its models compute takes their processes with it", async () => {
    const server = await servers.serve([], { models });
    await ready(server);
    await Promise.all([infer(server, "counting@onnx:cpu", 3), infer(server, "counting@native:cpu", 3)]);
    const children = childrenOfServer(server);
    for (const target of ["onnx:cpu", "native:cpu"]) void infer(server, `counting@${target}`, forEver).catch(() => {});
    await running(server, 2);
    server.child.kill("SIGKILL");
    await vi.waitFor(() => expect(left(children)).toEqual([]), { timeout: 10_000 });
  });

  it("ends at once on a second signal", async () => {
    const server = await servers.serve([], { models, drainTimeout: "1h" });
    await ready(server);
    await infer(server, "counting@native:cpu", 3);
    const children = childrenOfServer(server);
    void infer(server, "counting@native:cpu", forEver).catch(() => {});
    await running(server, 1);
    server.child.kill("SIGTERM");
    // Signals that arrive together are one: the second is sent when the first has been obeyed.
    const status = (): Promise<number> =>
      fetch(`${server.url}/health/ready`).then(
        (answer) => answer.status,
        () => 0,
      );
    await vi.waitFor(async () => expect(await status()).not.toBe(200), { timeout: 60_000 });
    server.child.kill("SIGTERM");
    expect(await server.ended).toMatchObject({ code: null, signal: "SIGTERM" });
    await vi.waitFor(() => expect(left(children)).toEqual([]), { timeout: 10_000 });
  });
});

describe("a default model that hangs", () => {
  interface Report {
    readonly models: readonly { readonly ready: boolean; readonly code?: string; readonly reason?: string }[];
  }
  async function readiness({ url }: ServerProcess): Promise<{ readonly status: number; readonly report: Report }> {
    const response = await fetch(`${url}/health/ready`);
    return { status: response.status, report: (await response.json()) as Report };
  }

  // On onnx: our own engine refuses a loop after some seconds.
  it("is not ready while it answers nobody, is replaced, told of as a death, and ready again", async () => {
    const settings = { models, requestTimeout: "8s", ...drain };
    const server = await servers.serve(["--model", "counting", "--target", "onnx:cpu"], settings);
    await ready(server);
    const [first] = childrenOfServer(server);
    const hung = infer(server, "counting", forEver);
    // It is said before anything has timed out: a run that takes a quarter of requestTimeout.
    await vi.waitFor(async () => expect((await readiness(server)).status).toBe(503), { timeout: 60_000 });
    expect((await readiness(server)).report.models[0]).toMatchObject({ ready: false, reason: expect.any(String) });
    expect(await hung).toMatchObject({ status: 504, code: "REQUEST_TIMEOUT" });
    await vi.waitFor(async () => expect((await readiness(server)).status).toBe(200), { timeout: 60_000 });
    expect(await infer(server, "counting", 3)).toMatchObject({ status: 200 });
    expect(left([first!])).toEqual([]);
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    expect(metrics).toContain('inferyard_child_deaths_total{model="counting",target="onnx:cpu"} 1\n');
    expect(await end(server)).toEqual({ code: 0, orphans: [] });
  });

  it("that is stopped: the same, and others are answered meanwhile", async () => {
    const settings = { models, requestTimeout: "8s", ...drain };
    const server = await servers.serve([], settings, { others: { replicas: 1 } });
    await ready(server);
    const before = new Set(childrenOfServer(server));
    expect((await infer(server, "counting@onnx:cpu", 3)).status).toBe(200);
    const own = childrenOfServer(server).find((child) => !before.has(child))!;
    process.kill(own, "SIGSTOP");
    const hung = infer(server, "counting@onnx:cpu", 3);
    expect((await embed(server, { input: "a cat" })).status).toBe(200);
    expect((await hung).code).toMatch(/REQUEST_TIMEOUT|HOST_DIED/);
    await vi.waitFor(() => expect(left([own])).toEqual([]), { timeout: 20_000 });
    expect((await infer(server, "counting@onnx:cpu", 3)).status).toBe(200);
    expect(await end(server)).toEqual({ code: 0, orphans: [] });
  });
});
