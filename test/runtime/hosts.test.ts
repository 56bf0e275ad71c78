/** The worker and process hosts, as built: what happens to the calling thread and to the program while an engine holds a thread of its own. */
import { execFile, spawn } from "node:child_process";
import { once, setMaxListeners } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { getPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { InferyardError, type ModelHandle, type Runtime, type TensorMap, createRuntime } from "inferyard";
import type { Backend } from "inferyard/backend";
import { childrenOf } from "../fixtures/processes/child-processes.ts";
import { sampled } from "../fixtures/slow.ts";
import { type FailingOptions, behaviors, failing } from "./fixtures/failing-backend.mjs";

const folder = mkdtempSync(join(tmpdir(), "inferyard-hosts-"));
const model = join(folder, "model.onnx");
// A real ONNX file of one MatMul; the backend of these tests does not look into it.
writeFileSync(
  model,
  Buffer.from(
    "CAg6RAoRCgF4CgF4EgF5IgZNYXRNdWwSBXByb2JlWhMKAXgSDgoMCAESCAoCCAIKAggCYhMKAXkSDgoMCAESCAoCCAIKAggCQgQKABAN",
    "base64",
  ),
);
afterAll(() => rmSync(folder, { recursive: true }));

const fixtures = fileURLToPath(new URL("fixtures", import.meta.url));

const runtimes: Runtime[] = [];
afterEach(async () => {
  await Promise.all(runtimes.splice(0).map((runtime) => runtime.dispose()));
});

async function runtimeWith(backends: readonly Backend[], settings: object = {}): Promise<Runtime> {
  const runtime = await createRuntime({ backends, ...settings });
  runtimes.push(runtime);
  return runtime;
}

type RemoteHost = "worker" | "process";

async function loadFailing(options: FailingOptions = {}, host?: RemoteHost, settings: object = {}): Promise<ModelHandle> {
  const handle = await (await runtimeWith([failing(options)], host === undefined ? settings : { ...settings, host })).load(model);
  expect(handle.decision.selected?.host).toBe(host ?? "worker");
  return handle;
}

/** A model in a host, as the runtime knows it. */
interface Suspendable {
  readonly restarts: number;
  suspend(): Promise<void>;
  resume(): Promise<void>;
}

const inputs = (behavior: number): TensorMap => ({ x: { dataType: "float32", shape: [2], data: Float32Array.of(behavior, 0) } });
const plain = inputs(behaviors.plain);

/** How often the thread has answered so far. */
const runsOf = async (running: Promise<TensorMap>): Promise<number> => Number((await running)["y"]?.data[1]);

async function refusal(running: Promise<unknown>): Promise<InferyardError> {
  const error = await running.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof InferyardError) return error;
  throw new Error(`not refused by a typed error: ${String(error)}`);
}

