/** Language models in GGUF files of several types: their weights, their tokens, what they say of a prompt, and greedy decoding. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { ModelHandle } from "inferyard";
import { z } from "zod";
import { decodeTensor } from "../../../src/formats/gguf/blocks/index.ts";
import { readGguf } from "../../../src/formats/gguf/read-gguf.ts";
import { ids, parse, shown, tensor } from "../encoded.ts";
import type { Comparison, Format } from "../format.ts";
import { checkProbes, checkTokens, probes } from "../token-checks.ts";
import { tolerances } from "../tolerances.ts";

const schema = z.object({
  tokenizer_probes: probes,
  files: z
    .array(
      z.object({
        file: z.string(),
        type: z.string(),
        tensors: z.record(z.string(), z.object({ dequantized_sha256: z.string() })),
        items: z
          .array(
            z.object({ text: z.string(), input_ids: ids, greedy_12: ids, greedy_margin: z.number(), last_token_logits: tensor }),
          )
          .min(1),
      }),
    )
    .min(1),
});

/** Weights that engines compute with as they are; of other types activations are rounded as well, and only the direction of logits is compared. */
const byType = new Map([
  ["F32", tolerances.logits],
  ["F16", tolerances.halfLogits],
]);

export const ggufLlama: Format = {
  name: "gguf-llama-goldens-v1",
  read(goldens): Comparison {
    const { files, tokenizer_probes: given } = parse(schema, goldens);
    return {
      languageFiles: files.map(({ file }) => file),
      targets: ["llamacpp:cpu", "native:cpu"],
      async compare({ runtime, graphs, folder }, checks) {
        for (const [at, { file, type, tensors, items }] of files.entries()) {
          const model = graphs[at];
          if (model === undefined) throw new Error(`${file} was not loaded`);
          const bytes = await readFile(join(folder, file));
          const stored = await readGguf(join(folder, file), file);
          for (const [name, { dequantized_sha256: golden }] of Object.entries(tensors)) {
            const found = stored.tensors.find((each) => each.name === name);
            const values =
              found && decodeTensor(found.type, bytes.subarray(found.start, found.start + found.bytes), found.elements);
            checks.equal("decoded tensors", `${name} in ${file}`, values && sha256(values), golden);
          }
          const tokenizer = await runtime.tokenizer(model);
          checkTokens(checks, tokenizer, items);
          checkProbes(checks, tokenizer, given);
          // llama.cpp rounds activations to the type of weights in half precision too.
          const tolerance = type === "F16" && model.target.startsWith("llamacpp") ? undefined : byType.get(type);
          for (const [index, item] of items.entries()) {
            const place = `${shown(index, item.text)} of ${file}`;
            const { logits, tokens } = await decode(model, item.input_ids, item.greedy_12.length);
            const golden = item.last_token_logits.data;
            if (tolerance === undefined) checks.close(tolerances.direction, place, [cosine(logits, golden)], [1]);
            else checks.close(tolerance, place, logits, golden);
            // Where the two highest logits are closer than rounding moves them, either may come first.
            if (item.greedy_margin > 2 * (tolerance?.most ?? Number.POSITIVE_INFINITY))
              checks.equal("generated ids", place, tokens, item.greedy_12);
          }
        }
      },
    };
  },
};

/** The logits behind a prompt, and the tokens that follow it when the highest is always taken. */
async function decode(
  { language }: ModelHandle,
  prompt: readonly number[],
  count: number,
): Promise<{ readonly logits: Float32Array; readonly tokens: readonly number[] }> {
  if (language === undefined) throw new Error("the model was not loaded as a language model");
  const sequence = await language.createSequence();
  try {
    const [logits = new Float32Array()] = await language.decode([{ sequence, tokens: prompt }]);
    const tokens: number[] = [];
    let last = logits;
    for (let step = 0; step < count; step += 1) {
      const token = last.indexOf(Math.max(...last));
      tokens.push(token);
      [last = new Float32Array()] = await language.decode([{ sequence, tokens: [token] }]);
    }
    return { logits, tokens };
  } finally {
    await language.releaseSequence(sequence);
  }
}

/** SHA-256 of the values as little-endian floats. */
export function sha256(values: Float32Array): string {
  return createHash("sha256")
    .update(new Uint8Array(values.buffer, values.byteOffset, values.byteLength))
    .digest("hex");
}

function cosine(left: Float32Array, right: Float32Array): number {
  const dot = (a: Float32Array, b: Float32Array): number => a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0);
  return dot(left, right) / Math.sqrt(dot(left, left) * dot(right, right));
}
