import { describe, expect, it } from "vitest";
import { matmul } from "../codegen/wasm/kernels/matmul/matmul.ts";
import { softmax } from "../codegen/wasm/kernels/reductions/softmax.ts";
import { KernelTimings } from "./kernel-timings.ts";

describe("speeds of kernels", () => {
  const [short, long] = [16, 128].map((m) => matmul({ m, n: 64, k: 64 })) as [
    ReturnType<typeof matmul>,
    ReturnType<typeof matmul>,
  ];

  it("are known after a few calls, of which the quickest counts", () => {
    const speeds = new KernelTimings();
    for (const milliseconds of [5, 0.25]) speeds.record(short, milliseconds);
    expect(speeds.isMeasured(short)).toBe(false);
    speeds.record(short, 50);
    expect(speeds.isMeasured(short)).toBe(true);
    expect(speeds.milliseconds(short)).toBeCloseTo(0.25 * 1.05, 10);
  });

  it("ignore calls that compute nothing", () => {
    const speeds = new KernelTimings();
    const nothing = softmax({ shape: [0, 4] });
    for (let call = 0; call < 5; call += 1) speeds.record(nothing, 0.001);
    expect(nothing.pieces).toBe(0);
    expect(speeds.isMeasured(nothing)).toBe(false);
  });

  it("follow a machine that has become slower", () => {
    const speeds = new KernelTimings();
    for (const milliseconds of [1, 1, 1]) speeds.record(short, milliseconds);
    for (let call = 0; call < 30; call += 1) speeds.record(short, 2);
    expect(speeds.milliseconds(short)).toBeCloseTo(2, 10);
  });

  it("are those of all sizes that share the code", () => {
    const speeds = new KernelTimings();
    for (let call = 0; call < 3; call += 1) speeds.record(long, 1);
    expect(long.key).toBe(matmul({ m: 256, n: 64, k: 64 }).key);
    const twice = matmul({ m: 256, n: 64, k: 64 });
    expect(speeds.isMeasured(twice)).toBe(true);
    expect(speeds.milliseconds(twice)).toBeGreaterThan(1.8);
    expect(speeds.milliseconds(twice)).toBeLessThan(2.2);
  });
});
