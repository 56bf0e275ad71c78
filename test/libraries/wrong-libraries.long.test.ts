/** Libraries of llama.cpp in which one function is overwritten: each is refused at its first load, by `doctor` or at a reload. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Runtime, createRuntime } from "inferyard";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { needsPrograms } from "./fixtures/native-libraries.ts";
import { installedLibrary } from "./fixtures/llama-libraries.ts";
import { patchedLibrary } from "./fixtures/patched-libraries.ts";
import { wrongLibraries } from "./fixtures/wrong-libraries.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";
import { amount, onRequest, sampled } from "../fixtures/slow.ts";

const [lacksData] = needsData("");
const [lacksPrograms, title] = needsPrograms("a library that", "nm");
const real = process.platform === "linux" && process.arch === "x64" ? installedLibrary() : undefined;
const model = `${sharedData}tinyllm/tinyllm.gguf`;

describe.skipIf(lacksData || lacksPrograms || real === undefined)(title, () => {
  const folder = mkdtempSync(join(tmpdir(), "inferyard-wrong-libraries-"));
  const home = process.env["INFERYARD_HOME"];
  beforeAll(() => void (process.env["INFERYARD_HOME"] = join(folder, "home"))); // nothing is remembered
  afterAll(() => {
    if (home === undefined) delete process.env["INFERYARD_HOME"];
    else process.env["INFERYARD_HOME"] = home;
    rmSync(folder, { recursive: true });
  });
  let runtime: Runtime | undefined;
  afterEach(async () => await runtime?.dispose());

  const generate = async (path: string): ReturnType<Runtime["generate"]> => {
    runtime = await createRuntime({ library: path, threads: 1 });
    return await runtime.generate("Once upon a time", { model, target: "library:cpu", maxNewTokens: 4, temperature: 0 });
  };

  // Of each run: one library for each step of the self-test. "rotates no positions" is test/libraries/wrong-libraries.test.ts.
  const ofEachRun = new Set([
    "looks up no embeddings",
    "copies no sequences",
    "removes no tokens",
    "claims to have restored a state",
  ]);
  for (const [skips, refused, rows] of sampled("%s is refused at its first load", Object.entries(wrongLibraries), ([name]) =>
    ofEachRun.has(name),
  ))
    it.skipIf(skips).each(rows)(refused, async (_name, { patches, reason }) => {
      const path = patchedLibrary(folder, real ?? "", patches);
      await expect(generate(path)).rejects.toThrow(reason);
    });

  it("is right serves, and its self-test is remembered until one of its files changes", async () => {
    const path = patchedLibrary(folder, real ?? "", {});
    const proofs: (string | undefined)[] = [];
    for (let round = 0; round < 2; round += 1) {
      const { results, decision } = await generate(path);
      expect(results[0]?.text).toBe(", there was a");
      proofs.push(decision.selected?.evidence.find((sentence) => sentence.startsWith("a tiny llama")));
      await runtime?.dispose();
    }
    expect(proofs).toEqual([
      expect.stringMatching(/^a tiny llama with weights in F32 gives the right logits \(largest difference/),
      expect.stringMatching(/^a tiny llama with weights in F32 gives the right logits \(remembered from 20/),
    ]);
  });

  it.skipIf(onRequest("")[0]).each(["rotates no positions", "copies no sequences"])(
    onRequest("%s is refused by doctor and at a reload", "a library that multiplies wrongly is the sample")[1],
    async (name) => {
      const path = patchedLibrary(folder, real ?? "", wrongLibraries[name]?.patches ?? {});
      const wrong = await createRuntime({ library: path, threads: 1 });
      const found = (await wrong.backends({ run: true })).find(({ backend }) => backend === "library");
      await wrong.dispose();
      expect(JSON.stringify(found)).toMatch(/a tiny model gives wrong logits/);
      const { decision } = await generate(real ?? "");
      const refusal = { code: "RELOAD_FAILED", message: expect.stringMatching(/a tiny model gives wrong logits/) };
      await expect(runtime?.reloadLibrary(path)).rejects.toMatchObject(refusal);
      const again = await runtime?.generate("Once upon a time", {
        model,
        target: "library:cpu",
        maxNewTokens: 4,
        temperature: 0,
      });
      expect(again?.decision.id).toBe(decision.id);
    },
  );

  it("multiplies weights in blocks wrongly is refused by doctor", async () => {
    for (const kernel of ["ggml_vec_dot_q4_K_q8_K", "ggml_vec_dot_q6_K_q8_K"].slice(0, amount(2, 1))) {
      const path = patchedLibrary(folder, real ?? "", { [kernel]: "ret" });
      const wrong = await createRuntime({ library: path, threads: 1 });
      const found = (await wrong.backends({ run: true })).find(({ backend }) => backend === "library");
      await wrong.dispose();
      expect(JSON.stringify(found), kernel).toMatch(/a tiny model gives/);
    }
  });
});
