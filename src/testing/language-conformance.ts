/** The conformance suite of language models checks that a backend keeps the contract in `language-model.ts`. */
import { strict as assert } from "node:assert";
import type { Backend, Device, LanguageModel, LanguageModelFiles, LoadSettings, SequenceId } from "../contract/backend.ts";
import type { ConformanceCase } from "./conformance.ts";
import { checkedCounts } from "./kernel-counts.ts";
import { hasErrorCode, refused } from "./refusals.ts";

/** A prompt and its continuation, computed by another implementation. */
export interface LanguageSample {
  /** Tokens that the encoder reads; for models with an encoder. */
  readonly source?: readonly number[];
  /** Tokens of the prompt; for models with an encoder the token that starts the decoder. */
  readonly prompt: readonly number[];
  /** The tokens with the highest logit after it, one after the other, at least four. */
  readonly continuation: readonly number[];
  /** Logits after the prompt. Default: they are not compared. */
  readonly logits?: Float32Array;
}

/** The backend that the suite tests, with a language model that it can run. */
export interface LanguageConformanceSubject {
  /** Creates a new instance of the backend. */
  create(): Backend;
  readonly device: Device;
  readonly model: LanguageModelFiles;
  /** Settings that the model is loaded with. Default: none. */
  readonly settings?: LoadSettings;
  /** At least two samples of different lengths. */
  readonly samples: readonly LanguageSample[];
  /** Largest absolute difference from the samples' logits. Default: 1e-3. */
  readonly tolerance?: number;
  /**
   * Largest absolute difference between logits that are computed in two ways: in a batch and alone, in one call and in several. 0: the same bits. Default:
   * 1e-4.
   */
  readonly repeatTolerance?: number;
}

type Check = (model: LanguageModel, samples: readonly LanguageSample[]) => Promise<void>;

