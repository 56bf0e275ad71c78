/** The default list of backends. */
import type { Backend } from "../backend.ts";
import { native } from "../backends/native/index.ts";
import { onnx } from "../backends/onnx/index.ts";
import { wasm } from "../backends/wasm/index.ts";

/** New instances of the backends that a runtime has by default, in order of preference: onnx, native, wasm. */
export function standardBackends(): Backend[] {
  return [onnx(), native(), wasm()];
}
