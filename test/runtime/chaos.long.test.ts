/** The server treated badly: a short run of `npm run eval:chaos`, and an engine that aborts. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { abortingModel } from "../fixtures/models/aborting-model.ts";
import { childrenOf } from "../fixtures/processes/child-processes.ts";
import * as write from "../fixtures/models/onnx-bytes.ts";
import { type ServerProcess, ServerProcesses, ready } from "../fixtures/processes/server-process.ts";
import { needsData } from "../fixtures/shared-data.ts";

const servers = new ServerProcesses();
afterEach(() => servers.killAll());
afterAll(() => servers.remove());

const [skip, title] = needsData("15 rounds of chaos");
describe.skipIf(skip)(title, () => {
  it("every request gets a right answer or may be sent again, and nothing is left behind", async () => {
    const program = fileURLToPath(new URL("../../bench/chaos/run.mjs", import.meta.url));
    const flags = ["--rounds", "15", "--seed", "3", "--small"];
    const child = spawn(process.execPath, ["--import", "tsx", program, ...flags], { stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (said += String(text)));
    const [code] = (await once(child, "close")) as [number | null];
    expect(said).toContain("\n0 violations\n");
    for (const kind of ["kill", "broken", "hangup", "slow", "term"]) expect(said).toMatch(new RegExp(`^${kind} +[1-9]`, "m"));
    expect(code).toBe(0);
  });
});

describe("an engine that aborts while it loads a model (QLinearSigmoid without zero points, onnxruntime-node)", () => {
  const graph = [
    write.node({ operator: "Identity", inputs: ["x"], outputs: ["y"] }),
    write.value(11, "x", 1, [2]),
    write.value(12, "y", 1, [2]),
  ];

  async function start(settings: object): Promise<ServerProcess> {
    writeFileSync(join(servers.folder, "abort.onnx"), abortingModel());
    writeFileSync(join(servers.folder, "sound.onnx"), write.model({ opsets: { "": 17 }, graph }));
    const models = { doomed: join(servers.folder, "abort.onnx"), sound: join(servers.folder, "sound.onnx") };
    return servers.serve([], { models, logLevel: "info" }, { others: settings });
  }

  interface Answer {
    readonly status: number;
    readonly retryAfter: number;
    readonly target: string | null;
    readonly body: { readonly code?: string; readonly error?: string; readonly retryable?: boolean; readonly outputs?: object[] };
  }

  async function infer({ url }: ServerProcess, model: string, datatype: string, data: readonly number[]): Promise<Answer> {
    const inputs = [{ name: "x", datatype, shape: [data.length], data }];
    const response = await fetch(`${url}/v2/models/${model}/infer`, { method: "POST", body: JSON.stringify({ inputs }) });
    const body = (await response.json()) as Answer["body"];
    const { status, headers } = response;
    return { status, retryAfter: Number(headers.get("retry-after")), target: headers.get("x-inferyard-target"), body };
  }
  const doomed = (server: ServerProcess): Promise<Answer> => infer(server, "doomed@onnx:cpu", "UINT8", [1, 2, 3, 4]);
  const sound = (server: ServerProcess): Promise<Answer> => infer(server, "sound@onnx:cpu", "FP32", [1, 2]);

  it("takes its own process down and no other; again and again, it is left alone and the rest goes on", async () => {
    const server = await start({ maxCrashes: 2, crashWindow: "1h" });
    await ready(server);
    expect((await sound(server)).body.outputs).toMatchObject([{ name: "y", data: [1, 2] }]);
    const before = childrenOf(server.child.pid!);
    expect(before).toHaveLength(2); // builtin and this one
    const died = await doomed(server);
    expect(died).toMatchObject({ status: 503, body: { code: "HOST_DIED", retryable: true } });
    expect(died.body.error).toMatch(/the process died of SIGABRT, saying: .*Assertion/);
    expect(died.body.error).not.toContain(servers.folder);
    expect((await doomed(server)).body.code).toBe("HOST_DIED");
    const open = await doomed(server);
    expect(open).toMatchObject({ status: 503, body: { code: "CIRCUIT_OPEN", retryable: true } });
    expect(open.retryAfter).toBeGreaterThan(3500);
    expect((await sound(server)).status).toBe(200);
    expect(childrenOf(server.child.pid!)).toEqual(before);
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    expect(metrics).toContain('inferyard_child_deaths_total{model="doomed",target="onnx:cpu"} 2\n');
    server.child.kill("SIGTERM");
    const { code, stderr } = await server.ended;
    expect(code).toBe(0);
    expect(stderr.split("\n").filter((line) => line.includes('"msg":"died"'))).toHaveLength(2);
    await vi.waitFor(() => expect(before.filter((child) => existsSync(`/proc/${child}`))).toEqual([]));
  });

  it("where another engine can run it, the model is there", async () => {
    const server = await start({});
    expect(await infer(server, "doomed", "UINT8", [0, 64, 128, 255])).toMatchObject({ status: 200, target: "native:cpu" });
  });
});
