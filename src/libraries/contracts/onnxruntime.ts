/** The contract of ONNX Runtime: one exported function, `OrtGetApiBase`, whose struct gives a table of functions for each version of the API. */
import { type StructLayout, layOut } from "../ffi/index.ts";
import type { LibraryContract } from "./contract.ts";

export const onnxruntimeContract: LibraryContract = {
  name: "onnxruntime",
  title: "ONNX Runtime",
  classes: ["onnxruntime"],
  required: [["OrtGetApiBase"]],
  optional: {
    OrtSessionOptionsAppendExecutionProvider_CPU: "the CPU provider by its C entry",
  },
  abi: "versions of the API that GetApi answers",
};

/** `OrtApiBase` of onnxruntime_c_api.h, which has not changed since 1.0. */
export const apiBase: StructLayout = layOut("OrtApiBase", [
  ["GetApi", "pointer"],
  ["GetVersionString", "pointer"],
]);
