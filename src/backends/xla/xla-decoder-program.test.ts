/** What is left of caches when runs fail, with a device that fails on demand. */
import { describe, expect, it } from "vitest";
import type { PastInput } from "../../engine/compilation.ts";
import type { StableHloProgram } from "../../engine/codegen/stablehlo/index.ts";
import type { TensorType } from "../../engine/ir/tensor-type.ts";
import { XlaCache } from "./xla-cache.ts";
import { XlaDecoderProgram } from "./xla-decoder-program.ts";
import type { XlaServices } from "./xla-services.ts";

const type: TensorType = { dataType: "float32", shape: [1, 4, 2] };
const logits: TensorType = { dataType: "float32", shape: [1, 1, 3] };
const states: readonly PastInput[] = [
  { info: { name: "key", dataType: "float32", shape: ["batch", "past", 2] }, axis: 1, batchAxis: 0, isJoined: false },
];
const program: StableHloProgram = {
  text: "",
  arguments: [
    { kind: "length", sequence: 0, type: { dataType: "int32", shape: [] } },
    { kind: "cache", sequence: 0, state: 0, type },
  ],
  results: [
    { name: "logits", type: logits },
    { name: "key", type },
  ],
};

/** A device that counts the tensors it holds; what `fails` says goes wrong. */
class FailingDevice {
  held = 0;
  fails: "compile" | "execute" | "wait" | undefined;

  tensor(of: TensorType): object {
    let isFreed = false;
    this.held += 1;
    return {
      type: of,
      read: () => ({ type: of, data: new Float32Array(of.shape.reduce((product, size) => product * size, 1)) }),
      wait: () => this.#failAt("wait"),
      dispose: () => {
        if (!isFreed) this.held -= 1;
        isFreed = true;
      },
    };
  }

  get services(): XlaServices {
    const compiled = {
      run: () => {
        this.#failAt("execute");
        return program.results.map(({ type: of }) => this.tensor(of));
      },
      dispose: () => {},
    };
    const client = { upload: ({ type: of }: { readonly type: TensorType }) => this.tensor(of) };
    return {
      client,
      compileText: () => {
        this.#failAt("compile");
        return compiled;
      },
    } as never;
  }

  #failAt(step: FailingDevice["fails"]): void {
    if (this.fails === step) throw new Error(`no ${step}`);
  }
}

function start(): { device: FailingDevice; cache: XlaCache; append: () => Promise<unknown> } {
  const device = new FailingDevice();
  const { services } = device;
  const newCache = (): XlaCache => new XlaCache(states, 4, services, () => {});
  const cache = newCache();
  const decoder = new XlaDecoderProgram({ inputs: [], nodes: [], outputs: [] }, program, { services, newCache });
  const append = async (): Promise<unknown> =>
    await decoder.append({}, [{ cache, length: 0, count: 1, source: undefined }], { keeps: true });
  return { device, cache, append };
}

describe("a run that fails", () => {
  it.each(["execute", "wait"] as const)(
    "in %s loses the caches: they are freed, and every later use is RUN_FAILED",
    async (step) => {
      const { device, cache, append } = start();
      await append();
      device.fails = step;
      await expect(append()).rejects.toThrow(`no ${step}`);
      device.fails = undefined;
      expect(device.held).toBe(0);
      const lost = expect.objectContaining({ code: "RUN_FAILED", remedy: expect.stringContaining("truncate") });
      await expect(append()).rejects.toEqual(lost);
      expect(() => cache.tensors).toThrow(lost);
      expect(() => new XlaCache(states, 4, device.services, () => {}).copyFrom(cache)).toThrow(lost);
      cache.release();
    },
  );

  it("before the plugin has the caches leaves them as they were", async () => {
    const { device, append } = start();
    device.fails = "compile";
    await expect(append()).rejects.toThrow("no compile");
    device.fails = undefined;
    await expect(append()).resolves.toMatchObject({ shape: [1, 1, 3] });
    expect(device.held).toBe(1);
  });
});
