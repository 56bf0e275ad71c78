import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Circuits } from "./circuits.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("circuits", () => {
  it("a target that failed is left alone for its rest, and comes back by itself", () => {
    const circuits = new Circuits(60_000);
    expect([...circuits.current()]).toEqual([]);
    circuits.open("onnx:cuda", "device lost");
    vi.advanceTimersByTime(59_999);
    expect([...circuits.current()]).toEqual([["onnx:cuda", "device lost"]]);
    vi.advanceTimersByTime(1);
    expect([...circuits.current()]).toEqual([]);
  });

  it("every target has its own rest, and failing again begins it anew", () => {
    const circuits = new Circuits(1000);
    circuits.open("onnx:cuda", "first");
    vi.advanceTimersByTime(600);
    circuits.open("onnx:cuda", "second");
    circuits.open("wasm:cpu", "other");
    vi.advanceTimersByTime(600);
    expect([...circuits.current()]).toEqual([
      ["onnx:cuda", "second"],
      ["wasm:cpu", "other"],
    ]);
    vi.advanceTimersByTime(400);
    expect(circuits.current().size).toBe(0);
  });
});
