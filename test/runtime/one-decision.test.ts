/** One decision wherever it is told: library, HTTP, log, metrics, events and errors; `explain` of the command line gives the same candidates. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Decision, type Runtime, createRuntime } from "inferyard";
import { type Handler, RuntimeEvents, createHandler } from "inferyard/server";
import { createLog } from "../../src/server/observability/log.ts";

const program = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));
const lines: Record<string, unknown>[] = [];
const events = new RuntimeEvents();
const log = createLog({ level: "info", stream: { write: (line) => lines.push(JSON.parse(line) as Record<string, unknown>) } });
let runtime: Runtime;
let handler: Handler;
beforeAll(async () => {
  runtime = await createRuntime({ onEvent: events.emit });
  handler = createHandler(runtime, { events, log });
});
afterAll(() => runtime.dispose());

const post = (path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
  handler(
    new Request(`http://localhost${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    }),
  );
const get = (path: string): Promise<Response> => handler(new Request(`http://localhost${path}`));
const outline = ({ candidates }: Decision): unknown =>
  candidates.map(({ target, stage, reason }) => ({ target, reason, ...(stage === "constraints" ? { stage } : {}) }));

describe("the decision of one load", () => {
  it("has the same id, target, reason and candidates everywhere", async () => {
    const response = await post("/api/embed", { input: "a cat" });
    expect(response.status).toBe(200);
    const id = response.headers.get("x-inferyard-decision");
    const target = response.headers.get("x-inferyard-target");
    const [decision] = await runtime.loaded();
    expect(decision).toMatchObject({ id, selected: { target } });
    expect(await (await get("/api/models/builtin/decision")).json()).toMatchObject({ id, candidates: decision!.candidates });
    expect(lines.find(({ msg }) => msg === "loaded")).toMatchObject({ decision: id, target });
    expect(lines.find(({ msg, status }) => msg === "request" && status === 200)).toMatchObject({ decision: id, target });
    const metrics = await (await get("/metrics")).text();
    expect(metrics).toContain(`inferyard_model_decision_info{model="builtin",target="${target}",decision="${id}"} 1`);
    const { stdout } = await promisify(execFile)(process.execPath, [program, "explain", "--json"]);
    const explained = JSON.parse(stdout) as Decision;
    expect(explained.candidates.find(({ verdict }) => verdict === "would-run")?.target).toBe(target);
    expect(outline(explained)).toEqual(outline(decision!));
  });

  it("is named by the errors of requests: of a load that found no target, and of a run of a loaded model", async () => {
    expect((await post("/api/embed", { input: "a cat" })).status).toBe(200);
    const refused = await post("/api/embed", { input: "a cat" }, { "x-inferyard-target": "require=onnx:tpu" });
    const { error } = (await refused.json()) as { error: { decision: string } };
    expect(error.decision).toMatch(/^[0-9a-f-]{36}$/);
    expect(refused.headers.get("x-inferyard-decision")).toBe(error.decision);
    expect(lines.findLast(({ msg }) => msg === "request")).toMatchObject({ status: refused.status, decision: error.decision });
    const openai = await post("/v1/embeddings", { input: "a", model: "builtin" }, { "x-inferyard-target": "require=onnx:tpu" });
    expect(openai.headers.get("x-inferyard-decision")).toMatch(/^[0-9a-f-]{36}$/);
    expect(await openai.text()).not.toContain("decision");
    const [decision] = await runtime.loaded();
    const wide = await post("/api/embed", { input: "a cat", dimensions: 100_000 });
    expect(wide.status).toBe(400);
    expect(wide.headers.get("x-inferyard-decision")).toBe(decision!.id);
    expect(await wide.json()).toMatchObject({ error: { decision: decision!.id } });
  });
});
