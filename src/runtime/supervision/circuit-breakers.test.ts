import { describe, expect, it } from "vitest";
import { CircuitBreakers } from "./circuit-breakers.ts";

function clock(): { now: () => number; pass: (milliseconds: number) => void } {
  let time = 1000;
  return { now: () => time, pass: (milliseconds) => (time += milliseconds) };
}

describe("circuits", () => {
  it("a target that failed is not tried for the cooldown period, and then is", () => {
    const { now, pass } = clock();
    const circuits = new CircuitBreakers(60_000, now);
    expect([...circuits.current()]).toEqual([]);
    circuits.open("onnx:cuda", "device lost");
    pass(59_999);
    expect([...circuits.current()]).toEqual([["onnx:cuda", { reason: "device lost", remainingMs: 1 }]]);
    pass(1);
    expect([...circuits.current()]).toEqual([]);
  });

  it("every target has its own rest, and failing again begins it anew", () => {
    const { now, pass } = clock();
    const circuits = new CircuitBreakers(1000, now);
    circuits.open("onnx:cuda", "first");
    pass(600);
    circuits.open("onnx:cuda", "second");
    circuits.open("wasm:cpu", "other", 500);
    pass(400);
    expect([...circuits.current()]).toEqual([
      ["onnx:cuda", { reason: "second", remainingMs: 600 }],
      ["wasm:cpu", { reason: "other", remainingMs: 100 }],
    ]);
    pass(600);
    expect(circuits.current().size).toBe(0);
  });
});
