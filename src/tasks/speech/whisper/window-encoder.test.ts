import { expect, it } from "vitest";
import { WindowEncoder } from "./window-encoder.ts";

/** The calls that a model got, in order. */
function scriptedModel(): { readonly calls: string[]; readonly model: ConstructorParameters<typeof WindowEncoder>[0] } {
  const calls: string[] = [];
  const model = {
    createSequence: async (options: { readonly features?: Float32Array } = {}) => {
      calls.push(`encode ${options.features?.join() ?? ""}`);
      return calls.length;
    },
    releaseSequence: async () => void calls.push("release"),
  };
  return { calls, model };
}

it("encodes a kept window once, and another one again", async () => {
  const { calls, model } = scriptedModel();
  const windows = new WindowEncoder(model);
  const first = await windows.keepWindow(Float32Array.of(1, 2), undefined, async (sequence) => sequence);
  expect(await windows.withWindow(Float32Array.of(1, 2), undefined, async (sequence) => sequence)).toBe(first);
  expect(calls).toEqual(["encode 1,2", "release"]);
  await windows.keepWindow(Float32Array.of(1, 2), undefined, async () => {});
  await windows.withWindow(Float32Array.of(1, 3), undefined, async () => {});
  await windows.release();
  expect(calls.slice(2)).toEqual(["encode 1,2", "release", "encode 1,3", "release"]);
});

it("releases a window whose work fails", async () => {
  const { calls, model } = scriptedModel();
  const windows = new WindowEncoder(model);
  await expect(windows.keepWindow(Float32Array.of(1), undefined, () => Promise.reject(new Error("failed")))).rejects.toThrow(
    "failed",
  );
  expect(calls).toEqual(["encode 1", "release"]);
});
