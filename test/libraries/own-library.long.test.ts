/** The backend `library` with three releases of llama.cpp, and switching between them while models serve. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Runtime, createRuntime } from "inferyard";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { childrenOf } from "../fixtures/processes/child-processes.ts";
import { type LlamaLibraries, builds, type faults, faultyLibrary, fetchLibraries } from "./fixtures/llama-libraries.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";
import { runsAll } from "../fixtures/slow.ts";

const [skip, title] = needsData("libraries of the user's own");
const tinyllm = `${sharedData}tinyllm/tinyllm.gguf`;
const story = ", there was a little girl named Lily. She loved to play outside in the park. One day, she saw a big, red ball.";

describe.skipIf(skip || process.platform !== "linux" || process.arch !== "x64")(title, () => {
  const folder = mkdtempSync(join(tmpdir(), "inferyard-own-library-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  let libraries: LlamaLibraries;
  let problem: string | undefined;
  beforeAll(async () => {
    const fetched = await fetchLibraries(folder);
    if (typeof fetched === "string") problem = fetched;
    else libraries = fetched;
  });
  beforeEach(({ skip: skipTest }) => skipTest(problem !== undefined, `it cannot be installed here: ${problem}`));

  const runtimes: Runtime[] = [];
  const runtimeWith = async (path: string): Promise<Runtime> => {
    const runtime = await createRuntime({ threads: 1, library: path });
    runtimes.push(runtime);
    return runtime;
  };
  afterAll(async () => void (await Promise.all(runtimes.map((runtime) => runtime.dispose()))));

  const write = async (runtime: Runtime, prompt = "Once upon a time", target = "library:cpu") =>
    runtime.generate(prompt, { model: tinyllm, target, maxNewTokens: 40, temperature: 0 });

  describe.each(builds)("the build %s", (name) => {
    it("writes what native writes, and says which library it is", async () => {
      const runtime = await runtimeWith(libraries[name]);
      const { results, decision } = await write(runtime);
      expect(results[0]?.text).toBe(story);
      expect((await write(runtime, undefined, "native")).results[0]?.text).toBe(story);
      expect(decision.selected?.host).toBe("process");
      expect(decision.selected?.library.name).toBe(libraries[name].split("/").at(-1));
      const evidence = decision.selected?.evidence.join("\n");
      expect(evidence).toContain(libraries[name]);
      expect(evidence).toContain("computes on the CPU");
      expect(evidence).toContain("the library's tokenizer gives the same ids");
    });
  });

  const prompts = [
    "Once upon a time",
    "Tom and Lily",
    "The big red ball",
    "One day a dog",
    "The cat",
    "Mom said",
    "A bird",
    "Ben has",
  ];

  it("reloads between builds lose nothing of 8 texts that are written meanwhile", async () => {
    const runtime = await runtimeWith(libraries.current);
    const alone: (string | undefined)[] = [];
    for (const prompt of prompts) alone.push((await write(runtime, prompt)).results[0]?.text);
    const first = (await write(runtime)).decision.selected?.library.version;
    expect(childrenOf(process.pid)).toHaveLength(runtimes.length); // each has a process for the model
    const versions = new Set([first]);
    for (const next of [libraries.older, ...(runsAll ? [libraries.python] : []), libraries.current]) {
      const reloading = { isDone: false };
      const texts: { readonly prompt: number; readonly text: string | undefined; readonly version: string | undefined }[] = [];
      const writers = prompts.map(async (prompt, index) => {
        while (!reloading.isDone) {
          const { results, decision } = await write(runtime, prompt);
          texts.push({ prompt: index, text: results[0]?.text, version: decision.selected?.library.version });
        }
      });
      const report = await runtime.reloadLibrary(next);
      reloading.isDone = true;
      await Promise.all(writers);
      expect(texts.length).toBeGreaterThanOrEqual(8);
      for (const { prompt, text } of texts) expect(text).toBe(alone[prompt]);
      expect(report).toMatchObject({ backend: "library", after: { path: next }, models: [{ target: "library:cpu" }] });
      const { comparison, decisions } = report.models[0]!;
      expect(comparison.maxDifference).toBeLessThan(comparison.tolerance);
      expect(comparison.positions).toBe(36);
      const { decision } = await write(runtime);
      expect(decision.id).toBe(decisions.after);
      expect(decision.selected?.library.version).toBe(report.after.version);
      const before = texts.map(({ version }) => version).filter((version) => version !== report.after.version);
      expect(new Set(before)).toEqual(new Set([report.before?.version]));
      versions.add(report.after.version);
    }
    expect(versions.size).toBe(runsAll ? 3 : 2);
    expect(childrenOf(process.pid)).toHaveLength(runtimes.length); // those of the old libraries have ended
  });

  it("a sequence and a handle outlive a reload", async () => {
    const runtime = await runtimeWith(libraries.current);
    const handle = await runtime.load(tinyllm, { kind: "language", target: "library:cpu" });
    const sequence = await handle.language.createSequence();
    const [before] = await handle.language.decode([{ sequence, tokens: [1, 100, 200] }]);
    const reload = runtime.reloadLibrary(libraries.older);
    let isDone = false;
    void reload.finally(() => (isDone = true));
    const write = (maxNewTokens: number): ReturnType<Runtime["generate"]> =>
      runtime.generate("Once upon a time", { model: handle, maxNewTokens, temperature: 0 });
    const hasSwitched = async (): Promise<void> =>
      expect((await write(1)).decision.selected?.library.name).toBe("libllama.b7347.so");
    await vi.waitFor(hasSwitched, { timeout: 120_000, interval: 200 });
    expect(isDone).toBe(false); // it waits for the sequence
    expect((await write(40)).results[0]?.text).toBe(story);
    await handle.language.truncateSequence(sequence, 2);
    const [again] = await handle.language.decode([{ sequence, tokens: [200] }]);
    const differences = before!.map((logit, index) => Math.abs(logit - again![index]!));
    expect(differences.reduce((most, each) => Math.max(most, each))).toBeLessThan(1e-4);
    await handle.language.releaseSequence(sequence);
    expect((await reload).after.path).toBe(libraries.older);
    await handle.dispose();
  });

  describe("a reload that fails leaves the old library serving", () => {
    let runtime: Runtime;
    let serving: string | undefined;
    beforeAll(async () => {
      if (problem !== undefined) return;
      runtime = await runtimeWith(libraries.older);
      serving = (await write(runtime)).decision.id;
    });
    const sizeOfContextParams = 168;
    const expected: Readonly<Record<keyof typeof faults, RegExp>> = {
      "lacks a function": /llama_decode/,
      "has another layout": /layout/,
      "crashes when it is loaded": /SIGABRT/,
      "crashes when it loads a model": /SIGABRT/,
      "answers wrongly": /answers otherwise than the old one/,
      "has no memory": /could not allocate a cache/,
    };
    it.each(Object.entries(expected))("%s", async (fault, reason) => {
      const path = faultyLibrary(folder, fault as keyof typeof faults, libraries.older, sizeOfContextParams);
      const children = childrenOf(process.pid).length;
      const writing = Promise.all(prompts.slice(0, 2).map((prompt) => write(runtime, prompt)));
      const failure = { code: "RELOAD_FAILED", message: expect.stringMatching(reason), data: expect.objectContaining({ path }) };
      await expect(runtime.reloadLibrary(path)).rejects.toMatchObject(failure);
      await writing;
      const { results, decision } = await write(runtime);
      expect([results[0]?.text, decision.id]).toEqual([story, serving]);
      expect(childrenOf(process.pid)).toHaveLength(children);
    });

    it("is no library, or not there", async () => {
      writeFileSync(join(folder, "text.so"), "no library");
      for (const path of [join(folder, "text.so"), join(folder, "nothing.so")]) {
        await expect(runtime.reloadLibrary(path)).rejects.toMatchObject({ code: "RELOAD_FAILED" });
      }
      expect((await write(runtime)).decision.id).toBe(serving);
    });

    it("is aborted, or overtaken by another", async () => {
      await expect(runtime.reloadLibrary(libraries.current, { signal: AbortSignal.abort() })).rejects.toMatchObject({
        code: "ABORTED",
      });
      const [first, second] = await Promise.all([
        runtime.reloadLibrary(libraries.current),
        runtime.reloadLibrary(libraries.older),
      ]);
      expect([first.after.path, second.before?.path, second.after.path]).toEqual([
        libraries.current,
        libraries.current,
        libraries.older,
      ]);
      expect((await write(runtime)).results[0]?.text).toBe(story);
    });
  });

  it("a process that is killed while it writes is a typed error, and the next request is answered", async () => {
    const before = childrenOf(process.pid);
    const runtime = await runtimeWith(libraries.python);
    const stream = await runtime.generate("Once upon a time", {
      model: tinyllm,
      target: "library:cpu",
      maxNewTokens: 200,
      stream: true,
    });
    let killed = 0;
    const reading = (async () => {
      for await (const _event of stream) {
        for (const pid of childrenOf(process.pid).filter((each) => !before.includes(each))) {
          process.kill(pid, "SIGKILL");
          killed += 1;
        }
      }
    })();
    await expect(reading).rejects.toMatchObject({ code: "HOST_DIED" });
    expect(killed).toBeGreaterThan(0);
    expect((await write(runtime)).results[0]?.text).toBe(story);
  });
});
