/** `inferyard-omni` for linux x64 on the engines inside it, in a root folder of Debian packages without Node.js. On request: it fetches 250 MB. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { bundleAssets } from "../../scripts/release/assets.ts";
import { buildProgram } from "../../scripts/release/build-program.ts";
import { makeDebianRoot } from "../../scripts/release/debian-root.ts";
import { targets } from "../../scripts/release/targets.ts";
import { hasSharedData, sharedData } from "../fixtures/shared-data.ts";
import { onRequest, runsAll } from "../fixtures/slow.ts";
import { BareRoot, canChangeRoot } from "./fixtures/bare-root.ts";

const canRun = canChangeRoot && hasSharedData;
const out = mkdtempSync(join(tmpdir(), "inferyard-omni-"));
let root: BareRoot | undefined;
afterAll(() => {
  root?.unmount();
  rmSync(out, { recursive: true, force: true });
});

describe.skipIf(!canRun || !runsAll)(onRequest("inferyard-omni", "it fetches 250 MB")[1], () => {
  it("runs models on onnx, llamacpp and xla where there is no Node.js, and is within its budget", async () => {
    const target = targets[0]!;
    const bundle = await bundleAssets(join(out, "bundle"));
    const { path, size, gzip } = await buildProgram({ target, flavor: "inferyard-omni", bundle, out });
    expect(size).toBeLessThanOrEqual(target.budget!["inferyard-omni"].size * 1e6);
    expect(gzip).toBeLessThanOrEqual(target.budget!["inferyard-omni"].gzip * 1e6);
    const folder = join(out, "root");
    makeDebianRoot(folder);
    root = new BareRoot(folder, path);
    root.addModel(join(sharedData, "tinyllm/tinyllm.gguf"), "tinyllm.gguf");
    root.addModel(join(sharedData, "all-MiniLM-L6-v2"), "minilm");
    for (const on of ["onnx:cpu", "xla:cpu"]) {
      const flags = ["--model", "/models/minilm", "--target", on];
      const { embeddings } = root.run("embed", "hello", ...flags) as { embeddings: number[][] };
      expect(embeddings[0]).toHaveLength(384);
      expect(embeddings[0]![0]).toBeCloseTo(-0.0628, 3);
    }
    for (const on of ["llamacpp:cpu", "xla:cpu"]) {
      const flags = ["--model", "/models/tinyllm.gguf", "--max-new-tokens", "4", "--target", on];
      const { results } = root.run("generate", "Once upon a time", ...flags) as { results: { text: string }[] };
      expect(results[0]?.text).toBe(", there was a");
    }
  }, 900_000);
});
