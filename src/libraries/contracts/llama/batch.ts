/** Layouts of `llama_batch`, which `llama_decode` takes by value, as `llama_batch_init` fills it for token ids. Source: include/llama.h. */
import { type FieldRow, type KnownLayout, knownLayout } from "../known-layout.ts";

const rows: readonly FieldRow[] = [
  ["n_tokens", "int32", 0],
  ["token", "pointer", "address"],
  ["embd", "pointer", 0n],
  ["pos", "pointer", "address"],
  ["n_seq_id", "pointer", "address"],
  ["seq_id", "pointer", "address"],
  ["logits", "pointer", "address"],
];

export const batch: readonly KnownLayout[] = [
  knownLayout("llama_batch", "b3889", [
    ...rows,
    ["all_pos_0", "int32", 0],
    ["all_pos_1", "int32", 0],
    ["all_seq_id", "int32", 0],
  ]),
  knownLayout("llama_batch", "b4234", rows),
];
