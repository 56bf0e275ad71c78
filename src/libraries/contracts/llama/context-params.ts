/**
 * Layouts of `llama_context_params`, which `llama_init_from_model` takes by value. Source: include/llama.h and `llama_context_default_params` of the
 * releases of llama.cpp that node-llama-cpp and llama-cpp-py-sync contain. Enumerations are int32.
 */
import { type FieldRow, type KnownLayout, layoutHistory } from "../known-layout.ts";

const sizes: readonly FieldRow[] = [
  ["n_ctx", "uint32", 512],
  ["n_batch", "uint32", 2048, 512],
  ["n_ubatch", "uint32", 512],
  ["n_seq_max", "uint32", 1],
  ["n_threads", "int32", 4],
  ["n_threads_batch", "int32", 4],
  ["rope_scaling_type", "int32", -1],
  ["pooling_type", "int32", -1],
  ["attention_type", "int32", -1],
  ["rope_freq_base", "float32", 0],
  ["rope_freq_scale", "float32", 0],
  // YaRN, Peng et al. 2023. -1: what the model says.
  ["yarn_ext_factor", "float32", -1],
  ["yarn_attn_factor", "float32", 1, -1],
  ["yarn_beta_fast", "float32", 32, -1],
  ["yarn_beta_slow", "float32", 1, -1],
  ["yarn_orig_ctx", "uint32", 0],
  ["defrag_thold", "float32", -1],
  ["cb_eval", "pointer", 0n],
  ["cb_eval_user_data", "pointer", 0n],
  // ggml_type; 1 is float16.
  ["type_k", "int32", 1],
  ["type_v", "int32", 1],
];

const abort: readonly FieldRow[] = [
  ["abort_callback", "pointer", 0n],
  ["abort_callback_data", "pointer", 0n],
];

const flags: readonly FieldRow[] = [
  ["embeddings", "bool", false],
  ["offload_kqv", "bool", true],
  ["flash_attn", "bool", false],
  ["no_perf", "bool", true],
];

export const contextParams: readonly KnownLayout[] = [
  ...layoutHistory("llama_context_params", "b3889", [...sizes, ["logits_all", "bool", false], ...flags, ...abort], []),
  ...layoutHistory(
    "llama_context_params",
    "b5415",
    [...sizes, ...abort, ...flags, ["op_offload", "bool", true]],
    [
      { release: "b5640", insert: { op_offload: [["swa_full", "bool", true]] } },
      { release: "b6133", insert: { swa_full: [["kv_unified", "bool", false]] } },
      { release: "b6673", remove: ["flash_attn"], insert: { attention_type: [["flash_attn_type", "int32", -1]] } },
      {
        release: "b7769",
        insert: {
          kv_unified: [
            ["samplers", "pointer", 0n],
            ["n_samplers", "uint64", 0n],
          ],
        },
      },
      {
        release: "b9445",
        insert: { n_seq_max: [["n_rs_seq", "uint32", 0]], n_threads_batch: [["ctx_type", "int32", 0]] },
      },
      {
        release: "b10068",
        insert: { n_rs_seq: [["n_outputs_max", "uint32", 0]], n_samplers: [["ctx_other", "pointer", 0n]] },
      },
      { release: "b10603", insert: { n_outputs_max: [["n_outputs_max_per_seq", "uint32", 1]] } },
      { release: "b11739", insert: { type_v: [["moe_cache_size", "uint64", 0n]] } },
    ],
  ),
];
