/** Sound to characters (CTC): the logits of every frame of a recording, and the highest of each. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { ids, parse, tensor } from "../encoded.ts";
import { rowOf } from "../encoder-rows.ts";
import { type Format, outputOf } from "../format.ts";
import { samplesOf } from "../recording.ts";
import { tolerances } from "../tolerances.ts";

const schema = z.object({
  audio: z.string(),
  input_values_first_256: tensor,
  logits: tensor,
  argmax_ids: ids,
});

export const ctc: Format = {
  name: "ctc-goldens-v1",
  read(goldens) {
    const { audio, logits: golden, argmax_ids: wanted, input_values_first_256: first } = parse(schema, goldens);
    return {
      async compare({ model, folder }, checks) {
        const samples = unitVariance(samplesOf(await readFile(join(folder, audio))));
        checks.close(tolerances.sound, audio, samples.subarray(0, first.data.length), first.data);
        const input = { dataType: "float32", shape: [1, samples.length], data: samples } as const;
        const own = rowOf(outputOf(await model.run({ input_values: input }), "logits"), 0);
        checks.close(tolerances.logits, audio, own, golden.data);
        const [, size = 1] = golden.shape;
        const highest = wanted.map((_id, frame) => {
          const values = own.subarray(frame * size, (frame + 1) * size);
          return values.indexOf(values.reduce((one, other) => Math.max(one, other), Number.NEGATIVE_INFINITY));
        });
        checks.equal("highest ids", audio, highest, wanted);
      },
    };
  },
};

/** (x - mean) / sqrt(variance + 1e-7), as Wav2Vec2FeatureExtractor does. */
function unitVariance(samples: Float32Array): Float32Array {
  const mean = samples.reduce((sum, value) => sum + value, 0) / samples.length;
  const variance = samples.reduce((sum, value) => sum + (value - mean) ** 2, 0) / samples.length;
  return samples.map((value) => (value - mean) / Math.sqrt(variance + 1e-7));
}