describe.each<RemoteHost>(["worker", "process"])("the host %s", (host) => {
  // One model for all tests that need no runtime of their own: a thread or process takes long to start. Its engine holds until `gate` is there.
  const gate = join(folder, `gate-${host}`);
  let runtime: Runtime;
  let handle: ModelHandle;
  beforeAll(async () => {
    runtime = await createRuntime({ backends: [failing({ gate })], host, crashWindow: 0 });
    handle = await runtime.load(model);
  });
  afterAll(() => runtime.dispose());

  let before = 0;
  beforeEach(async () => {
    for (const path of [gate, `${gate}-begun`]) rmSync(path, { force: true });
    before = await runsOf(handle.run(plain));
  });
  it("is where the model is", () => expect(handle.decision.selected?.host).toBe(host));

  const engineHolds = (): Promise<void> => vi.waitFor(() => expect(existsSync(`${gate}-begun`)).toBe(true), { timeout: 60_000 });

  describe("the calling thread", () => {
    it("goes on while an engine holds its own: timers fire", async () => {
      const running = handle.run(inputs(behaviors.hold));
      await engineHolds();
      expect(await new Promise((resolve) => setTimeout(resolve, 5, "fired"))).toBe("fired");
      writeFileSync(gate, "");
      await running;
    });

    it("waits without one where the user says so: inline", async () => {
      const inline = await (await runtimeWith([failing({ blockMs: 50 })], { host: "inline" })).load(model);
      let ticks = 0;
      const timer = setInterval(() => (ticks += 1), 5);
      await inline.run(inputs(behaviors.block));
      clearInterval(timer);
      expect({ ticks, host: inline.decision.selected?.host }).toEqual({ ticks: 0, host: "inline" });
    });

    it("hears nothing of what an engine prints on stdout: that goes to stderr", async () => {
      const written: string[] = [];
      const out = vi.spyOn(process.stdout, "write").mockImplementation((text) => (written.push(`stdout ${String(text)}`), true));
      const error = vi
        .spyOn(process.stderr, "write")
        .mockImplementation((text) => (written.push(`stderr ${String(text)}`), true));
      try {
        await handle.run(inputs(behaviors.print));
        await vi.waitFor(() => expect(written).toEqual(["stderr an engine that prints\n"]), { timeout: 60_000 });
      } finally {
        out.mockRestore();
        error.mockRestore();
      }
    });
  });

  describe("cancelling", () => {
    it("a run that waits: at once, and it never reaches the engine", async () => {
      const controller = new AbortController();
      const running = handle.run(inputs(behaviors.hold));
      const waiting = refusal(handle.run(plain, { signal: controller.signal }));
      await engineHolds();
      controller.abort();
      expect((await waiting).code).toBe("ABORTED");
      writeFileSync(gate, ""); // until now the first run was under way
      await running;
      expect(await runsOf(handle.run(plain))).toBe(before + 2); // the first, this one
    });

    it("a run under way: at once, and the next run works", async () => {
      const controller = new AbortController();
      const running = refusal(handle.run(inputs(behaviors.hold), { signal: controller.signal }));
      await engineHolds();
      controller.abort();
      expect((await running).code).toBe("ABORTED");
      writeFileSync(gate, ""); // until now the engine itself was busy
      expect(await runsOf(handle.run(plain))).toBe(before + 2);
    });

    it("before the call: nothing is sent", async () => {
      expect((await refusal(handle.run(plain, { signal: AbortSignal.abort() }))).code).toBe("ABORTED");
      expect(await runsOf(handle.run(plain))).toBe(before + 1);
    });
  });

  describe("a worker that dies", () => {
    it.each([
      ["ends itself", behaviors.exit, /the (worker|process) ended with code 7/],
      [
        "throws where nobody listens",
        behaviors.throwLater,
        /the worker failed: thrown where nobody listens|the process ended with code 1, saying: .*/,
      ],
      ["throws null", behaviors.throwNull, /the worker failed: null|the process ended with code 1/],
    ])("%s: its requests end with HOST_DIED, and the next call starts another", async (_name, behavior, reason) => {
      const [running, waiting] = await Promise.all([refusal(handle.run(inputs(behavior))), refusal(handle.run(plain))]);
      expect(running).toMatchObject({ code: "HOST_DIED", retryable: true, remedy: "send the request again" });
      expect(running.message).toMatch(reason);
      expect(waiting.code).toBe("HOST_DIED");
      expect(await runsOf(handle.run(plain))).toBe(1);
    });

    it("with failover the request itself succeeds, on the next target", async () => {
      const own = await runtimeWith([failing(), failing({ name: "wasm", calm: true })], {
        host,
        failover: true,
        priority: ["failing", "wasm"],
      });
      const moving = await own.load(model);
      expect(moving.target).toBe("failing:cpu");
      expect((await moving.run(inputs(behaviors.exit)))["y"]?.data).toEqual(Float32Array.of(behaviors.exit, 2));
      expect(moving.target).toBe("wasm:cpu");
    });

    it("while loading: the next candidate is tried, and the decision says why", async () => {
      const own = await runtimeWith([failing({ onLoad: "exit" }), failing({ name: "wasm", calm: true })], {
        host,
        priority: ["failing", "wasm"],
      });
      const { target, decision } = await own.load(model);
      expect(target).toBe("wasm:cpu");
      expect(decision.candidates[0]).toMatchObject({ target: "failing:cpu", verdict: "failed", stage: "load" });
      expect(decision.candidates[0]?.reason).toContain(`the ${host} ended with code 9`);
    });
  });

  describe("errors cross the thread", () => {
    it("ours with all they carry, and the worker goes on", async () => {
      expect(await refusal(handle.run(inputs(behaviors.refuse)))).toMatchObject({
        code: "OUT_OF_MEMORY",
        message: "no memory",
        remedy: "free some",
        data: { bytes: 7 },
        retryable: true,
      });
      expect(await runsOf(handle.run(plain))).toBe(before + 2);
    });

    it("foreign ones as a failure of the run", async () => {
      expect(await refusal(handle.run(inputs(behaviors.fail)))).toMatchObject({
        code: "RUN_FAILED",
        message: `the ${host}'s run failed: offset is out of bounds`,
      });
    });

    it.each([
      ["refuse", { stage: "load", reason: "not today", remedy: "try tomorrow" }],
      ["fail", { stage: "load", reason: `the ${host}'s load failed: options out of bounds` }],
    ] as const)("of a load that fails (%s), as the reason of the candidate", async (onLoad, expected) => {
      const error = await refusal((await runtimeWith([failing({ onLoad })], { host })).load(model));
      expect(error.data["decision"]).toMatchObject({ candidates: [{ target: "failing:cpu", verdict: "failed", ...expected }] });
    });

    it("outputs that cannot cross are a failure of the run, not of the worker", async () => {
      expect((await refusal(handle.run(inputs(behaviors.unclonable)))).code).toBe("RUN_FAILED");
      expect(await runsOf(handle.run(plain))).toBe(before + 2);
    });

    it("inputs that cannot cross are refused, alone or in the queue, and the next run works", async () => {
      const given = (): TensorMap => {
        const data = Float32Array.of(0, 0);
        structuredClone(data, { transfer: [data.buffer] }); // whoever gave its memory away cannot give it again
        return { x: { dataType: "float32", shape: [2], data } };
      };
      expect((await refusal(handle.run(given()))).code).toBe("INPUT_INVALID");
      const running = handle.run(inputs(behaviors.hold));
      const [refused, after] = [refusal(handle.run(given())), handle.run(plain)];
      await engineHolds();
      writeFileSync(gate, "");
      await running;
      expect((await refused).code).toBe("INPUT_INVALID");
      expect(await runsOf(after)).toBe(before + 2);
    });
  });

  describe("the life of a worker", () => {
    it("disposal waits for the run under way, and further runs are DISPOSED", async () => {
      const own = await runtimeWith([failing({ gate })], { host });
      const busy = await own.load(model);
      const running = runsOf(busy.run(inputs(behaviors.hold)));
      await engineHolds();
      const disposed = own.dispose();
      writeFileSync(gate, "");
      await disposed;
      expect(await running).toBe(2); // the probe of verification, this one
      expect((await refusal(busy.run(plain))).code).toBe("DISPOSED");
    });

    it("copies run side by side", async () => {
      const own = await runtimeWith([failing({ gate: join(folder, `copies-${host}`) })], { host, replicas: 2 });
      const replicas = await (await own.load(model)).replicas();
      expect(replicas).toHaveLength(2);
      await Promise.all(replicas.map((replica) => replica.run(inputs(behaviors.meet)))); // neither ends before the other has begun
    });

    it("a backend without an entry is told so when a worker is demanded", async () => {
      const { entry: _entry, ...without } = failing();
      const own = await runtimeWith([without], { host });
      expect(await refusal(own.load(model))).toMatchObject({
        code: "CONTRACT_VIOLATION",
        remedy: expect.stringContaining("entry"),
      });
    });

    it("an entry that exports no such function is told so", async () => {
      const wrong = { ...failing(), entry: { module: failing().entry!.module, export: "none" } };
      expect((await refusal((await runtimeWith([wrong], { host })).load(model))).message).toContain(
        'does not export a function "none"',
      );
    });

    it("ends the thread or process of a model that is suspended after its calls; the next call, or resuming it, starts another", async () => {
      // No public call suspends a model: its replicas do, under load.
      const { model: hosted } = (handle.model as unknown as { loaded: { model: Suspendable } }).loaded;
      const { restarts } = hosted;
      const running = handle.run(plain);
      await Promise.all([running, hosted.suspend()]);
      expect(await runsOf(running)).toBe(before + 1);
      expect(await runsOf(handle.run(plain))).toBe(1);
      await hosted.suspend();
      await hosted.resume();
      expect(hosted.restarts).toBe(restarts + 2);
      expect(await runsOf(handle.run(plain))).toBe(1);
    });

    it("many models, runtimes and restarts leave no listeners behind: Node.js warns of none", async () => {
      const warnings: string[] = [];
      const listen = (warning: Error): void => void warnings.push(warning.message);
      process.on("warning", listen);
      const listeners = process.listenerCount("exit");
      const limit = process.getMaxListeners();
      setMaxListeners(2); // not Node.js's 10: fewer models show it
      process.setMaxListeners(listeners + 2);
      const handles = await Promise.all(Array.from({ length: 3 }, () => loadFailing({}, host, { crashWindow: 0 })));
      for (let death = 0; death < 3; death += 1) await refusal(handles[0]!.run(inputs(behaviors.exit)));
      await Promise.all(runtimes.splice(0).map((each) => each.dispose()));
      await new Promise((resolve) => setImmediate(resolve));
      process.off("warning", listen);
      expect(warnings).toEqual([]);
      await vi.waitFor(() => expect(process.listenerCount("exit")).toBe(listeners), { timeout: 60_000 });
      expect(process.getMaxListeners()).toBe(listeners + 2);
      setMaxListeners(10);
      process.setMaxListeners(limit);
    });
  });
});

