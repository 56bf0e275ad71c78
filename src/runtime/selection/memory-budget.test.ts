import { describe, expect, it } from "vitest";
import type { Capabilities, Device } from "../../contract/backend.ts";
import { estimateMemory, initialBooking, heldMemory, parseMemoryLimits, addAmounts, findShortage } from "./memory-budget.ts";
import type { Target } from "../targets/target.ts";

const target = (text: string): Target => {
  const [backend = "", type = "cpu", index = "0"] = text.split(":");
  return { backend, device: { type, index: Number(index) } };
};
function errorOf(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

const capabilities = (footprint?: Capabilities["footprint"]): Capabilities => ({
  models: [],
  precisions: [],
  options: [],
  ...(footprint === undefined ? {} : { footprint }),
});

describe("limits", () => {
  it("are none where nothing is set", () => expect(parseMemoryLimits({})).toBeUndefined());

  it("are read as people write them; a device without a number is the first of its kind", () => {
    expect(parseMemoryLimits({ maxMemory: "2GB", maxDeviceMemory: { cuda: "8GB", "cuda:1": 1e9 }, maxLoadedModels: 3 })).toEqual({
      bytes: { memory: 2e9, "cuda:0": 8e9, "cuda:1": 1e9 },
      models: 3,
    });
    expect(parseMemoryLimits({ maxLoadedModels: 2 })).toEqual({ bytes: {}, models: 2 });
    expect(parseMemoryLimits({ maxMemory: 5 })?.models).toBe(Number.POSITIVE_INFINITY);
  });

  it("of devices take the names of targets; TensorRT uses the memory of CUDA", () => {
    expect(parseMemoryLimits({ maxDeviceMemory: { gpu: "1GB", "DML:1": "2GB" } })?.bytes).toEqual({
      "cuda:0": 1e9,
      "directml:1": 2e9,
    });
    expect(parseMemoryLimits({ maxDeviceMemory: { "tensorrt:1": "1GB" } })?.bytes).toEqual({ "cuda:1": 1e9 });
    expect(estimateMemory(target("onnx:tensorrt:1"), { bytes: 5 }, {}, capabilities(), "worker")).toEqual({
      memory: 5,
      "cuda:1": 5,
    });
  });

  it.each([
    ["cpu", "has no memory of its own", "set maxMemory for the memory of the machine"],
    ["cpu:0", "has no memory of its own", "set maxMemory for the memory of the machine"],
    ["cudaa", "is not a device", 'did you mean "cuda"?'],
    ["banana:0", "is not a device", expect.stringMatching(/^write a device such as cuda:0; the types are cuda, /)],
    ["cuda:first", "is not a device", expect.any(String)],
    ["onnx:cuda:0", "is not a device", expect.any(String)],
    ["", "is not a device", expect.any(String)],
  ])("of the device %j are refused by name", (name, problem, remedy) => {
    const message = `maxDeviceMemory names "${name}", which ${problem}`;
    const error = errorOf(() => parseMemoryLimits({ maxDeviceMemory: { [name]: "1GB" } }));
    expect(error).toMatchObject({ code: "CONFIG_INVALID", message, remedy });
  });

  it("of a device of another name are taken where a backend computes on it", () => {
    const backend = {
      name: "own",
      capabilities: ({ type }: Device) => ({
        ...capabilities(),
        models: type === "xpu" ? [{ kind: "tensor" as const, format: "onnx" as const, architectures: "any" as const }] : [],
      }),
    };
    expect(parseMemoryLimits({ maxDeviceMemory: { xpu: 5 } }, [backend])?.bytes).toEqual({ "xpu:0": 5 });
    expect(() => parseMemoryLimits({ maxDeviceMemory: { ypu: 5 } }, [backend])).toThrow(/not a device/);
  });

  it("of one device under two names are refused", () => {
    expect(() => parseMemoryLimits({ maxDeviceMemory: { cuda: 5, gpu: 6 } })).toThrow(
      'maxDeviceMemory names "gpu", which is the device cuda:0, which has a limit already',
    );
  });
});

describe("an estimate", () => {
  const footprint = { bytes: 40e6, perWeightByte: 1.4 };

  it("is the engine's share and the weights, and a process where the model gets one", () => {
    expect(estimateMemory(target("onnx:cpu"), { bytes: 100e6 }, {}, capabilities(footprint), "worker")).toEqual({
      memory: 180e6,
    });
    expect(estimateMemory(target("onnx:cpu"), { bytes: 100e6 }, {}, capabilities(footprint), "process")).toEqual({
      memory: 234e6,
    });
    expect(estimateMemory(target("native:cpu"), { bytes: 5e6 }, {}, capabilities(), "inline")).toEqual({ memory: 5e6 });
  });

  it("is what the model's author says, where the author says it", () => {
    const requirements = { memoryBytes: 300e6, deviceMemoryBytes: 700e6 };
    expect(estimateMemory(target("onnx:cpu"), { bytes: 9 }, requirements, capabilities(footprint), "worker")).toEqual({
      memory: 300e6,
    });
    expect(estimateMemory(target("onnx:cuda:1"), { bytes: 9 }, requirements, capabilities(footprint), "worker")).toEqual({
      memory: 300e6,
      "cuda:1": 700e6,
    });
  });

  it("counts the weights on the device as well", () => {
    expect(estimateMemory(target("onnx:cuda"), { bytes: 100 }, {}, capabilities(), "worker")).toEqual({
      memory: 100,
      "cuda:0": 100,
    });
  });
});

describe("the first booking of a model", () => {
  const limits = { bytes: { memory: 120, "cuda:0": 1000 }, models: 9 };

  it("is half as much again, but no more than could fit, and never less than the estimate", () => {
    const need = { memory: 60, "cuda:0": 100, "cuda:1": 10 };
    expect(initialBooking(need, limits, [])).toEqual({ memory: 90, "cuda:0": 150, "cuda:1": 15 });
    expect(initialBooking({ memory: 100 }, limits, [])).toEqual({ memory: 120 });
    expect(initialBooking({ memory: 130 }, limits, [])).toEqual({ memory: 130 });
  });

  it("leaves those alone that stay", () => {
    expect(initialBooking({ memory: 60 }, limits, [{ memory: 50 }])).toEqual({ memory: 70 });
    expect(initialBooking({ memory: 60 }, limits, [{ memory: 80 }])).toEqual({ memory: 60 });
  });
});

describe("what a loaded model holds", () => {
  it("is measured where somebody measured the machine's memory, else estimated", () => {
    expect(heldMemory({ bytes: 7, measure: "resident" }, { memory: 5 })).toEqual({ memory: 7 });
    expect(heldMemory({ bytes: 7, measure: "allocated" }, { memory: 5 })).toEqual({ memory: 7 });
    expect(heldMemory({ bytes: 7, measure: "weights" }, { memory: 5 })).toEqual({ memory: 5 });
    expect(heldMemory({ bytes: 7, measure: "resident" }, { memory: 5, "cuda:0": 6 })).toEqual({ memory: 7, "cuda:0": 6 });
    expect(heldMemory({ bytes: 7, measure: "allocated" }, { memory: 5, "cuda:0": 6 })).toEqual({ memory: 5, "cuda:0": 6 });
  });
});

describe("a shortage", () => {
  const limits = { bytes: { memory: 100, "cuda:0": 50 }, models: 9 };

  it("is the first pool in which something does not fit beside the others", () => {
    expect(findShortage(limits, [{ memory: 60 }], { memory: 40 })).toBeUndefined();
    expect(findShortage(limits, [{ memory: 60 }], { memory: 41 })).toEqual({ pool: "memory", need: 41, limit: 100, left: 40 });
    expect(findShortage(limits, [{ "cuda:0": 40 }], { memory: 1, "cuda:0": 11 })?.pool).toBe("cuda:0");
    expect(findShortage(limits, [{ "cuda:1": 999 }], { "cuda:1": 999 })).toBeUndefined();
  });

  it("is none where nothing is asked, however full the place is", () => {
    expect(findShortage(limits, [{ memory: 130 }], { memory: 0 })).toBeUndefined();
    expect(findShortage(limits, [{ memory: 130 }], { memory: 1 })?.left).toBe(0);
  });
});

it("amounts add up by place", () => expect(addAmounts({ memory: 1, a: 2 }, { a: 3, b: 4 })).toEqual({ memory: 1, a: 5, b: 4 }));
