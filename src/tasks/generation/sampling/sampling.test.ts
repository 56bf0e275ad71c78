import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { BeamSearch } from "./beam-search.ts";
import { exponential } from "./exponential.ts";
import { filterLogits } from "./filters.ts";
import { readGenerationConfig } from "./generation-config.ts";
import { choiceLogprobs } from "./log-probabilities.ts";
import { createLogitsProcessors } from "./logits-processors.ts";
import { Random, splitMix64 } from "./random.ts";
import { type GenerationSettings, resolveSettings } from "./resolve-settings.ts";
import type { SamplingSettings } from "./sampling-settings.ts";
import { TokenSampler, processLogits } from "./token-sampler.ts";

type Numbers = readonly (number | null)[];
type Fields = Readonly<Record<string, unknown>>;
interface Goldens {
  readonly tables: readonly (readonly Numbers[])[];
  readonly processed: readonly {
    readonly settings: Fields;
    readonly maxLength: number;
    readonly tokens: readonly number[];
    readonly promptLength: number;
    readonly logits: Numbers;
    readonly after: Numbers;
  }[];
  readonly beams: readonly {
    readonly settings: Fields;
    readonly endTokens: readonly number[];
    readonly seed: number;
    readonly sequences: readonly (readonly number[])[];
    readonly scores: readonly number[];
  }[];
}

/** Written by scripts/goldens/transformers/sampling-goldens.py with transformers 4.57.1. null stands for minus infinity. */
const goldens = JSON.parse(readFileSync(new URL("sampling-goldens.json", import.meta.url), "utf8")) as Goldens;
const floats = (values: Numbers): Float32Array => Float32Array.from(values, (value) => value ?? Number.NEGATIVE_INFINITY);
const vocabulary = 12;

/** The settings of a generation_config.json. */
function settingsOf(fields: Fields): GenerationSettings {
  return resolveSettings({ seed: 1 }, { config: readGenerationConfig(fields), vocabulary });
}

function samplingOf(fields: Fields, maxLength: number): SamplingSettings {
  return { ...settingsOf(fields).sampling, maxLength };
}

describe("logits processors and filters", () => {
  it.each(goldens.processed.map((each) => [`${JSON.stringify(each.settings)} ${each.tokens.join()}`, each] as const))(
    "change logits as transformers does: %s",
    (_name, { settings, maxLength, tokens, promptLength, logits, after }) => {
      const sampling = samplingOf(settings, maxLength);
      const row = floats(logits);
      processLogits(row, { tokens, promptLength, source: [] }, createLogitsProcessors(sampling));
      if (sampling.doSample) filterLogits(row, sampling);
      const wanted = floats(after);
      const isClose = (value: number, id: number): boolean => value === wanted[id] || Math.abs(value - wanted[id]!) < 2e-6;
      expect([...row].filter((value, id) => !isClose(value, id))).toEqual([]);
    },
  );

  it("keep the same tokens of large vocabularies as a plain sort does", () => {
    const random = Random.seeded(3, 0);
    const logits = Float32Array.from({ length: 5000 }, () => random.uniform() * 20 - 10);
    const neutral = { temperature: 1, topK: 0, topP: 1, minP: 0, typicalP: 1 };
    const kept = (settings: object): number[] => {
      const row = logits.slice();
      filterLogits(row, { ...neutral, ...settings });
      return [...row.keys()].filter((id) => row[id] !== Number.NEGATIVE_INFINITY);
    };
    const order = [...logits.keys()].toSorted((left, right) => logits[right]! - logits[left]!);
    const total = logits.reduce((sum, logit) => sum + Math.exp(logit), 0);
    const ascending = (ids: readonly number[]): number[] => ids.toSorted((left, right) => left - right);
    expect(kept({ topK: 40 })).toEqual(ascending(order.slice(0, 40)));
    for (const topP of [0.1, 0.5, 0.9, 0.999]) {
      let reached = 0;
      const count = order.findIndex((id) => (reached += Math.exp(logits[id]!) / total) >= topP) + 1;
      expect(kept({ topP })).toEqual(ascending(order.slice(0, count)));
    }
  });
});

describe("beam search", () => {
  it.each(goldens.beams.map((each) => [`${JSON.stringify(each.settings)} table ${each.seed}`, each] as const))(
    "finds the texts of transformers, with their scores: %s",
    (_name, { settings, endTokens, seed, sequences, scores }) => {
      const resolved = settingsOf({ ...settings, eos_token_id: endTokens });
      const sampling = { ...resolved.sampling, maxLength: 2 + 9 };
      const table = goldens.tables[seed]!.map(floats);
      const search = new BeamSearch(resolved.beams!, sampling, [5, 6], []);
      const logitsOf = (tokens: readonly number[]): Float32Array => {
        const [previous, last] = [table[tokens.at(-2)!]!.toReversed(), table[tokens.at(-1)!]!];
        const place = table[(tokens.length * 7) % vocabulary]!;
        return last.map((value, id) => value + Math.fround(0.5 * previous[id]!) + Math.fround(0.25 * place[id]!));
      };
      let steps = 0;
      while (search.advance(search.running.map(({ tokens }) => logitsOf(tokens))) !== undefined) steps += 1;
      expect(steps).toBeLessThan(10);
      expect(search.finished.map(({ tokens }) => tokens)).toEqual(sequences);
      for (const [index, { score }] of search.finished.entries()) expect(score).toBeCloseTo(scores[index]!, 4);
    },
  );
});

