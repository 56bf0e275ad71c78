// Writes a linear head as Inferyard reads it from disk: config.json names the architecture, model.safetensors holds the numbers.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** `weight` holds `outputs` rows of `features` numbers. Returns the path of the weights. */
export async function makeHead(folder, weight, bias) {
  const [outputs, features] = [bias.length, weight.length / bias.length];
  const header = JSON.stringify({
    weight: { dtype: "F32", shape: [outputs, features], data_offsets: [0, 4 * weight.length] },
    bias: { dtype: "F32", shape: [outputs], data_offsets: [4 * weight.length, 4 * (weight.length + outputs)] },
  });
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  const data = Buffer.from(Float32Array.from([...weight, ...bias]).buffer);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "config.json"), JSON.stringify({ architectures: ["LinearHead"] }));
  await writeFile(join(folder, "model.safetensors"), Buffer.concat([length, Buffer.from(header), data]));
  return join(folder, "model.safetensors");
}
