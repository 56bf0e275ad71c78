/**
 * The contract of bitnet.cpp as a library: the C entries that BitNet-rs calls. No release of BitNet exports them, so that neither their
 * signatures nor the layouts of what they take can be proved.
 */
import { type LibraryContract, toNames } from "./contract.ts";

export const bitnetContract: LibraryContract = {
  name: "bitnet",
  title: "bitnet.cpp",
  classes: ["bitnet"],
  required: toNames("bitnet_model_new_from_file bitnet_context_new bitnet_tokenize bitnet_eval bitnet_decode_greedy"),
  optional: {
    bitnet_model_free: "freeing a model",
    bitnet_context_free: "freeing a context",
  },
  abi: "not provable: no released header states its structs",
};
