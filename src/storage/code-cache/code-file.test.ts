import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type CodeFormat, type StoredCode, decodeCode, encodeCode, readDescription } from "./code-file.ts";

interface Description {
  readonly model: string;
  readonly milliseconds: number;
}

const format: CodeFormat<Description> = {
  magic: "IYTESTED",
  version: 1,
  extension: "program",
  parseDescription(value) {
    const { model, milliseconds } = value as Partial<Record<keyof Description, unknown>>;
    return typeof model === "string" && typeof milliseconds === "number" ? { model, milliseconds } : undefined;
  },
};
const encode = (code: StoredCode<Description>): Uint8Array => encodeCode(format, code);
const decode = (bytes: Uint8Array, wanted: string): StoredCode<Description> | undefined => decodeCode(format, bytes, wanted);

const key = "0123456789abcdef".repeat(4);
const description: Description = { model: "/models/m/model.onnx", milliseconds: 12 };
const executable = Uint8Array.from({ length: 300 }, (_, index) => (index * 7) % 256);
const file = encode({ key, description, executable });

describe("a file of compiled code", () => {
  it("gives back what was written", () => {
    expect(decode(file, key)).toEqual({ key, description, executable });
    expect(readDescription(format, file)).toEqual(description);
    // Of a larger buffer a part.
    const larger = new Uint8Array(file.length + 20);
    larger.set(file, 10);
    expect(decode(larger.subarray(10, 10 + file.length), key)?.executable).toEqual(executable);
  });

  it("is refused with any bit changed", () => {
    for (let byte = 0; byte < file.length; byte += 1) {
      const changed = Uint8Array.from(file);
      changed[byte]! ^= 1 << (byte % 8);
      expect(decode(changed, key), `byte ${byte}`).toBeUndefined();
    }
  });

  it("is refused at any other length, and where it has another key", () => {
    for (let length = 0; length < file.length; length += 1)
      expect(decode(file.subarray(0, length), key), `${length} bytes`).toBeUndefined();
    expect(decode(Uint8Array.from([...file, 0]), key)).toBeUndefined();
    expect(decode(file, key.replace("0", "f"))).toBeUndefined();
  });

  it("is refused without an executable, and with a description that is none", () => {
    expect(decode(encode({ key, description, executable: new Uint8Array() }), key)).toBeUndefined();
    for (const other of [{}, { ...description, milliseconds: "1" }, { ...description, model: 3 }]) {
      const bytes = encode({ key, description: other as never, executable });
      expect(decode(bytes, key)).toBeUndefined();
      expect(readDescription(format, bytes)).toBeUndefined();
    }
  });

  it("is refused with another magic or version", () => {
    expect(decodeCode({ ...format, magic: "IYXLAEXE" }, file, key)).toBeUndefined();
    expect(decodeCode({ ...format, version: 2 }, file, key)).toBeUndefined();
  });

  it("is never read wrongly, and never throws", () => {
    const position = fc.integer({ min: 0, max: file.length - 1 });
    const isReadRightly = (at: number, cut: number, bytes: Uint8Array): boolean => {
      const changed = Uint8Array.from([...file.subarray(0, at), ...bytes, ...file.subarray(cut)]);
      readDescription(format, changed);
      return decode(changed, key) === undefined || Buffer.compare(changed, file) === 0;
    };
    expect(() => fc.assert(fc.property(position, position, fc.uint8Array({ maxLength: 64 }), isReadRightly))).not.toThrow();
  });
});
