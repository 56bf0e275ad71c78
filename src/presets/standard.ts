/** The default list of backends. */
import type { Backend } from "../backend.ts";
import { llamacpp } from "../backends/llamacpp/index.ts";
import { native } from "../backends/native/index.ts";
import { onnx } from "../backends/onnx/index.ts";
import { wasm } from "../backends/wasm/index.ts";

/** New instances of the backends that a runtime has by default, in order of preference: onnx, llamacpp, native, wasm. */
export function standardBackends(): Backend[] {
  return [onnx(), llamacpp(), native(), wasm()];
}
