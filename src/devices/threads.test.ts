import { describe, expect, it } from "vitest";
import type { CpuFacts } from "../contract/backend.ts";
import { threadsFor } from "./threads.ts";

function cpuWithQuota(quota: number): CpuFacts {
  return {
    model: { value: "a processor", source: "test" },
    features: { value: [], source: "test" },
    cores: { value: 64, source: "test" },
    quota: { value: quota, source: "test" },
  };
}

describe("threadsFor", () => {
  it("takes the quota, not the cores, and rounds it down", () => {
    expect(threadsFor(cpuWithQuota(3.9))).toBe(3);
    expect(threadsFor(cpuWithQuota(1.5))).toBe(1);
  });

  it("keeps an absurd constraints within the quota and above zero", () => {
    expect(threadsFor(cpuWithQuota(4), 9999)).toBe(4);
    expect(threadsFor(cpuWithQuota(4), Infinity)).toBe(4);
    expect(threadsFor(cpuWithQuota(4), 0)).toBe(1);
    expect(threadsFor(cpuWithQuota(4), -3)).toBe(1);
    expect(threadsFor(cpuWithQuota(4), 2.7)).toBe(2);
  });

  it("refuses a constraints that is no number", () => {
    expect(() => threadsFor(cpuWithQuota(4), Number.NaN)).toThrow(expect.objectContaining({ code: "INPUT_INVALID" }));
  });
});
