import { describe, expect, it } from "vitest";
import { scriptedBackend } from "../../testing/scripted-backend.ts";
import type { Availability, LanguageModel, TensorModel } from "../backend.ts";
import {
  getCacheEstimate,
  getCapabilities,
  checkAvailability,
  checkBackend,
  checkLanguageModel,
  checkTensorModel,
} from "./held-contract.ts";

const cpu = { type: "cpu", index: 0 };
const backend = { name: "mine" };

/** One value of each JavaScript type, by the type's name in error messages. */
const otherTypes = {
  undefined: undefined,
  null: null,
  "7.5": 7.5,
  '"word"': "word",
  "a function": () => {},
  "a list": [{}],
} as const;

/** Names of the types that a member may have; their values are not tested as wrong values. */
type Permitted = readonly (keyof typeof otherTypes)[];

/** Expects that each value of another type of a member is refused with an error that names the backend, the member and the value. */
function refusesEach(
  call: string,
  right: object,
  members: Readonly<Record<string, Permitted>>,
  check: (value: never) => unknown,
): void {
  expect(() => check(right as never)).not.toThrow();
  for (const [member, permitted] of Object.entries(members)) {
    for (const [described, value] of Object.entries(otherTypes)) {
      if ((permitted as readonly string[]).includes(described)) continue;
      const message = `backend "mine" breaks its contract: ${call}.${member} is ${described}, and must be `;
      const refusal = {
        code: "CONTRACT_VIOLATION",
        message: expect.stringContaining(described === "a list" ? `${call}.${member}` : message),
      };
      expect(() => check({ ...right, [member]: value } as never), `${member}: ${described}`).toThrow(
        expect.objectContaining(refusal),
      );
    }
  }
  for (const value of [undefined, null, 7, "text"]) {
    expect(() => check(value as never)).toThrow(
      `backend "mine" breaks its contract: ${call} is ${JSON.stringify(value)}, and must be an object`,
    );
  }
}

const optionalMember: Permitted = ["undefined"];
const functionMember: Permitted = ["a function"];
const textMember: Permitted = ['"word"'];

