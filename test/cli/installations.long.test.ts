/** Installations without the optional packages, or with one of them too old. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Decision } from "inferyard";
import { useDirectory } from "../fixtures/processes/command-line.ts";
import { commandsIn, install } from "../fixtures/processes/commands-in.ts";
import { needsData, sharedData, worst } from "../fixtures/shared-data.ts";

const tinyBert = `${sharedData}tiny-random-bert`;
const pooled = ["--model", tinyBert, "--pooling", "mean"];
const folder = mkdtempSync(join(tmpdir(), "inferyard-installations-"));
useDirectory(folder);
afterAll(() => rmSync(folder, { recursive: true }));
const { inferyard, answer } = commandsIn(folder);

const [skipInstall, installTitle] = needsData("without the optional packages");
describe.skipIf(skipInstall)(installTitle, () => {
  let [withWasm, bare] = ["", ""];
  beforeAll(() => {
    withWasm = install(folder, "with-wasm", "onnxruntime-web");
    bare = install(folder, "bare");
  });

  it.each([
    ["onnxruntime-node removed", () => withWasm, [], "native:cpu"],
    ["onnxruntime-node removed, and wasm asked for", () => withWasm, ["--prefer", "wasm"], "wasm:cpu"],
    ["both removed", () => bare, [], "native:cpu"],
  ] as const)("%s: the same model runs elsewhere, and the decision says what was missing and what mends it", async (...given) => {
    const [, installation, flags, wanted] = given;
    const texts = ["The cat sits outside."];
    const asked = ["embed", ...pooled, ...flags, ...texts];
    const { target, embeddings, decision } = await answer(asked, { installation: installation() });
    expect(target).toBe(wanted);
    const [usual = []] = (await answer(["embed", ...pooled, "--target", "onnx:cpu", ...texts])).embeddings;
    expect(worst(Float32Array.from(embeddings[0]!), Float32Array.from(usual))).toBeLessThan(1e-5);
    expect(decision.candidates.find((candidate) => candidate.target === "onnx:cpu")).toMatchObject({
      verdict: "refused",
      stage: "package",
      reason: "onnxruntime-node is not installed",
      remedy: "npm install onnxruntime-node --ignore-scripts",
    });
  });

  it("both removed: the built-in model answers, and `backends` says what would mend the others", async () => {
    const [{ target }, { code, stdout }] = await Promise.all([
      answer(["embed", "hello"], { installation: bare }),
      inferyard(["backends", "--json"], { installation: bare }),
    ]);
    expect({ target, code }).toEqual({ target: "native:cpu", code: 0 });
    expect(JSON.parse(stdout)).toMatchObject([
      { backend: "onnx", availability: { present: false, remedy: "npm install onnxruntime-node --ignore-scripts" } },
      { backend: "xla", availability: { present: false, reason: expect.stringMatching(/^no PJRT plugin was found/) } },
      { backend: "llamacpp", availability: { present: false, remedy: "npm install node-llama-cpp --ignore-scripts" } },
      { backend: "native", availability: { present: true, devices: [{ state: "present", reason: "part of inferyard" }] } }, // nothing ran
      { backend: "wasm", availability: { present: false, remedy: "npm install onnxruntime-web" } },
      { backend: "library", availability: { present: false, reason: "no llama.cpp library is configured" } },
    ]);
  });
});

it("counts a library outside of the required range of versions as absent, and says so", async () => {
  const installation = install(folder, "old-onnxruntime");
  const library = join(installation, "node_modules/onnxruntime-node");
  const binaries = join(library, `bin/napi-v3/${process.platform}/${process.arch}`);
  mkdirSync(binaries, { recursive: true });
  writeFileSync(join(binaries, "onnxruntime_binding.node"), "");
  writeFileSync(join(library, "package.json"), '{ "name": "onnxruntime-node", "version": "1.10.0" }');
  const reason = "onnxruntime-node 1.10.0 is installed; >=1.24 <2 is needed";
  const remedy = "npm install onnxruntime-node --ignore-scripts";
  const read = async <Report>(...args: readonly string[]): Promise<Report> =>
    JSON.parse((await inferyard([...args, "--json"], { installation })).stdout) as Report;
  const reports = await read<{ backend: string; availability: object }[]>("backends");
  expect(reports.find(({ backend }) => backend === "onnx")?.availability).toMatchObject({ present: false, reason, remedy });
  const { candidates } = await read<Decision>("explain", "builtin", "--prefer", "onnx:cpu");
  expect(candidates.find(({ target }) => target === "onnx:cpu")).toMatchObject({
    verdict: "refused",
    stage: "package",
    reason,
    remedy,
  });
});
