/** The contract of PJRT plugins: one exported function, `GetPjrtApi`, whose struct states its own size and version (pjrt_c_api.h). */
import { type StructLayout, layOut } from "../ffi/index.ts";
import type { LibraryContract } from "./contract.ts";

export const pjrtContract: LibraryContract = {
  name: "pjrt",
  title: "PJRT plugin",
  classes: ["pjrt-cpu", "pjrt-cuda", "pjrt-tpu", "pjrt"],
  required: [["GetPjrtApi"]],
  optional: {},
  abi: "sizes and version that PJRT_Api states",
};

/** The begin of `PJRT_Api`: its size, extensions, and `PJRT_Api_Version`, itself a struct with a size. */
export const pjrtApi: StructLayout = layOut("PJRT_Api", [
  ["struct_size", "uint64"],
  ["extension_start", "pointer"],
  ["version_struct_size", "uint64"],
  ["version_extension_start", "pointer"],
  ["major_version", "int32"],
  ["minor_version", "int32"],
]);
