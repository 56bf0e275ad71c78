import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import type { MachineSources, CommandOutput } from "./sources.ts";
import { createMachineReader, readAvailableMemory, readMachine } from "./machine.ts";
import { version1Container } from "../../test/devices/recorded/containers.ts";
import { h200Server } from "../../test/devices/recorded/h200-server.ts";
import { macM3 } from "../../test/devices/recorded/mac-m3.ts";
import { noGpu } from "../../test/devices/recorded/no-gpu.ts";
import { recordedSources, type Recording } from "../../test/devices/recorded/recording.ts";
import { windowsLaptop } from "../../test/devices/recorded/windows-laptop.ts";

const kinds = ["coreml", "cuda", "directml", "metal", "npu", "openvino", "rocm", "tpu", "vulkan"];

/** Sources whose programs never answer by themselves. */
function hanging(recording: Recording): MachineSources {
  return {
    ...recordedSources(recording),
    run: (_program, _programArguments, signal) =>
      new Promise<CommandOutput>((resolve) => {
        signal?.addEventListener("abort", () => resolve({ ok: false, stdout: "", reason: (signal.reason as Error).message }));
      }),
  };
}

describe("readMachine", () => {
  it.each<[string, Recording, string[]]>([
    ["a machine without accelerators", noGpu, []],
    ["a server with an H200", h200Server, ["cuda"]],
    ["a Mac", macM3, ["metal", "coreml"]],
    ["a Windows laptop", windowsLaptop, ["cuda", "directml", "directml", "npu"]],
  ])("accounts for every kind on %s: a device or a reason", async (_, recording, types) => {
    const facts = await readMachine({ sources: recordedSources(recording) });
    expect(facts.accelerators.map(({ device }) => device.type)).toEqual(types);
    expect([...new Set([...types, ...Object.keys(facts.absent)])].toSorted()).toEqual(kinds);
    for (const reason of Object.values(facts.absent)) expect(reason).toMatch(/^[^\n]*[^.\s]$/);
    expect(structuredClone(facts)).toEqual(facts);
  });

  it("starts no program on a machine without accelerators, and reads no file twice", async () => {
    const sources = recordedSources(noGpu);
    const reads: string[] = [];
    await readMachine({
      sources: {
        ...sources,
        readFile: (path) => {
          reads.push(path);
          return sources.readFile(path);
        },
      },
    });
    expect(sources.commandsRun).toEqual([]);
    expect(reads).toHaveLength(new Set(reads).size);
  });

  it("gives up on programs that hang and says so", async () => {
    const facts = await readMachine({ sources: hanging(windowsLaptop), timeoutMs: 50 });
    expect(facts.absent.cuda).toBe("the NVIDIA driver is installed, but nvidia-smi fails: no answer within 50 ms");
    expect(facts.absent.directml).toContain("no answer within 50 ms");
    expect(facts.cpu.features.source).toContain("no answer within 50 ms");
    expect(facts.cpu.model.value).toBe("Intel(R) Core(TM) Ultra 7 155H");
  });

  it("gives up on files that hang", async () => {
    const hang = (): Promise<never> => new Promise(() => {});
    const sources: MachineSources = { ...recordedSources(noGpu), readFile: hang, cachedLibraries: hang };
    const facts = await readMachine({ sources, timeoutMs: 20 });
    expect(facts.absent.cuda).toBe("looking for cuda devices gave no answer within 20 ms");
    expect(facts.cpu.cores).toEqual({ value: 2, source: "os.availableParallelism" });
    expect(facts.memory.available.source).toBe("os.freemem");
  });

  it("stops when the caller gives up, before and during the reading", async () => {
    const stop = new AbortController();
    const reading = readMachine({ sources: hanging(macM3), signal: stop.signal });
    stop.abort();
    await expect(reading).rejects.toMatchObject({ code: "ABORTED" });
    await expect(readMachine({ sources: recordedSources(noGpu), signal: stop.signal })).rejects.toMatchObject({
      code: "ABORTED",
    });
  });

  it("reads the machine this test runs on", async () => {
    const facts = await readMachine();
    expect(facts.platform).toBe(process.platform);
    expect(facts.cpu.quota.value).toBeGreaterThanOrEqual(1);
    expect(facts.cpu.quota.value).toBeLessThanOrEqual(facts.cpu.cores.value);
    expect(facts.memory.available.value).toBeGreaterThan(0);
    expect(facts.memory.available.value).toBeLessThanOrEqual(facts.memory.total.value);
  });

  it("prints nothing", () => {
    const script = `import { readMachine } from ${JSON.stringify(new URL("index.ts", import.meta.url).href)};
      await readMachine({ signal: new AbortController().signal });`;
    const { stdout, stderr, status } = spawnSync(process.execPath, ["--import", "tsx", "--input-type=module", "-e", script], {
      encoding: "utf8",
    });
    expect({ stdout, stderr, status }).toEqual({ stdout: "", stderr: "", status: 0 });
  });
});

describe("createMachineReader", () => {
  it("reads once, also for callers that come at the same time, and anew on request", async () => {
    const sources = recordedSources(h200Server);
    const reader = createMachineReader({ sources });
    const [first, second] = await Promise.all([reader.read(), reader.read()]);
    expect(second).toBe(first);
    const commands = sources.commandsRun.length;
    expect(await reader.read()).toBe(first);
    expect(sources.commandsRun).toHaveLength(commands);

    const third = await reader.read({ again: true });
    expect(third).not.toBe(first);
    expect(await reader.read()).toBe(third);
  });

  it("does not remember a failure", async () => {
    let broken = true;
    const recorded = recordedSources(noGpu);
    const readFile = (path: string): Promise<string | undefined> =>
      broken ? Promise.reject(new Error("broken")) : recorded.readFile(path);
    const reader = createMachineReader({ sources: { ...recorded, readFile } });
    await expect(reader.read()).rejects.toThrow("broken");
    broken = false;
    expect((await reader.read()).platform).toBe("linux");
  });
});

describe("readAvailableMemory", () => {
  it("sees what was taken since the last call", async () => {
    const files: Record<string, string> = { ...version1Container.files };
    const sources = recordedSources({ ...version1Container, files });
    const before = await readAvailableMemory({ sources });
    files["/sys/fs/cgroup/memory/memory.usage_in_bytes"] = "409715200\n";
    const after = await readAvailableMemory({ sources });
    expect(before.value - after.value).toBe(200_000_000);
  });
});
