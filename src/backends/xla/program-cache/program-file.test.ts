import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readDescription } from "../../../storage/code-cache/code-file.ts";
import { type ProgramDescription, decodeProgram, encodeProgram, programFormat, withShortDescription } from "./program-file.ts";

const key = "0123456789abcdef".repeat(4);
const description: ProgramDescription = {
  plugin: "/opt/plugin.so",
  apiVersion: "0.106",
  device: "cpu",
  deviceKind: "cpu",
  model: "/models/m/model.onnx",
  inputs: ["input_ids int64[1,16]"],
  compiled: "2026-11-27T00:00:00.000Z",
  milliseconds: 12,
};
const executable = Uint8Array.from({ length: 300 }, (_, index) => (index * 7) % 256);
const file = encodeProgram({ key, description, executable });

describe("the file of a compiled program", () => {
  it("gives back what was written", () => {
    expect(decodeProgram(file, key)).toEqual({ key, description, executable });
    expect(readDescription(programFormat, file)).toEqual(description);
    // Of a larger buffer a part.
    const larger = new Uint8Array(file.length + 20);
    larger.set(file, 10);
    expect(decodeProgram(larger.subarray(10, 10 + file.length), key)?.executable).toEqual(executable);
  });

  it("is refused with any bit changed", () => {
    for (let byte = 0; byte < file.length; byte += 1) {
      const changed = Uint8Array.from(file);
      changed[byte]! ^= 1 << (byte % 8);
      expect(decodeProgram(changed, key), `byte ${byte}`).toBeUndefined();
    }
  });

  it("is refused at any other length, and where it is another program's", () => {
    for (let length = 0; length < file.length; length += 1)
      expect(decodeProgram(file.subarray(0, length), key), `${length} bytes`).toBeUndefined();
    expect(decodeProgram(Uint8Array.from([...file, 0]), key)).toBeUndefined();
    expect(decodeProgram(file, key.replace("0", "f"))).toBeUndefined();
  });

  it("is refused without an executable, and with a description that is none", () => {
    expect(decodeProgram(encodeProgram({ key, description, executable: new Uint8Array() }), key)).toBeUndefined();
    for (const other of [{}, { ...description, milliseconds: "1" }, { ...description, model: 3 }]) {
      const bytes = encodeProgram({ key, description: { inputs: [], ...other } as never, executable });
      expect(decodeProgram(bytes, key)).toBeUndefined();
      expect(readDescription(programFormat, bytes)).toBeUndefined();
    }
  });

  it("is never read wrongly, and never throws", () => {
    const position = fc.integer({ min: 0, max: file.length - 1 });
    const isReadRightly = (at: number, cut: number, bytes: Uint8Array): boolean => {
      const changed = Uint8Array.from([...file.subarray(0, at), ...bytes, ...file.subarray(cut)]);
      readDescription(programFormat, changed);
      return decodeProgram(changed, key) === undefined || Buffer.compare(changed, file) === 0;
    };
    expect(() => fc.assert(fc.property(position, position, fc.uint8Array({ maxLength: 64 }), isReadRightly))).not.toThrow();
  });

  it("has a short description whatever a model calls its inputs", () => {
    const inputs = Array.from({ length: 1000 }, () => "x".repeat(10_000));
    const { inputs: kept = [] } =
      readDescription(
        programFormat,
        encodeProgram(withShortDescription({ key, description: { ...description, inputs }, executable })),
      ) ?? {};
    expect([kept.length, kept[0]?.length]).toEqual([64, 200]);
  });
});
