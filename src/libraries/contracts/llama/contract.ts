/** The contract of llama.cpp: functions of include/llama.h, under the names of several releases, and the layouts of its structs. */
import { type LibraryContract, toNames } from "../contract.ts";
import type { KnownLayout } from "../known-layout.ts";
import { batch } from "./batch.ts";
import { contextParams } from "./context-params.ts";
import { modelParams } from "./model-params.ts";

/** The structs of one llama library that are passed by value. */
export interface LlamaLayout {
  readonly modelParams: KnownLayout;
  readonly contextParams: KnownLayout;
  readonly batch: KnownLayout;
}

/** Released layouts of each struct, oldest first. Structs change in different releases, so that each is proved alone. */
export const llamaLayouts: Readonly<Record<keyof LlamaLayout, readonly KnownLayout[]>> = { modelParams, contextParams, batch };

export const llamaContract: LibraryContract = {
  name: "llama",
  title: "llama.cpp",
  classes: ["llama"],
  required: toNames(
    "llama_backend_init llama_backend_free llama_model_default_params llama_context_default_params",
    "llama_model_load_from_file|llama_load_model_from_file llama_model_free|llama_free_model",
    "llama_init_from_model|llama_new_context_with_model llama_free llama_batch_init llama_batch_free llama_decode",
    "llama_get_logits_ith llama_set_n_threads llama_memory_seq_cp|llama_kv_self_seq_cp|llama_kv_cache_seq_cp",
    "llama_memory_seq_rm|llama_kv_self_seq_rm|llama_kv_cache_seq_rm llama_state_seq_get_size llama_state_seq_get_data",
    "llama_state_seq_set_data llama_vocab_n_tokens|llama_n_vocab llama_model_n_ctx_train|llama_n_ctx_train",
    "llama_model_has_encoder llama_model_size llama_tokenize llama_supports_gpu_offload llama_log_set",
  ),
  optional: {
    llama_model_get_vocab: "vocabularies apart from models",
    llama_get_memory: "caches apart from contexts",
    llama_set_abort_callback: "ending a computation",
    llama_get_embeddings_seq: "embeddings of sequences",
    llama_version: "its release",
    ggml_version: "the release of ggml",
    ggml_commit: "the commit of ggml",
    ggml_backend_load_all_from_path: "builds of ggml for several processors",
    ggml_backend_dev_count: "devices by name",
  },
  abi: "layouts of structs that are passed by value",
};