describe("random numbers", () => {
  it("are those of xoshiro128** and SplitMix64", () => {
    const random = new Random([1, 2, 3, 4]);
    const first = [11_520, 0, 5_927_040, 70_819_200, 2_031_721_883, 1_637_235_492, 1_287_239_034, 3_734_860_849];
    expect(first.map(() => random.next())).toEqual(first);
    expect([0, 1, 2].map((index) => splitMix64(1_234_567n, index))).toEqual([
      6_457_827_717_110_365_317n,
      3_203_168_211_198_807_973n,
      9_817_491_932_198_370_423n,
    ]);
  });

  it("draw each token as often as its probability says", () => {
    const logits = Float32Array.of(0, 1, 2, Number.NEGATIVE_INFINITY, 3);
    const sampling = { ...samplingOf({}, 99), doSample: true };
    const sampler = new TokenSampler(sampling, Random.seeded(5, 0));
    const counts = new Map<number, number>();
    const draws = 40_000;
    for (let draw = 0; draw < draws; draw += 1) {
      const token = sampler.choose(logits, { tokens: [0], promptLength: 1, source: [] });
      counts.set(token, (counts.get(token) ?? 0) + 1);
    }
    const total = logits.reduce((sum, logit) => sum + Math.exp(logit), 0);
    for (const [id, logit] of logits.entries()) expect((counts.get(id) ?? 0) / draws).toBeCloseTo(Math.exp(logit) / total, 2);
  });

  it("are the same for a seed and a stream, and others for another one", () => {
    const numbers = (seed: number, stream: number): readonly number[] => {
      const random = Random.seeded(seed, stream);
      return [random.uniform(), random.uniform()];
    };
    expect(numbers(1, 0)).toEqual(numbers(1, 0));
    expect(numbers(1, 0)).not.toEqual(numbers(1, 1));
    expect(numbers(1, 0)).not.toEqual(numbers(2, 0));
  });
});

describe("the exponential function", () => {
  it("is that of the platform within two units in the last place", () => {
    for (let x = -745; x <= 0; x += 0.37)
      expect(Math.abs(exponential(x) - Math.exp(x))).toBeLessThanOrEqual(Math.exp(x) * 5e-16 + 5e-324);
    expect(exponential(0)).toBe(1);
    expect(exponential(Number.NEGATIVE_INFINITY)).toBe(0);
  });
});

describe("log probabilities", () => {
  it("are of the model's own logits, best first", () => {
    const { logprob, top } = choiceLogprobs(Float32Array.of(1, 3, 3, 2), 0, 3);
    const total = Math.log([1, 3, 3, 2].reduce((sum, logit) => sum + Math.exp(logit), 0));
    expect(logprob).toBeCloseTo(1 - total, 10);
    expect(top.map(({ token }) => token)).toEqual([1, 2, 3]);
    expect(top[2]!.logprob).toBeCloseTo(2 - total, 10);
  });
});

describe("the settings of a generation", () => {
  const resolve = (options: object, fields: Fields = {}): GenerationSettings =>
    resolveSettings(options, { config: readGenerationConfig(fields), vocabulary });

  it("are those of the model's files where the request has none", () => {
    const fields = { do_sample: true, temperature: 0.6, top_p: 0.9, top_k: 20, eos_token_id: [1, 2], max_length: 30 };
    expect(resolve({}, fields)).toMatchObject({
      sampling: { doSample: true, temperature: 0.6, topP: 0.9, topK: 20, endTokens: [1, 2] },
      maxLength: 30,
    });
    expect(resolve({ temperature: 0, maxNewTokens: 4 }, fields)).toMatchObject({
      sampling: { doSample: false },
      maxNewTokens: 4,
    });
    expect(resolve({ maxNewTokens: 4 }, fields).maxLength).toBeUndefined();
    expect(resolve({ topP: 0.5 }).sampling).toMatchObject({ doSample: true, topP: 0.5, topK: 0 });
    expect(resolve({}).sampling.doSample).toBe(false);
    expect(resolve({}, { num_beams: 4, early_stopping: true }).beams).toMatchObject({ numBeams: 4, earlyStopping: true });
    expect(resolve({ temperature: 1 }, { num_beams: 4 }).beams).toBeUndefined();
  });

  it("of beam search are refused without beams, unless they are neutral or the model's own", () => {
    const refused = (name: string): unknown =>
      expect.objectContaining({ code: "INPUT_INVALID", message: `${name} has no effect without beams` });
    expect(() => resolve({ lengthPenalty: 2 })).toThrow(refused("lengthPenalty"));
    expect(() => resolve({ earlyStopping: true, temperature: 1 }, { num_beams: 4 })).toThrow(refused("earlyStopping"));
    expect(resolve({ lengthPenalty: 1, earlyStopping: false }).beams).toBeUndefined();
    expect(resolve({}, { length_penalty: 2, early_stopping: true }).beams).toBeUndefined();
    expect(resolve({ lengthPenalty: 2 }, { num_beams: 4 }).beams).toMatchObject({ lengthPenalty: 2 });
  });

  it("refuse what generation_config.json asks for and is not computed, and wrong values", () => {
    const codeOf = (fields: Fields): string => {
      try {
        readGenerationConfig(fields);
        return "read";
      } catch (error) {
        return (error as { code: string }).code;
      }
    };
    expect(codeOf({ penalty_alpha: 0.6 })).toBe("MODEL_UNSUPPORTED");
    expect(codeOf({ num_beam_groups: 2 })).toBe("MODEL_UNSUPPORTED");
    expect(codeOf({ num_beam_groups: 1, guidance_scale: null, watermarking_config: null })).toBe("read");
    expect(codeOf({ temperature: "hot" })).toBe("MODEL_INVALID");
    expect(codeOf({ eos_token_id: [1, -2] })).toBe("MODEL_INVALID");
  });
});
