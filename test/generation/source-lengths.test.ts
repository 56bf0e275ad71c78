/** Encoder-decoder exports that name the length of the source and of the cache over it alike, as Optimum does since 2.0: an empty cache does not fit them. */
import { checkInputs, type TensorInfo, type TensorModel } from "inferyard/backend";
import { onnx } from "inferyard/backends/onnx";
import { describe, expect, it } from "vitest";
import { TensorLanguageModel } from "../../src/backends/sequences/tensor-language-model.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";

const [skip, title] = needsData("caches over a source");
const source = "encoder_sequence_length";

describe.skipIf(skip)(title, () => {
  it.each(["tiny-random-t5", "tiny-random-bart"])("%s: have the length of the source from the first run on", async (name) => {
    const folder = `${sharedData}${name}/onnx`;
    const load = async (file: string): Promise<TensorModel> =>
      onnx().load({ path: `${folder}/${file}`, format: "onnx", bytes: 1, config: {} }, { type: "cpu", index: 0 }, {});
    const decoder = await load("decoder_model_merged.onnx");
    const renamed = decoder.inputs.map(({ shape, ...info }): TensorInfo => ({
      ...info,
      shape: shape.map((size) => (typeof size === "string" && size.startsWith("encoder_sequence") ? source : size)),
    }));
    expect(renamed.filter(({ shape }) => shape.includes(source)).length).toBeGreaterThan(2);
    const strict: TensorModel = Object.assign(Object.create(decoder) as TensorModel, {
      inputs: renamed,
      run: async (...[inputs, options]: Parameters<TensorModel["run"]>) => {
        checkInputs(renamed, inputs);
        return decoder.run(inputs, options);
      },
      evidence: () => decoder.evidence(),
      dispose: () => decoder.dispose(),
    });
    const answers = async (part: TensorModel): Promise<readonly Float32Array[]> => {
      const model = new TensorLanguageModel({ decoder: part, encoder: await load("encoder_model.onnx") });
      const sequences = await Promise.all(
        [
          [5, 9, 7],
          [12, 3],
          [30, 31, 32],
        ].map((tokens) => model.createSequence({ source: tokens })),
      );
      const first = await model.decode(sequences.map((sequence) => ({ sequence, tokens: [0] })));
      const fork = await model.forkSequence(sequences[0]!);
      const next = await model.decode([...sequences, fork].map((sequence) => ({ sequence, tokens: [4, 8] })));
      return [...first, ...next];
    };
    expect(await answers(strict)).toEqual(await answers(decoder));
    await decoder.dispose();
  });
});