describe("the host process", () => {
  it("survives an engine that aborts: one model is gone, its error says how it died, and the next call works", async () => {
    const runtime = await runtimeWith([failing()], { host: "process" });
    const [doomed, other] = [await runtime.load(model), await runtime.load(model, { threads: 1 })];
    const death = await refusal(doomed.run(inputs(behaviors.abort)));
    expect(death).toMatchObject({ code: "HOST_DIED", retryable: true });
    expect(death.message).toMatch(/^the process died of SIGABRT, saying: terminate called without mercy/);
    expect(await runsOf(other.run(plain))).toBe(2);
    expect(await runsOf(doomed.run(plain))).toBe(1);
  });

  it("knows what memory the model takes: that of its process, and it grows with what the engine holds", async () => {
    const handle = await loadFailing({}, "process");
    const before = handle.memory;
    expect(before.measure).toBe("resident");
    expect(before.bytes).toBeGreaterThan(20e6);
    await handle.run(inputs(behaviors.hoard)); // 64 MB
    expect(handle.memory.bytes - before.bytes).toBeGreaterThan(60e6);
  });

  it("gives way to the program that asks", async () => {
    const others = new Set(childrenOf(process.pid));
    await loadFailing({}, "process");
    const child = childrenOf(process.pid).find((pid) => !others.has(pid));
    expect(getPriority(child)).toBe(Math.min(getPriority() + 10, 19));
  });

  it("leaves no child behind when the program is killed", async () => {
    const program = spawn(process.execPath, [join(fixtures, "kept-model.mjs"), model], { stdio: ["ignore", "pipe", "inherit"] });
    const [line] = (await once(program.stdout.setEncoding("utf8"), "data")) as [string];
    const child = Number(line);
    expect(isAlive(child)).toBe(true);
    program.kill("SIGKILL");
    await vi.waitFor(() => expect(isAlive(child)).toBe(false), { timeout: 60_000 });
  });
});

