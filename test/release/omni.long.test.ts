/** `inferyard-omni` for linux x64 on the engines inside it, in a root folder of Debian packages without Node.js. On request: it fetches 250 MB. */
import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { bundleAssets } from "../../scripts/release/assets.ts";
import { buildProgram } from "../../scripts/release/build-program.ts";
import { makeDebianRoot } from "../../scripts/release/debian-root.ts";
import { targets } from "../../scripts/release/targets.ts";
import { hasSharedData, sharedData } from "../fixtures/shared-data.ts";
import { onRequest, runsAll } from "../fixtures/slow.ts";

const canRun = process.platform === "linux" && process.arch === "x64" && process.getuid?.() === 0 && hasSharedData;
const out = mkdtempSync(join(tmpdir(), "inferyard-omni-"));
const mounted: string[] = [];
afterAll(() => {
  for (const path of mounted) execFileSync("umount", [path]);
  rmSync(out, { recursive: true, force: true });
});

describe.skipIf(!canRun || !runsAll)(onRequest("inferyard-omni", "it fetches 250 MB")[1], () => {
  it("runs models on onnx, llamacpp and xla where there is no Node.js, and is within its budget", async () => {
    const target = targets[0]!;
    const bundle = await bundleAssets(join(out, "bundle"));
    const { path, size, gzip } = await buildProgram({ target, flavor: "inferyard-omni", bundle, out });
    expect(size).toBeLessThanOrEqual(target.budget!["inferyard-omni"].size * 1e6);
    expect(gzip).toBeLessThanOrEqual(target.budget!["inferyard-omni"].gzip * 1e6);
    const root = join(out, "root");
    makeDebianRoot(root);
    for (const folder of ["data", "models"]) mkdirSync(join(root, folder));
    for (const name of ["dev", "proc"]) {
      const path = join(root, name);
      mkdirSync(path, { recursive: true });
      execFileSync("mount", name === "proc" ? ["-t", "proc", "proc", path] : ["--bind", "/dev", path]);
      mounted.push(path);
    }
    copyFileSync(path, join(root, "inferyard"));
    copyFileSync(join(sharedData, "tinyllm/tinyllm.gguf"), join(root, "models/tinyllm.gguf"));
    cpSync(join(sharedData, "all-MiniLM-L6-v2"), join(root, "models/minilm"), { recursive: true });
    const run = (...args: string[]): unknown => {
      const environment = { INFERYARD_HOME: "/data", HOME: "/data", PATH: process.env["PATH"] }; // node-llama-cpp requires HOME
      const { stdout, stderr } = spawnSync("chroot", [root, "/inferyard", ...args, "--json"], {
        encoding: "utf8",
        env: environment,
      });
      if (stdout === "") throw new Error(stderr);
      return JSON.parse(stdout);
    };
    for (const on of ["onnx:cpu", "xla:cpu"]) {
      const { embeddings } = run("embed", "hello", "--model", "/models/minilm", "--target", on) as { embeddings: number[][] };
      expect(embeddings[0]).toHaveLength(384);
      expect(embeddings[0]![0]).toBeCloseTo(-0.0628, 3);
    }
    for (const on of ["llamacpp:cpu", "xla:cpu"]) {
      const flags = ["--model", "/models/tinyllm.gguf", "--max-new-tokens", "4", "--target", on];
      const { results } = run("generate", "Once upon a time", ...flags) as { results: { text: string }[] };
      expect(results[0]?.text).toBe(", there was a");
    }
  }, 900_000);
});
