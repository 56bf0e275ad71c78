/** The contract of ggml: its type table (ggml.h) and, of builds that are loaded by their own name, the entry of a backend (ggml-backend-impl.h). */
import { type StructLayout, layOut } from "../ffi/struct-layout.ts";
import type { LibraryContract } from "./contract.ts";

export const ggmlContract: LibraryContract = {
  name: "ggml",
  title: "ggml",
  classes: ["ggml", "ggml-base", "ggml-cpu", "ggml-cuda", "ggml-vulkan", "ggml-metal"],
  required: [["ggml_get_type_traits"]],
  optional: {
    ggml_get_type_traits_cpu: "products of quantized rows",
    ggml_quantize_chunk: "quantization",
    ggml_backend_init: "a backend that ggml loads from a file",
    ggml_backend_score: "whether this processor has its instructions",
    ggml_version: "its release",
    ggml_commit: "its commit",
  },
  abi: "block sizes and bytes of the types of tensors",
};

/** `ggml_type_traits` since `ggml_get_type_traits` returns it by address (November 2024). Later releases have the same fields up to `is_quantized`. */
export const typeTraits: StructLayout = layOut("ggml_type_traits", [
  ["type_name", "pointer"],
  ["blck_size", "int64"],
  ["blck_size_interleave", "int64"],
  ["type_size", "uint64"],
  ["is_quantized", "bool"],
  ["to_float", "pointer"],
  ["from_float_ref", "pointer"],
]);
