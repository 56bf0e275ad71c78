/** Broken PJRT plugins: each is refused with its reason by a probe in a child process, and the next candidate serves. Mutated ones: no crash, and no hang. */
import {
  constants,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  closeSync,
  readSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRuntime } from "inferyard";
import type { Availability } from "inferyard/backend";
import { xla } from "inferyard/backends/xla";
import { scriptedMachine } from "inferyard/testing";
import { afterAll, describe, expect, it, vi } from "vitest";
import { childrenOf } from "../fixtures/processes/child-processes.ts";
import { hasSharedData, sharedData } from "../fixtures/shared-data.ts";
import { amount } from "../fixtures/slow.ts";
import { needsPrograms } from "../libraries/fixtures/native-libraries.ts";
import { brokenPlugins, buildPlugin } from "./fixtures/broken-plugins.ts";
import { needsPlugin, pjrtPlugin } from "./fixtures/pjrt-plugins.ts";

const folder = mkdtempSync(join(tmpdir(), "inferyard-broken-plugins-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const machine = scriptedMachine();
const anyPlugin = await pjrtPlugin();

async function probe(plugin: string, signal?: AbortSignal): Promise<Availability> {
  return await xla({ plugin }).probe({ run: true, machine, ...(signal === undefined ? {} : { signal }) });
}

const [skipsCompiled, compiledTitle] = needsPrograms("a broken plugin", "gcc");
describe.skipIf(skipsCompiled || process.platform !== "linux")(compiledTitle, () => {
  it.each(Object.entries(brokenPlugins))("with %s is refused with the reason", async (name, [change, words]) => {
    const path = buildPlugin(folder, name.replaceAll(" ", "-"), change);
    expect(await probe(path)).toMatchObject({ present: false, reason: expect.stringMatching(words) as string });
  });

  it("that hangs is left when the caller gives up, and its process is ended", async () => {
    const path = buildPlugin(folder, "hangs", "-DCREATE=hang");
    const before = new Set(childrenOf(process.pid));
    const controller = new AbortController();
    const probing = expect(probe(path, controller.signal)).rejects.toMatchObject({ code: "ABORTED" });
    await vi.waitFor(() => expect(childrenOf(process.pid).some((pid) => !before.has(pid))).toBe(true), { timeout: 30_000 });
    controller.abort();
    await probing;
    await vi.waitFor(() => expect(childrenOf(process.pid).filter((pid) => !before.has(pid))).toEqual([]), { timeout: 30_000 });
  });

  const [skip, title, good] = needsPlugin("is passed over where a good one is beside it", anyPlugin);
  it.skipIf(skip || !hasSharedData)(title, async () => {
    const both = join(folder, "both");
    mkdirSync(both);
    buildPlugin(both, "a_pjrt_crashes", "-DCREATE=crash");
    buildPlugin(both, "b_pjrt_is_old", "-DMINOR=3");
    symlinkSync(good, join(both, "c_pjrt_works.so"));
    const found = await probe(both);
    expect(found).toMatchObject({
      present: true,
      devices: [{ state: "available", warning: expect.stringContaining("SIGSEGV") as string }],
    });
    const runtime = await createRuntime({ backends: [xla({ plugin: both })], target: "xla:cpu" });
    const model = await runtime.load(`${sharedData}tiny-random-bert`);
    expect(model.target).toBe("xla:cpu");
    await runtime.dispose();
  });
});

const [skip, title, plugin] = needsPlugin("a plugin of which bytes were changed", anyPlugin);
describe.skipIf(skip)(title, () => {
  const mutants = amount(300, 8);
  it(`is refused or works, ${mutants} of 300 times, and this process lives`, async () => {
    const copy = join(folder, "mutant_pjrt.so");
    copyFileSync(plugin, copy, constants.COPYFILE_FICLONE);
    const { size } = statSync(plugin);
    const random = generator(36);
    const outcomes = { refused: 0, works: 0 };
    for (let mutant = 0; mutant < mutants; mutant += 1) {
      const restore = mutate(copy, plugin, size, mutant, random);
      const found = await probe(copy);
      if (found.present) outcomes.works += 1;
      else {
        outcomes.refused += 1;
        expect(found.reason).toMatch(/\S/);
      }
      restore();
    }
    console.log(`${mutants} changed plugins: ${outcomes.refused} refused, ${outcomes.works} still compute`);
    expect(await probe(copy)).toMatchObject({ present: true }); // each change was undone
  });
});

/** Changes the copy in place: bytes of the headers and tables, bytes anywhere, or its length. Returns what undoes it. */
function mutate(copy: string, original: string, size: number, mutant: number, random: (below: number) => number): () => void {
  if (mutant % 8 === 7) {
    const kept = random(size);
    truncateSync(copy, kept);
    return () => copyFileSync(original, copy, constants.COPYFILE_FICLONE);
  }
  const reach = mutant % 2 === 0 ? 4096 : mutant % 4 === 1 ? 65_536 : size;
  const places = Array.from({ length: 1 + random(8) }, () => random(reach));
  const before = places.map((place) => patch(copy, place, Uint8Array.of(random(256))));
  return () => places.toReversed().forEach((place, index) => patch(copy, place, before.toReversed()[index]!));
}

/** Overwrites bytes of a file, and returns those that were there. */
function patch(path: string, place: number, bytes: Uint8Array): Uint8Array {
  const file = openSync(path, "r+");
  const before = new Uint8Array(bytes.length);
  readSync(file, before, 0, bytes.length, place);
  writeSync(file, bytes, 0, bytes.length, place);
  closeSync(file);
  return before;
}

/** Numbers below a limit from a seed (xorshift, Marsaglia 2003). */
function generator(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}
