import { mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { OpenClient } from "../open-client.ts";
import { compileOptionsBytes } from "../pjrt/compile-options.ts";
import { type CompilationTarget, compilationTarget, programKey } from "./program-key.ts";

const target: CompilationTarget = {
  plugin: { path: "/opt/plugin.so", bytes: 100, modified: 5 },
  apiVersion: "0.106",
  attributes: { stablehlo_current_version: "1.16.1" },
  platform: "cpu",
  platformVersion: "cpu",
  deviceKind: "cpu",
  processor: "model: 1\nflags: avx2",
  threads: [2, "2"],
  flags: "",
};
const options = compileOptionsBytes();

describe("the key of a program", () => {
  it("is the same for the same program", () => {
    expect(programKey(structuredClone(target), Uint8Array.from(options), "text")).toBe(programKey(target, options, "text"));
    expect(programKey(target, options, "text")).toMatch(/^[0-9a-f]{64}$/);
  });

  it("differs for anything that machine code depends on", () => {
    const others: CompilationTarget[] = [
      { ...target, plugin: { ...target.plugin, path: "/opt/other.so" } },
      { ...target, plugin: { ...target.plugin, bytes: 101 } },
      { ...target, plugin: { ...target.plugin, modified: 6 } },
      { ...target, apiVersion: "0.107" },
      { ...target, attributes: { stablehlo_current_version: "1.17.0" } },
      { ...target, platform: "cuda" },
      { ...target, platformVersion: "cuda 13" },
      { ...target, deviceKind: "NVIDIA H200" },
      { ...target, processor: "model: 1\nflags: avx2 avx512f" },
      { ...target, threads: [4, "2"] },
      { ...target, threads: [2, "1"] },
      { ...target, flags: "--xla_cpu_enable_fast_math=true" },
    ];
    const keys = [
      ...[target, ...others].map((each) => programKey(each, options, "text")),
      programKey(target, compileOptionsBytes({ xla_cpu_use_thunk_runtime: true }), "text"),
      programKey(target, options, "text "),
      programKey(target, Uint8Array.from([...options, 0x74]), "ext"),
    ];
    expect(new Set(keys).size).toBe(keys.length);
  });

  it("differs for a plugin that was replaced at its path", async () => {
    const folder = mkdtempSync(join(tmpdir(), "inferyard-key-"));
    const path = join(folder, "plugin.so");
    const opened = {
      plugin: { apiVersion: "0.106", attributes: () => ({}) },
      client: { platform: "cpu", platformVersion: "cpu", deviceKind: "cpu" },
    } as unknown as OpenClient;
    const keyNow = async (): Promise<string> => programKey(await compilationTarget(path, opened, 2), options, "text");
    try {
      writeFileSync(path, "one");
      utimesSync(path, 1, 1);
      const first = await keyNow();
      expect(await keyNow()).toBe(first);
      utimesSync(path, 2, 2);
      const touched = await keyNow();
      writeFileSync(path, "three");
      utimesSync(path, 2, 2);
      expect(new Set([first, touched, await keyNow()]).size).toBe(3);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
