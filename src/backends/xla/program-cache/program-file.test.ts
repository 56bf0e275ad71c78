import { expect, it } from "vitest";
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

it("a program's file gives back what was written, and is refused with a description that is none", () => {
  const file = encodeProgram({ key, description, executable });
  expect(decodeProgram(file, key)).toEqual({ key, description, executable });
  for (const other of [{}, { ...description, milliseconds: "1" }, { ...description, model: 3 }, { ...description, inputs: [1] }])
    expect(decodeProgram(encodeProgram({ key, description: other as never, executable }), key)).toBeUndefined();
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
