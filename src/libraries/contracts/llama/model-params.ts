/**
 * Layouts of `llama_model_params`, which `llama_model_load_from_file` takes by value. Source: include/llama.h and `llama_model_default_params` of the
 * releases of llama.cpp that node-llama-cpp and llama-cpp-py-sync contain. Enumerations are int32.
 */
import { type FieldRow, type KnownLayout, layoutHistory } from "../known-layout.ts";

const devices: FieldRow = ["devices", "pointer", 0n];
const rpcServers: FieldRow = ["rpc_servers", "pointer", 0n];

const first: readonly FieldRow[] = [
  // -1: all layers. Builds for GPUs had 999.
  ["n_gpu_layers", "int32", 0, 999, -1],
  ["split_mode", "int32", 1],
  ["main_gpu", "int32", 0],
  ["tensor_split", "pointer", 0n],
  rpcServers,
  ["progress_callback", "pointer", 0n],
  ["progress_callback_user_data", "pointer", 0n],
  ["kv_overrides", "pointer", 0n],
  ["vocab_only", "bool", false],
  ["use_mmap", "bool", true],
  ["use_mlock", "bool", false],
  ["check_tensors", "bool", false],
];

export const modelParams: readonly KnownLayout[] = [
  ...layoutHistory("llama_model_params", "b3889", first, []),
  ...layoutHistory(
    "llama_model_params",
    "b4234",
    [devices, ...first],
    [
      { release: "b4600", remove: ["rpc_servers"] },
      { release: "b5415", insert: { devices: [["tensor_buft_overrides", "pointer", 0n]] } },
      { release: "b6133", insert: { check_tensors: [["use_extra_bufts", "bool", true]] } },
      { release: "b7347", insert: { use_extra_bufts: [["no_host", "bool", false]] } },
      {
        release: "b7769",
        insert: { use_mmap: [["use_direct_io", "bool", false, true]], no_host: [["no_alloc", "bool", false]] },
      },
      {
        release: "b10603",
        remove: ["use_mmap", "use_direct_io", "use_mlock"],
        insert: { split_mode: [["load_mode", "int32", -1]], no_alloc: [["load_mtp", "bool", false]] },
      },
      { release: "b11227", insert: { load_mode: [["lazy_mode", "int32", 1]] } },
    ],
  ),
];
