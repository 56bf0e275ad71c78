/** ONNX files: the outline that `inspect` and the readers of manifests use. */
import { fileCodes, inspecting } from "../inspected-file.ts";
import { mutateOnnx } from "../mutations/mutate-protobuf.ts";
import { sharedInputs } from "../shared-seeds.ts";
import type { FuzzTarget } from "../target.ts";

export const onnxInspection: FuzzTarget = {
  codes: fileCodes,
  seeds: () => sharedInputs("model.onnx", 1024),
  mutate: mutateOnnx,
  maxBytes: 16_384,
  dictionary: ["", "x", "ai.onnx.ml", "com.microsoft", "location", "offset", "length", "../a", "model.onnx"],
  open: async () => inspecting("model.onnx"),
};