describe("arguments of Node.js: both hosts", () => {
  const program = join(fixtures, "loads-in-host.mjs");
  const text = `import(${JSON.stringify(pathToFileURL(program).href)})`;
  const programs: readonly (readonly [what: string, args: readonly string[]])[] = [
    [
      "flags of V8, of the process and of modules",
      ["--expose-gc", "--max-old-space-size=300", "--title=own", "--conditions=own", program],
    ],
    ["a debugger", ["--inspect-port", "0", "--inspect=0", program]],
    ["a program as text", ["--expose-gc", "-e", text]],
    ["a program as text that is printed", ["-pe", `${text}; 1`]],
    ["a module as text", ["--expose-gc", "--input-type=module", "-e", text]],
  ];
  const ofSample = new Set(["flags of V8, of the process and of modules", "a module as text"]);
  for (const [skip, title, rows] of sampled("works with %s", programs, ([what]) => ofSample.has(what)))
    it.skipIf(skip).each(rows)(title, async (_what, args) => {
      const env = { ...process.env, HOSTS: "worker,process", MODEL: model };
      const { stdout } = await promisify(execFile)(process.execPath, args, { env, timeout: 60_000 });
      expect(stdout.match(/answered \d+/g)).toEqual(["answered 2", "answered 2"]); // once each: no peer has run the program again
    });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8")); // a dead child nobody has asked after yet
  } catch {
    return false;
  }
}
