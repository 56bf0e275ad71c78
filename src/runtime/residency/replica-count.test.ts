import { describe, expect, it } from "vitest";
import { scriptedMachine } from "../../testing/scripted-backend.ts";
import { replicaCount, replicaMemory } from "./replica-count.ts";
import type { VerifiedModel } from "../loading/loading.ts";

const loaded = (
  bytes: number,
  {
    type = "cpu",
    host = "worker",
    memory = 0,
    ...model
  }: { type?: string; host?: string; memory?: number; replicaBytes?: number } = {},
): VerifiedModel =>
  ({
    model,
    variant: { bytes },
    target: { backend: "onnx", device: { type, index: 0 } },
    need: { memory },
    decision: { selected: { host } },
  }) as unknown as VerifiedModel;
const machineWith = (available: number): ReturnType<typeof scriptedMachine> =>
  scriptedMachine({ memory: { total: { value: 64e9, source: "test" }, available: { value: available, source: "test" } } });

describe("how many copies share bulk work", () => {
  it("one per thread where memory is plentiful, and never more than eight", () => {
    expect(replicaCount(loaded(1e6), machineWith(8e9), 2)).toBe(2);
    expect(replicaCount(loaded(1e6), machineWith(8e9), 64)).toBe(8);
  });

  it("as many as a quarter of the available memory holds, four bytes for each of the weights", () => {
    expect(replicaCount(loaded(100e6), machineWith(8e9), 64)).toBe(5);
    expect(replicaCount(loaded(100e6), machineWith(1.6e9), 64)).toBe(1);
    expect(replicaCount(loaded(4e9), machineWith(8e9), 64)).toBe(0);
  });

  it("fewer where the engine takes more than its weights say", () => {
    expect(replicaCount(loaded(100e6, { memory: 600e6 }), machineWith(8e9), 64)).toBe(3);
  });

  it("more where copies share the weights: each takes a thread and what it computes in", () => {
    expect(replicaCount(loaded(1e9, { replicaBytes: 15e6 }), machineWith(1.6e9), 64)).toBe(4);
    expect(replicaMemory(loaded(1e9, { replicaBytes: 15e6, memory: 1e9 }))).toEqual({ memory: 100e6 });
    expect(replicaMemory(loaded(1e9, { memory: 1e9 }))).toEqual({ memory: 1e9 });
  });

  it("none on an accelerator, and none on the calling thread, where they would run one after the other", () => {
    expect(replicaCount(loaded(1e6, { type: "cuda" }), machineWith(8e9), 4)).toBe(1);
    expect(replicaCount(loaded(1e6, { host: "inline" }), machineWith(8e9), 4)).toBe(1);
  });
});
