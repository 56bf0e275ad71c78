/** GGUF headers: read and inspected. */
import { fileCodes, inspecting } from "../inspected-file.ts";
import { mutateGguf, shortened } from "../mutations/mutate-gguf.ts";
import { sharedInputs } from "../shared-seeds.ts";
import type { FuzzTarget } from "../target.ts";

export const gguf: FuzzTarget = {
  codes: fileCodes,
  seeds: () => sharedInputs(".gguf", 800_000).map(shortened),
  mutate: mutateGguf,
  dictionary: [
    "general.architecture",
    "general.alignment",
    "general.file_type",
    "general.name",
    "general.quantization_version",
    "llama",
    "bert",
    "llama.context_length",
    "llama.block_count",
    "llama.embedding_length",
    "llama.attention.head_count",
    "llama.attention.head_count_kv",
    "llama.attention.key_length",
    "tokenizer.ggml.model",
    "tokenizer.ggml.tokens",
    "split.count",
    "token_embd.weight",
    "blk.0.attn_q.weight",
    "output.weight",
  ],
  open: async () => inspecting("model.gguf"),
};
