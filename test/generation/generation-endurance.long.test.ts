/** Generating for long: memory stays flat whatever is aborted, and a killed process ends its streams with a typed error. */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createRuntime } from "inferyard";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chatTemplates, writeChatModel } from "../fixtures/models/chat-models.ts";
import { childrenOf } from "../fixtures/processes/child-processes.ts";
import { needsData } from "../fixtures/shared-data.ts";
import { amount } from "../fixtures/slow.ts";

const [skip, title] = needsData("generating for long");

interface Endurance {
  readonly aborted: number;
  readonly memory: readonly {
    readonly rss: number;
    readonly heapUsed: number;
    readonly external: number;
    readonly caches: number;
  }[];
  readonly sequences: readonly { readonly running: number; readonly waiting: number }[];
}

describe.skipIf(skip)(title, () => {
  const folder = mkdtempSync(join(tmpdir(), "endurance-"));
  beforeAll(() => void writeChatModel(folder, chatTemplates.tagged));
  afterAll(() => rmSync(folder, { recursive: true }));

  const rounds = amount(13, 5);

  it(`${80 * rounds} texts, most of them aborted, leave the memory as it was`, async () => {
    const script = fileURLToPath(new URL("fixtures/abort-generations.mjs", import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", script, folder, "native", String(rounds)]);
    const { aborted, memory, sequences } = JSON.parse(stdout) as Endurance;
    expect(aborted).toBeGreaterThan(46 * rounds);
    expect(sequences).toMatchObject([{ running: 0, waiting: 0 }]);
    const [early, late] = [memory[2]!, memory[9]!];
    expect(late.caches - early.caches).toBeLessThan(2 ** 20);
    for (const field of ["heapUsed", "external"] as const) expect(late[field] - early[field]).toBeLessThan(8 * 2 ** 20);
    expect(late.rss - early.rss).toBeLessThan(64 * 2 ** 20); // V8 of Node.js 24 enlarges its young generation once, by 40 MB
  });

  it("a killed process ends its streams with HOST_DIED, and the next call starts another", async () => {
    await using runtime = await createRuntime({ target: "native", host: "process", threads: 1 });
    const before = new Set(childrenOf(process.pid));
    const options = { model: folder, ignoreEndTokens: true, maxNewTokens: 900 } as const;
    await runtime.generate("Hello", { ...options, maxNewTokens: 2 });
    const hosts = childrenOf(process.pid).filter((pid) => !before.has(pid));
    expect(hosts).toHaveLength(1);
    const streams = await Promise.all(
      ["Hello", "a", "Once"].map((prompt) => runtime.generate(prompt, { ...options, stream: true })),
    );
    let begun = 0;
    const endings = streams.map(async (stream) => {
      for await (const event of stream) {
        if (event.type !== "text") continue;
        begun += 1;
        if (begun === 6) process.kill(hosts[0]!, "SIGKILL");
      }
    });
    for (const ending of await Promise.allSettled(endings))
      expect(ending).toMatchObject({ status: "rejected", reason: { code: "HOST_DIED", retryable: true } });
    expect(runtime.sequences().every(({ running, waiting }) => running + waiting === 0)).toBe(true);
    const { results } = await runtime.generate("Hello", { ...options, maxNewTokens: 3 });
    expect(results[0]!.tokens).toHaveLength(3);
  });
});