/** All cases of the conformance suite for a language model of a backend; used as `backendCases`. */
export function languageCases(subject: LanguageConformanceSubject): ConformanceCase[] {
  const { tolerance = 1e-3, repeatTolerance = 1e-4 } = subject;
  const same = (actual: readonly Float32Array[], expected: readonly Float32Array[]): void => {
    assert.equal(actual.length, expected.length);
    for (const [index, logits] of expected.entries()) close(actual[index], logits, repeatTolerance);
  };
  const named = (name: string, check: Check): ConformanceCase => ({ name, run: () => withModel(subject, check) });
  return [
    named("each prompt is continued as by the other implementation", async (model, samples) => {
      for (const { prompt, source, continuation, logits } of samples) {
        const sequence = await start(model, source);
        const [first] = await model.decode([{ sequence, tokens: prompt }]);
        if (logits !== undefined) close(first, logits, tolerance);
        assert.deepEqual(await follow(model, sequence, first, continuation.length), continuation);
        await model.releaseSequence(sequence);
      }
    }),
    named(
      "the limits agree with the logits, and logits of several positions are those of single ones",
      async (model, [sample]) => {
        const { prompt, source, continuation } = required(sample);
        const { vocabulary, cacheBytesPerToken } = model.limits;
        assert.ok(cacheBytesPerToken > 0, "a token needs cache");
        const [together, apart] = [await start(model, source), await start(model, source)];
        const tokens = [...prompt, ...continuation.slice(0, 2)];
        const [all] = await model.decode([{ sequence: together, tokens, logits: 3 }]);
        assert.equal(all?.length, 3 * vocabulary);
        const singles: Float32Array[] = [];
        for (const part of [prompt, ...continuation.slice(0, 2).map((token) => [token])]) {
          singles.push(...(await model.decode([{ sequence: apart, tokens: part }])));
        }
        same(
          [0, 1, 2].map((index) => required(all).subarray(index * vocabulary, (index + 1) * vocabulary)),
          singles,
        );
      },
    ),
    named("the highest logits alone are those among all", async (model, [sample]) => {
      const { prompt, source } = required(sample);
      const [whole, part] = [await start(model, source), await start(model, source)];
      const [all] = await model.decode([{ sequence: whole, tokens: prompt }]);
      const order = [...required(all).keys()].sort((a, b) => required(required(all)[b]) - required(required(all)[a]));
      for (const candidates of [1, 3]) {
        await model.truncateSequence(part, 0);
        const [some] = await model.decode([{ sequence: part, tokens: prompt, candidates }]);
        for (const id of order.slice(0, candidates)) {
          const difference = Math.abs(required(required(some)[id]) - required(required(all)[id]));
          assert.ok(
            difference <= repeatTolerance * Math.max(1, Math.abs(required(required(all)[id]))),
            "the highest logits are given",
          );
        }
        const highest = required(some).reduce((most, logit) => Math.max(most, logit));
        assert.equal(required(some).indexOf(highest), order[0], "no other logit is higher");
      }
    }),
    named("sequences in one call get what they get alone", async (model, samples) => {
      const alone: Float32Array[] = [];
      for (const { prompt, source, continuation } of samples) {
        const sequence = await start(model, source);
        alone.push(...(await model.decode([{ sequence, tokens: prompt }])));
        alone.push(...(await model.decode([{ sequence, tokens: continuation.slice(0, 1) }])));
      }
      const sequences = await Promise.all(samples.map(({ source }) => start(model, source)));
      const step = (tokensOf: (sample: LanguageSample) => readonly number[]): Promise<readonly Float32Array[]> =>
        model.decode(samples.map((sample, index) => ({ sequence: required(sequences[index]), tokens: tokensOf(sample) })));
      const prompts = await step(({ prompt }) => prompt);
      const next = await step(({ continuation }) => continuation.slice(0, 1));
      same(
        samples.flatMap((_, index) => [required(prompts[index]), required(next[index])]),
        alone,
      );
    }),
    named("overlapping calls give what serial ones give", async (model, samples) => {
      const one = async ({ prompt, source, continuation }: LanguageSample): Promise<void> => {
        const sequence = await start(model, source);
        const [first] = await model.decode([{ sequence, tokens: prompt }]);
        assert.deepEqual(await follow(model, sequence, first, continuation.length), continuation);
      };
      await Promise.all(samples.map(one));
    }),
    named("a fork continues as its parent, and does not disturb it", async (model, [sample]) => {
      const { prompt, source, continuation } = required(sample);
      const parent = await start(model, source);
      const [first] = await model.decode([{ sequence: parent, tokens: prompt }]);
      const child = await model.forkSequence(parent);
      await model.decode([{ sequence: child, tokens: [other(required(continuation[0]))] }]);
      await model.decode([{ sequence: child, tokens: [other(required(continuation[1]))] }]);
      assert.deepEqual(await follow(model, parent, first, continuation.length), continuation);
      await model.releaseSequence(parent);
      const twin = await start(model, source);
      const [again] = await model.decode([{ sequence: twin, tokens: prompt }]);
      const fork = await model.forkSequence(twin);
      await model.releaseSequence(twin);
      assert.deepEqual(await follow(model, fork, again, continuation.length), continuation);
    }),
    named("a sequence that was cut back continues as if the rest had never been", async (model, [sample]) => {
      const { prompt, source, continuation } = required(sample);
      const sequence = await start(model, source);
      const [first] = await model.decode([{ sequence, tokens: prompt }]);
      await model.decode([{ sequence, tokens: [other(required(continuation[0])), other(required(continuation[1]))] }]);
      await model.truncateSequence(sequence, prompt.length);
      assert.deepEqual(await follow(model, sequence, first, continuation.length), continuation);
      await model.truncateSequence(sequence, 0);
      const [anew] = await model.decode([{ sequence, tokens: prompt }]);
      same([required(anew)], [required(first)]);
    }),
    named("a saved sequence, if the model saves any, continues identically", async (model, [sample]) => {
      const { prompt, source, continuation } = required(sample);
      const [save, restore] = [model.saveSequence?.bind(model), model.restoreSequence?.bind(model)];
      assert.equal(save === undefined, restore === undefined, "both members are there, or neither");
      if (save === undefined || restore === undefined) return;
      const sequence = await start(model, source);
      const [first] = await model.decode([{ sequence, tokens: prompt }]);
      const bytes = await save(sequence);
      await model.releaseSequence(sequence);
      assert.deepEqual(await follow(model, await restore(bytes), first, continuation.length), continuation);
      for (const damaged of [bytes.subarray(0, bytes.length - 1), bytes.subarray(1), new Uint8Array()]) {
        await refused(() => restore(damaged), hasErrorCode("INPUT_INVALID"));
      }
    }),
    named("a call that is aborted leaves its sequences as they were", async (model, [sample]) => {
      const { prompt, source, continuation } = required(sample);
      const sequence = await start(model, source);
      const [first] = await model.decode([{ sequence, tokens: prompt }]);
      const tokens = [other(required(continuation[0]))];
      await refused(() => model.decode([{ sequence, tokens }], { signal: AbortSignal.abort() }), hasErrorCode("ABORTED"));
      const controller = new AbortController();
      const running = model.decode([{ sequence, tokens }], { signal: controller.signal });
      controller.abort();
      const isDone = await running.then(
        () => true,
        () => false,
      );
      if (isDone) await model.truncateSequence(sequence, prompt.length);
      assert.deepEqual(await follow(model, sequence, first, continuation.length), continuation);
    }),
    named("wrong calls are INPUT_INVALID and change nothing", async (model, [sample]) => {
      const { prompt, source, continuation } = required(sample);
      const { vocabulary, hasEncoder } = model.limits;
      const sequence = await start(model, source);
      const [first] = await model.decode([{ sequence, tokens: prompt }]);
      const wrong: readonly (() => Promise<unknown>)[] = [
        () => model.decode([{ sequence, tokens: [] }]),
        () => model.decode([{ sequence, tokens: [vocabulary] }]),
        () => model.decode([{ sequence, tokens: [-1] }]),
        () => model.decode([{ sequence, tokens: [0.5] }]),
        () => model.decode([{ sequence, tokens: [0], logits: 2 }]),
        () =>
          model.decode([
            { sequence, tokens: [0] },
            { sequence, tokens: [1] },
          ]),
        () =>
          model.decode([
            { sequence, tokens: [0] },
            { sequence: 1e9, tokens: [1] },
          ]),
        () => model.truncateSequence(sequence, prompt.length + 1),
        () => model.forkSequence(1e9),
        () => model.releaseSequence(1e9),
        () => model.createSequence(hasEncoder ? {} : { source: [0] }),
      ];
      for (const call of wrong) await refused(call, hasErrorCode("INPUT_INVALID"));
      assert.deepEqual(await follow(model, sequence, first, continuation.length), continuation);
    }),
    named("beyond the context length is INPUT_TOO_LONG", async (model, [sample]) => {
      const { contextLength } = model.limits;
      if (contextLength === undefined || contextLength > 4096) return;
      const sequence = await start(model, required(sample).source);
      const tokens = Array.from({ length: contextLength + 1 }, () => 0);
      await refused(() => model.decode([{ sequence, tokens }]), hasErrorCode("INPUT_TOO_LONG"));
      await model.decode([{ sequence, tokens: tokens.slice(1) }]);
      await refused(() => model.decode([{ sequence, tokens: [0] }]), hasErrorCode("INPUT_TOO_LONG"));
    }),
    named("released caches are given back", async (model, [sample]) => {
      const { prompt, source } = required(sample);
      const before = model.memory.bytes;
      const round = async (): Promise<number> => {
        const sequence = await start(model, source);
        await model.decode([{ sequence, tokens: prompt }]);
        await model.releaseSequence(sequence);
        await refused(() => model.decode([{ sequence, tokens: prompt }]), hasErrorCode("INPUT_INVALID"));
        return model.memory.bytes;
      };
      const first = await round();
      for (let count = 0; count < 20; count += 1) await round();
      assert.ok((await round()) <= Math.max(first, before), "memory does not grow with sequences that were released");
    }),
    named("use after disposal is DISPOSED, and disposing twice is harmless", async (model, [sample]) => {
      const { prompt, source } = required(sample);
      const sequence = await start(model, source);
      await model.decode([{ sequence, tokens: prompt }]);
      assert.ok((await model.evidence()).every((sentence) => typeof sentence === "string"));
      if (model.kernelCounts !== undefined)
        assert.ok(checkedCounts(await model.kernelCounts()).size > 0, "decoding calls kernels");
      await model.dispose();
      await model.dispose();
      await refused(() => model.decode([{ sequence, tokens: prompt }]), hasErrorCode("DISPOSED"));
      await refused(() => start(model, source), hasErrorCode("DISPOSED"));
    }),
  ];
}