describe("backends are held to the contract", () => {
  it("in each member of their capabilities", () => {
    const onnx = { kind: "tensor", format: "onnx", architectures: "any" };
    const right = { models: [onnx], precisions: ["fp32"], options: ["threads"] };
    refusesEach("capabilities(cpu:0)", right, { models: [], precisions: [], options: optionalMember, cachePrecisions: optionalMember, footprint: optionalMember, runMemory: optionalMember, compiles: optionalMember }, (value) => getCapabilities({ name: "mine", capabilities: () => value }, cpu)); // prettier-ignore
    const nested =
      (capabilities: object): (() => unknown) =>
      () =>
        getCapabilities({ name: "mine", capabilities: () => ({ ...right, ...capabilities }) as never }, cpu);
    const model = (changed: object): (() => unknown) => nested({ models: [onnx, { ...onnx, ...changed }] });
    expect(model({ architectures: [7] })).toThrow("capabilities(cpu:0).models[1].architectures[0] is 7, and must be a text");
    expect(model({ architectures: "all" })).toThrow('.architectures is "all", and must be a list of architectures, or "any"');
    expect(model({ kind: "sound" })).toThrow('.models[1].kind is "sound", and must be one of "tensor", "language"');
    expect(model({ runsIn: "worker" })).toThrow('.models[1].runsIn is "worker", and must be one of "caller", "thread"');
    expect(model({ packing: { int8: "1", int4: 1 } })).toThrow('.packing.int8 is "1"');
    expect(nested({ precisions: ["fp8"] })).toThrow('.precisions[0] is "fp8", and must be one of "fp32"');
    expect(nested({ footprint: { bytes: -1, perWeightByte: 1 } })).toThrow(".footprint.bytes is -1");
    expect(nested({ later: "members of later versions are ignored" })).not.toThrow();
  });

  it("where a call throws that must not, or returns a promise", () => {
    const throwing = (): never => {
      throw new TypeError("no device");
    };
    expect(() => getCapabilities({ name: "mine", capabilities: throwing }, cpu)).toThrow(
      'backend "mine" breaks its contract: capabilities(cpu:0) throws: no device',
    );
    expect(() => getCapabilities({ name: "mine", capabilities: (async () => ({})) as never }, cpu)).toThrow(
      "capabilities(cpu:0).models is undefined",
    );
  });

  it("in each member of what a probe finds", () => {
    const check = (value: Availability): Availability => checkAvailability(backend, value);
    const device = { device: cpu, state: "present", reason: "found" };
    refusesEach(
      "probe()",
      { present: false, reason: "absent" },
      { present: [], reason: textMember, remedy: [...optionalMember, '"word"'], library: optionalMember },
      check,
    );
    refusesEach(
      "probe()",
      { present: true, library: { name: "x", version: "1" }, devices: [device] },
      { library: [], devices: [] },
      check,
    );
    const nested =
      (changed: object): (() => unknown) =>
      () =>
        check({ present: true, library: { name: "x", version: "1" }, devices: [device, { ...device, ...changed }] } as never);
    expect(nested({ state: "ready" })).toThrow(
      'probe().devices[1].state is "ready", and must be one of "absent", "present", "available"',
    );
    expect(nested({ device: { type: "cpu" } })).toThrow("probe().devices[1].device.index is undefined");
    expect(nested({ device: { type: "cpu", index: 1.5 } })).toThrow(".device.index is 1.5");
    expect(nested({ milliseconds: "3" })).toThrow('.milliseconds is "3", and must be a number of at least 0');
  });

  it("in each member of the models that they load", () => {
    const call = async (): Promise<never> => Promise.reject(new Error("not called"));
    const base = {
      library: { name: "x", version: "1" },
      memory: { bytes: 1, measure: "weights" },
      evidence: call,
      dispose: call,
    };
    const tensor = {
      ...base,
      kind: "tensor",
      inputs: [{ name: "x", dataType: "float32", shape: [1, "n"] }],
      outputs: [],
      run: call,
    };
    const baseMembers = {
      library: [],
      memory: [],
      evidence: functionMember,
      dispose: functionMember,
      kernelCounts: [...optionalMember, "a function"],
      kind: [],
    } as const;
    refusesEach("load()", tensor, { ...baseMembers, inputs: [], outputs: [], run: functionMember }, (value: TensorModel) =>
      checkTensorModel(backend, value),
    );
    const methods = ["createSequence", "decode", "forkSequence", "truncateSequence", "releaseSequence"];
    const language = {
      ...base,
      kind: "language",
      limits: { vocabulary: 8, cacheBytesPerToken: 0, hasEncoder: false },
      ...Object.fromEntries(methods.map((name) => [name, call])),
    };
    const members = {
      ...baseMembers,
      limits: [],
      ...Object.fromEntries(methods.map((name) => [name, functionMember])),
      saveSequence: [...optionalMember, "a function"],
      restoreSequence: [...optionalMember, "a function"],
    } as const;
    refusesEach("loadLanguage()", language, members, (value: LanguageModel) => checkLanguageModel(backend, value));
    expect(() => checkLanguageModel(backend, { ...language, limits: { ...language.limits, vocabulary: 0 } } as never)).toThrow(
      "loadLanguage().limits.vocabulary is 0, and must be a whole number of at least 1",
    );
    expect(() => checkTensorModel(backend, { ...tensor, memory: { bytes: Number.NaN, measure: "weights" } } as never)).toThrow(
      "load().memory.bytes is NaN",
    );
  });

  it("in what they estimate", () => {
    const estimate = (value: unknown) => () =>
      getCacheEstimate({ name: "mine", estimateCache: () => value as never }, {} as never, cpu, {});
    expect(estimate(undefined)()).toBeUndefined();
    expect(estimate({ bytesPerToken: 1, computeBytes: 0 })()).toEqual({ bytesPerToken: 1, computeBytes: 0 });
    expect(estimate({ bytesPerToken: 1n, computeBytes: 0 })).toThrow("estimateCache().bytesPerToken is a bigint");
  });

  it("in their own members", () => {
    const right = scriptedBackend("mine");
    const check = (changed: object) => () => checkBackend({ ...right, ...changed }, 1);
    expect(check({})).not.toThrow();
    for (const name of ["probe", "capabilities", "load"])
      expect(check({ [name]: undefined })).toThrow(
        `backend "mine" breaks its contract: ${name} is undefined, and must be a function`,
      );
    for (const name of ["loadLanguage", "estimateCache", "dispose"]) expect(check({ [name]: 7 })).toThrow(`${name} is 7`);
    expect(check({ requires: [{ name: "x" }] })).toThrow("requires[0].kind is undefined");
    expect(check({ entry: {} })).toThrow("entry.module is undefined");
    expect(check({ name: 7 })).toThrow("backend 1 of the list breaks its contract: name is 7");
    for (const value of [undefined, null, "onnx"])
      expect(() => checkBackend(value, 2)).toThrow(/backend 2 of the list breaks its contract: it is .*, and must be an object/);
  });
});
