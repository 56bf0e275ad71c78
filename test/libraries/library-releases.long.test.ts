import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { validateLibrary } from "inferyard/libraries";
import { installNpm } from "../fixtures/installed.ts";
import { sampled } from "../fixtures/slow.ts";

const folder = mkdtempSync(join(tmpdir(), "inferyard-releases-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Releases of node-llama-cpp, and the layouts of model, context and batch that the header of the llama.cpp in each has. */
const releases: readonly (readonly [version: string, layouts: readonly [model: string, context: string, batch: string]])[] = [
  ["3.3.0", ["b4234 72", "b3889 120", "b4234 56"]],
  ["3.5.0", ["b4600 64", "b3889 120", "b4234 56"]],
  ["3.9.0", ["b5415 72", "b5590 120", "b4234 56"]],
  ["3.12.1", ["b6133 72", "b6133 120", "b4234 56"]],
  ["3.14.0", ["b6133 72", "b6431 120", "b4234 56"]],
  ["3.14.5", ["b7347 72", "b6431 120", "b4234 56"]],
  ["3.16.2", ["b7769 72", "b7769 136", "b4234 56"]],
  ["3.19.1", ["b7769 72", "b9842 160", "b4234 56"]],
  ["3.20.0", ["b10361 72", "b10361 160", "b4234 56"]],
  ["3.22.0", ["b11227 80", "b10361 160", "b4234 56"]],
];

describe.skipIf(process.platform !== "linux" || process.arch !== "x64")(
  "releases of llama.cpp (skipped: they are those for Linux on x86-64)",
  () => {
    const ofSample = new Set(["3.3.0", "3.14.5"]); // the oldest, and the one that tests of own libraries install too
    for (const [skipRows, title, rows] of sampled("proves the layouts of node-llama-cpp %s", releases, ([version]) =>
      ofSample.has(version),
    ))
      it.skipIf(skipRows).for(rows)(title, { timeout: 240_000 }, async ([version, layouts], { skip }) => {
        const inside = mkdtempSync(join(folder, "release-"));
        const problem = await installNpm(inside, [`@node-llama-cpp/linux-x64@${version}`]);
        skip(problem !== undefined, `it cannot be installed here: ${problem}`);
        const bins = join(inside, "node_modules/@node-llama-cpp/linux-x64/bins/linux-x64");
        const file = readdirSync(bins).find((name) => /^libllama(\.[\w.]+)?\.so$/.test(name)) ?? "";
        const { structs, steps } = await validateLibrary(join(bins, file), "llama");
        expect(structs.map(({ release, size }) => `${release} ${size}`)).toEqual(layouts);
        expect(steps.at(-1)).toMatchObject({ name: "devices", verdict: "passed", detail: "CPU" });
      });
  },
);