async function start(model: LanguageModel, source: readonly number[] | undefined): Promise<SequenceId> {
  return model.createSequence(source === undefined ? {} : { source });
}

/** Appends the token with the highest logit, `count` times. */
async function follow(
  model: LanguageModel,
  sequence: SequenceId,
  first: Float32Array | undefined,
  count: number,
): Promise<readonly number[]> {
  const tokens: number[] = [];
  for (let logits = required(first); ;) {
    tokens.push(highest(logits));
    if (tokens.length === count) return tokens;
    [logits] = (await model.decode([{ sequence, tokens: tokens.slice(-1) }])) as [Float32Array];
  }
}

function highest(logits: Float32Array): number {
  return logits.reduce((best, value, index) => (value > required(logits[best]) ? index : best), 0);
}

/** Another token. */
function other(token: number): number {
  return token === 0 ? 1 : token - 1;
}

function close(actual: Float32Array | undefined, expected: Float32Array, tolerance: number): void {
  assert.equal(actual?.length, expected.length, "there is a logit for each token of the vocabulary");
  const difference = expected.reduce((max, value, index) => Math.max(max, Math.abs(value - required(actual[index]))), 0);
  assert.ok(difference <= tolerance, `the logits are off by ${difference}, and ${tolerance} is allowed`);
}

function required<Value>(value: Value | undefined): Value {
  assert.ok(value !== undefined, "there is a value");
  return value;
}

async function withModel(
  { create, model, device, settings = {}, samples }: LanguageConformanceSubject,
  check: Check,
): Promise<void> {
  const backend = create();
  assert.ok(backend.loadLanguage !== undefined, "the backend loads language models");
  const loaded = await backend.loadLanguage(model, device, settings);
  try {
    await check(loaded, samples);
  } finally {
    await loaded.dispose();
    await backend.dispose?.();
  }
}
