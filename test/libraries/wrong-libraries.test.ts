/** A library that computes wrongly is refused at its first load, and the next target serves. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRuntime } from "inferyard";
import { afterAll, expect, it } from "vitest";
import { needsPrograms } from "./fixtures/native-libraries.ts";
import { installedLibrary } from "./fixtures/llama-libraries.ts";
import { patchedLibrary } from "./fixtures/patched-libraries.ts";
import { wrongLibraries } from "./fixtures/wrong-libraries.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";

const [lacksData] = needsData("");
const [lacksPrograms, title] = needsPrograms(
  "a library that rotates no positions is refused at its first load, and native serves",
  "nm",
);
const real = process.platform === "linux" && process.arch === "x64" ? installedLibrary() : undefined;
const folder = mkdtempSync(join(tmpdir(), "inferyard-wrong-library-"));
afterAll(() => rmSync(folder, { recursive: true }));

it.skipIf(lacksData || lacksPrograms || real === undefined)(title, async () => {
  const path = patchedLibrary(folder, real ?? "", wrongLibraries["rotates no positions"]!.patches);
  const runtime = await createRuntime({ library: path, priority: ["library", "native"], threads: 1 });
  const model = `${sharedData}tinyllm/tinyllm.gguf`;
  const { results, decision } = await runtime.generate("Once upon a time", { model, maxNewTokens: 4, temperature: 0 });
  expect(results[0]?.text).toBe(", there was a");
  expect(decision.selected?.target).toBe("native:cpu");
  const refused = decision.candidates.find(({ target }) => target === "library:cpu");
  expect(refused).toMatchObject({
    verdict: "failed",
    reason: expect.stringMatching(/a tiny model gives wrong logits after a prompt/),
  });
  await runtime.dispose();
});
