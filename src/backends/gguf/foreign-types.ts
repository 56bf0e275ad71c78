/** Types of weights that llama.cpp does not have. */
import { InferyardError } from "../../contract/errors.ts";
import { isBitnetType } from "../../formats/gguf/ggml-types.ts";
import type { GgufModel } from "../../formats/gguf/models/read-model.ts";

/** Throws MODEL_UNSUPPORTED if a tensor is of a type of BitNet's fork of llama.cpp. */
export function refuseForeignTypes({ tensors }: Pick<GgufModel, "tensors">): void {
  const foreign = [...tensors.values()].find(({ type }) => isBitnetType(type));
  if (foreign === undefined) return;
  throw new InferyardError(
    "MODEL_UNSUPPORTED",
    `the tensor "${foreign.name}" is of the type ${foreign.type} of BitNet's fork, which llama.cpp does not have`,
    { remedy: "ask for native:cpu, which reads I2_S, TL1 and TL2", data: { tensor: foreign.name, type: foreign.type } },
  );
}
