/** The devices that ggml reports, by `ggml_backend_dev_*` of ggml-backend.h. */
import type { NativeLibrary } from "../../libraries/ffi/index.ts";

/** A device of ggml. */
export interface ComputeDevice {
  /** "CPU", "CUDA0", ... */
  readonly name: string;
  readonly description: string;
  /** `ggml_backend_dev_t`. */
  readonly address: bigint;
}

/** All devices that the library has loaded. Empty for releases without the functions. */
export function computeDevices(library: NativeLibrary): readonly ComputeDevice[] {
  if (!library.has("ggml_backend_dev_count")) return [];
  const text = { result: "string", parameters: ["pointer"] } as const;
  const count = library.bind("ggml_backend_dev_count", { result: "size", parameters: [] })();
  const get = library.bind("ggml_backend_dev_get", { result: "pointer", parameters: ["size"] });
  const name = library.bind("ggml_backend_dev_name", text);
  const description = library.bind("ggml_backend_dev_description", text);
  return Array.from({ length: count }, (_, index): ComputeDevice => {
    const address = get(index);
    return { name: name(address) ?? "", description: (description(address) ?? "").trim(), address };
  });
}
