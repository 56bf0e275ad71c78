/** The default list of backends. */
import type { Backend } from "../../contract/backend.ts";
import { library } from "../../backends/library/index.ts";
import { llamacpp } from "../../backends/llamacpp/index.ts";
import { native } from "../../backends/native/index.ts";
import { onnx } from "../../backends/onnx/index.ts";
import { wasm } from "../../backends/wasm/index.ts";
import { type XlaSettings, xla } from "../../backends/xla/index.ts";

/** Options of the standard backends. */
export interface StandardBackendOptions {
  /** Path of the native library of the backend `library`: see `RuntimeConfig.library`. */
  readonly library?: string;
  /** Settings of the backend `xla`. */
  readonly xla?: XlaSettings;
}

/** New instances of the backends that a runtime has by default, in order of preference: onnx, xla, llamacpp, native, wasm, library. */
export function standardBackends({ xla: xlaSettings, ...options }: StandardBackendOptions = {}): Backend[] {
  return [onnx(), xla(xlaSettings), llamacpp(), native(), wasm(), library(options)];
}
