/** Names that families of models give the same number in config.json, the usual one first. */
export const configNames: Readonly<Record<"context" | "layers" | "heads" | "width" | "inner", readonly string[]>> = {
  /** Maximum number of tokens of a sequence. */
  context: [
    "max_position_embeddings",
    "n_positions",
    "n_ctx",
    "max_seq_len",
    "seq_length",
    "max_sequence_length",
    "max_target_positions",
  ],
  layers: ["num_hidden_layers", "n_layer"],
  heads: ["num_attention_heads", "n_head"],
  /** Elements of a hidden state. */
  width: ["hidden_size", "n_embd", "d_model"],
  /** Elements between the two matrices of a feed-forward block. */
  inner: ["intermediate_size", "n_inner"],
};
