/** The bytes of small models that seeds of folders and packages hold. */
import { message, model, node, value } from "../../test/fixtures/models/onnx-bytes.ts";
import { written } from "./mutations/mutate-safetensors.ts";

/** y = Identity(x), float32 of one element. */
export function smallModel(): Uint8Array {
  const identity = node({ operator: "Identity", inputs: ["x"], outputs: ["y"] });
  const graph = [identity, value(11, "x", 1, [1]), value(12, "y", 1, [1])];
  return model({ opsets: { "": 17 }, graph, model: [message(2, "inferyard")] });
}

/** One matrix, as static embeddings have it. */
export function smallWeights(): Uint8Array {
  const header = { embeddings: { dtype: "F32", shape: [4, 2], data_offsets: [0, 32] } };
  return written(Buffer.from(JSON.stringify(header)), new Uint8Array(32));
}
