/** The backends a runtime has when it is given none. */
import type { Backend } from "../backend.ts";
import { native } from "../backends/native/index.ts";
import { onnx } from "../backends/onnx/index.ts";
import { wasm } from "../backends/wasm/index.ts";

export function standardBackends(): Backend[] {
  return [onnx(), native(), wasm()];
}
