/** Encoder-decoder models from safetensors on the own engine: the conformance suite, with answers of transformers (scripts/goldens/transformers/encoder-decoder-goldens.py). */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { native } from "inferyard/backends/native";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { LanguageModelFiles } from "inferyard/backend";
import type { Tensor } from "../../src/contract/tensor.ts";
import { writeSafetensors } from "../../src/formats/safetensors/write-safetensors.ts";
import { languageCasesOnOneModel } from "../fixtures/cases-on-one-model.ts";

interface Case {
  readonly architecture: string;
  readonly config: Readonly<Record<string, number | string | boolean>>;
  readonly shapes: Readonly<Record<string, readonly number[]>>;
  readonly samples: readonly {
    readonly source: readonly number[];
    readonly prompt: readonly number[];
    readonly continuation: readonly number[];
    readonly logits: readonly number[];
  }[];
}

const { cases } = JSON.parse(readFileSync(new URL("fixtures/encoder-decoder-goldens.json", import.meta.url), "utf8")) as {
  readonly cases: readonly Case[];
};
const folder = mkdtempSync(join(tmpdir(), "inferyard-encoder-decoders-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The weights that the script makes, by its formula. */
function weightsOf({ shapes }: Case): Record<string, Tensor> {
  let state = 1;
  const tensors = Object.keys(shapes)
    .toSorted()
    .map((name): [string, Tensor] => {
      const shape = shapes[name]!;
      const count = shape.reduce((product, size) => product * size, 1);
      const data = Float32Array.from({ length: count }, () => {
        state = (state * 16_807) % 2_147_483_647;
        return ((state % 129) - 64) / (name.endsWith("bias") ? 1024 : 48);
      });
      return [name, { dataType: "float32", shape, data }];
    });
  return Object.fromEntries(tensors);
}

describe.each(cases.map((each, index) => [`${each.architecture} ${index}`, each] as const))("%s", (name, each) => {
  const path = join(folder, `${name}.safetensors`);
  beforeAll(async () => {
    await writeSafetensors(path, weightsOf(each), {});
  });
  const { architecture, config, samples } = each;
  const model: LanguageModelFiles = { path, format: "safetensors", bytes: 1, architecture, config };
  const subject = {
    create: native,
    device: { type: "cpu", index: 0 },
    model,
    samples: samples.map((sample) => ({ ...sample, logits: Float32Array.from(sample.logits) })),
    tolerance: 2e-4,
  };
  for (const { name: promise, run } of languageCasesOnOneModel(subject))
    it(promise, async () => expect(await run()).toBeUndefined());
});
