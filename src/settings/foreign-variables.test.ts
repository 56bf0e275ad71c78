import { expect, it } from "vitest";
import { foreignVariables } from "./foreign-variables.ts";

it.each([
  ["TERMITE_GPU", "OFF", "set INFERYARD_GPU=off", true],
  ["TERMITE_GPU_MODE", "cuda", "set INFERYARD_GPU=cuda", true],
  ["TERMITE_FORCE_COREML", "1", "set INFERYARD_GPU=coreml", true],
  ["TERMITE_BACKEND_PRIORITY", "onnx:cuda,xla:tpu, go", "set INFERYARD_PRIORITY=onnx:cuda,xla:tpu,native", true],
  ["TERMITE_MAX_MEMORY_MB", "512", "set INFERYARD_MAX_MEMORY=512MB", undefined],
  ["GOMLX_BACKEND", "simplego", "set INFERYARD_TARGET=native", true],
  ["GOMLX_BACKEND", "xla:cuda", "set INFERYARD_TARGET=xla:cuda", true],
  ["GOMLX_BACKEND", "xla", "set INFERYARD_TARGET=xla", true],
  ["ONNXRUNTIME_ROOT", "/opt/onnxruntime", "the backend onnx runs the library of the npm package onnxruntime-node", undefined],
])("%s=%s is told with what has its effect here", (name, value, words, isPlacement) => {
  const found = foreignVariables({ [name]: value, PATH: "/bin" });
  expect(found).toEqual([
    { name, note: expect.stringMatching(/^is a variable of /), ...(isPlacement === undefined ? {} : { isPlacement }) },
  ]);
  expect(found[0]?.note).toContain(words);
});

it("one that changes nothing where it is read, or is empty, is not told", () => {
  expect(foreignVariables({ TERMITE_GPU: "auto", TERMITE_FORCE_COREML: "0", GOMLX_BACKEND: " ", ONNXRUNTIME_ROOT: "" })).toEqual(
    [],
  );
});
