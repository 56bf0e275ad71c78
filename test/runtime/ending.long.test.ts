/** How programs end: with their own exit code, in the middle of a run too, and by themselves when nothing is left to do. */
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { hasSharedData, needsData, sharedData } from "../fixtures/shared-data.ts";

const repository = fileURLToPath(new URL("../..", import.meta.url));
const program = fileURLToPath(new URL("fixtures/end-during-run.mjs", import.meta.url));
const model = `${sharedData}all-MiniLM-L6-v2`;
/** The folder for temporary files of the programs of this file. */
const temporary = hasSharedData ? mkdtempSync(join(tmpdir(), "inferyard-ending-")) : "";
afterAll(() => rmSync(temporary, { recursive: true, force: true }));
/** Longest life of a program of this file. Each takes about a second on a quiet machine. */
const longestMs = 30_000;

interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

function node(...args: string[]): Promise<Ending> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, {
      cwd: repository,
      env: { ...process.env, TMPDIR: temporary, CI: "", ORT_DISABLE_TELEMETRY: undefined, ORT_TELEMETRY_DISABLED: undefined },
      timeout: longestMs,
      killSignal: "SIGKILL",
    });
    const written = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"] as const) child[name].on("data", (chunk) => (written[name] += String(chunk)));
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ code, signal, ...written }));
  });
}

/** The same ending, `times` times, two programs side by side. */
async function endings(how: string, times: number): Promise<Ending[]> {
  const results: Ending[] = [];
  while (results.length < times) results.push(...(await Promise.all([node(program, model, how), node(program, model, how)])));
  return results;
}

const [skip, title] = needsData("a program that ends while onnxruntime computes");
describe.skipIf(skip)(title, () => {
  it("by process.exit(3) ends with 3, ten times of ten, and its stdout is its own", async () => {
    const results = await endings("exit", 10);
    expect(results).toEqual(results.map(() => ({ code: 3, signal: null, stdout: "", stderr: "" })));
  });

  it("by an error that nobody catches ends with 1 and that error", async () => {
    const results = await endings("throw", 4);
    expect(results.map(({ code, signal }) => [code, signal])).toEqual(results.map(() => [1, null]));
    for (const { stdout, stderr } of results) {
      expect(stdout).toBe("");
      expect(stderr).toContain("Error: a defect of the program");
      expect(stderr).not.toContain("terminate called");
    }
  });

  it.each(["exit-while-loading", "exit-with-copies"])("by %s ends with 3", async (how) => {
    const results = await endings(how, 4);
    expect(results).toEqual(results.map(() => ({ code: 3, signal: null, stdout: "", stderr: "" })));
  });

  it("by SIGTERM ends by that signal", async () => {
    const [result] = await endings("kill", 2);
    expect(result).toEqual({ code: null, signal: "SIGTERM", stdout: "", stderr: "" });
  });

  it("having nothing else to do: the run ends first, then the program", async () => {
    expect(await node(program, model, "finish")).toEqual({ code: 4, signal: null, stdout: "", stderr: "" });
  });

  it("has left nothing behind in the folder for temporary files: no profile, and no log of onnxruntime's telemetry", () => {
    expect(readdirSync(temporary)).toEqual([]);
  });
});

const [skipIdle, idleTitle] = needsData("a program with a model in memory");
describe.skipIf(skipIdle)(idleTitle, () => {
  it("ends by itself when nothing is left to do, though it disposed of nothing", async () => {
    expect(await node(program, model, "idle")).toEqual({ code: 5, signal: null, stdout: "", stderr: "" });
  });

  const embed = `const runtime = await createRuntime();
    const { target, embeddings } = await runtime.embed("a cat", { model: ${JSON.stringify(model)}, variant: "int8", target: "onnx" });
    console.log(target, embeddings[0].length);`;
  it.each([
    ["node -e", ["-e", `import("inferyard").then(async ({ createRuntime }) => { ${embed} })`]],
    ["node --input-type=module -e", ["--input-type=module", "-e", `import { createRuntime } from "inferyard"; ${embed}`]],
    ["node -p", ["-p", `import("inferyard").then(async ({ createRuntime }) => { ${embed} }), "printed"`]],
  ])("may be given as text: %s", async (_name, args) => {
    const { code, stdout, stderr } = await node(...args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("onnx:cpu 384\n");
  });
});
