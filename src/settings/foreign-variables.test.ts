import { expect, it } from "vitest";
import { foreignVariables } from "./foreign-variables.ts";

it.each([
  ["TERMITE_GPU", "OFF", "set INFERYARD_GPU=off", true],
  ["TERMITE_GPU_MODE", "cuda", "set INFERYARD_GPU=cuda", true],
  ["TERMITE_FORCE_COREML", "1", "set INFERYARD_GPU=coreml", true],
  ["TERMITE_BACKEND_PRIORITY", "onnx:cuda,xla:tpu, go", "set INFERYARD_PRIORITY=onnx:cuda,native", true],
  ["TERMITE_BACKEND_PRIORITY", "xla", "its backend xla is not built", true],
  ["TERMITE_MAX_MEMORY_MB", "512", "set INFERYARD_MAX_MEMORY=512MB", undefined],
  ["GOMLX_BACKEND", "simplego", "set INFERYARD_TARGET=native", true],
  ["GOMLX_BACKEND", "xla:cuda", "INFERYARD_GPU=cuda chooses", true],
  ["GOMLX_BACKEND", "xla", "INFERYARD_GPU=off chooses", true],
  ["ONNXRUNTIME_ROOT", "/opt/onnxruntime", "the backend onnx runs the library of the npm package onnxruntime-node", undefined],
  ["PJRT_PLUGIN_LIBRARY_PATH", "/opt/pjrt", "no backend for PJRT plugins is built", undefined],
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
