import { describe, expect, it } from "vitest";
import type { Decision } from "../../runtime/decision/decision.ts";
import type { RuntimeEvent } from "../../runtime/options/runtime-settings.ts";
import { LoadProgressTracker } from "./load-progress.ts";

function start(): { watch: LoadProgressTracker; pass: (milliseconds: number) => void } {
  let now = 0;
  return { watch: new LoadProgressTracker(() => now), pass: (milliseconds) => (now += milliseconds) };
}

const loading = (reference: string, bytes: number, target = "onnx:cpu"): RuntimeEvent => ({
  type: "loading",
  reference,
  target,
  bytes,
});
const loaded = (reference: string): RuntimeEvent => ({ type: "loaded", decision: { model: { reference } } as Decision });

describe("how far a load is", () => {
  it("nothing is known of what nobody loads; else its stage and for how long it has been under way", () => {
    const { watch, pass } = start();
    expect(watch.getProgress("m")).toBeUndefined();
    watch.start("m");
    pass(120);
    expect(watch.getProgress("m")).toEqual({ stage: "preparing", elapsedMs: 120 });
    watch.onEvent(loading("m", 1e6));
    pass(30);
    expect(watch.getProgress("m")).toEqual({ stage: "loading", elapsedMs: 150 });
    watch.onEvent(loaded("m"));
    expect(watch.getProgress("m")).toBeUndefined();
  });

  it("of a download the bytes, and what they tell of the rest", () => {
    const { watch } = start();
    const progress = {
      reference: "m",
      stage: "fetching",
      bytes: 250,
      totalBytes: 1000,
      bytesPerSecond: 100,
      secondsLeft: 7.5,
    } as const;
    watch.onEvent({ type: "download", reference: "m", progress });
    const told = { stage: "downloading", bytes: 250, totalBytes: 1000, progress: 0.25, estimateMs: 7500 };
    expect(watch.getProgress("m")).toMatchObject(told);
    watch.onEvent({ type: "download", reference: "m", progress: { ...progress, stage: "done" } });
    expect(watch.getProgress("m")).toEqual({ stage: "preparing", elapsedMs: 0 });
  });

  it("of the loading itself, by how long weights of like size took on the same target", () => {
    const { watch, pass } = start();
    const measured = (reference: string, bytes: number, milliseconds: number, target?: string): void => {
      watch.onEvent(loading(reference, bytes, target));
      pass(milliseconds);
      watch.onEvent(loaded(reference));
    };
    measured("near", 80e6, 400);
    measured("far", 1e6, 300); // too small to tell anything
    measured("elsewhere", 100e6, 9000, "wasm:cpu");
    watch.onEvent(loading("m", 100e6));
    pass(100);
    expect(watch.getProgress("m")).toEqual({ stage: "loading", elapsedMs: 100, progress: 0.2, estimateMs: 400 });
    pass(500);
    expect(watch.getProgress("m")).toEqual({ stage: "loading", elapsedMs: 600 }); // it takes longer: nobody knows how long
  });

  it("a load that failed is forgotten, and measures nothing", () => {
    const { watch, pass } = start();
    watch.onEvent(loading("m", 1e6));
    pass(1000);
    watch.onEvent({ type: "load-failed", reference: "m", code: "MODEL_INVALID", reason: "damaged" });
    expect(watch.getProgress("m")).toBeUndefined();
    watch.onEvent(loading("m", 1e6));
    expect(watch.getProgress("m")).toEqual({ stage: "loading", elapsedMs: 0 });
  });
});
