/** Memory over many runs, loads and compilations on XLA stays flat: nothing that a plugin allocates is kept. Whole numbers with TEST_SLOW=1, on all three plugins. */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, expect, it } from "vitest";
import { needsData, sharedData } from "../fixtures/shared-data.ts";
import { amount, runsAll } from "../fixtures/slow.ts";
import { fetchPlugin, needsPlugin, pluginVersions } from "./fixtures/pjrt-plugins.ts";

const repository = fileURLToPath(new URL("../..", import.meta.url));
const program = fileURLToPath(new URL("fixtures/memory.mjs", import.meta.url));
const home = mkdtempSync(join(tmpdir(), "inferyard-xla-memory-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

interface Growth {
  readonly times: number;
  /** Megabytes after the first fifth. */
  readonly first: number;
  readonly last: number;
}

const [noData, dataTitle] = needsData("memory of a process with models on XLA");
for (const version of runsAll ? pluginVersions : (["0.106"] as const)) {
  const fetched = noData ? { reason: "no shared data" } : await fetchPlugin(version);
  const [skip, title, plugin] = needsPlugin(`${dataTitle}, plugin ${version}`, fetched);
  it.skipIf(skip || process.platform !== "linux")(`${title}, is flat`, async () => {
    const counts = [amount(10_000, 3000), amount(200, 72), amount(20, 5)].map(String);
    const settings = { cwd: repository, env: { ...process.env, INFERYARD_HOME: join(home, version) } };
    const args = ["--expose-gc", program, plugin, `${sharedData}tiny-random-bert`, ...counts];
    const { stdout } = await promisify(execFile)(process.execPath, args, settings);
    const growths = Object.entries(JSON.parse(stdout) as Record<string, Growth>);
    console.log(growths.map(([what, { times, first, last }]) => `${times} ${what}: ${first} MB, then ${last} MB`).join("; "));
    for (const [what, { first, last }] of growths) expect(last, what).toBeLessThan(first * 1.06 + 6);
  });
}
