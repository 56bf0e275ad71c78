import { expect, it } from "vitest";
import type { DecodeStep } from "../../../contract/language-model.ts";
import type { SpeechModel } from "../whisper/decode-window.ts";
import { runWithSharedSteps } from "./shared-steps.ts";

/** A model whose logits are the tokens of a step; `calls`: the sequences of each call. */
function recorder(fail?: (call: number) => unknown): { readonly model: SpeechModel; readonly calls: (readonly number[])[] } {
  const calls: (readonly number[])[] = [];
  const model: SpeechModel = {
    limits: { vocabulary: 1, cacheBytesPerToken: 0, hasEncoder: true },
    library: { name: "recorder", version: "1" },
    createSequence: async () => 0,
    forkSequence: async (sequence) => sequence,
    truncateSequence: async () => {},
    releaseSequence: async () => {},
    decode: async (steps: readonly DecodeStep[], { signal } = {}) => {
      signal?.throwIfAborted();
      calls.push(steps.map(({ sequence }) => sequence));
      const error = fail?.(calls.length);
      if (error !== undefined) throw error;
      return steps.map(({ tokens }) => Float32Array.from(tokens));
    },
  };
  return { model, calls };
}

/** Decodes `count` steps with one sequence after the other, and gives their logits. */
const decoding =
  (sequences: readonly number[], count: number) =>
  async (model: SpeechModel): Promise<readonly number[]> => {
    const seen: number[] = [];
    for (let step = 0; step < count; step += 1) {
      const logits = await model.decode(sequences.map((sequence) => ({ sequence, tokens: [10 * sequence + step] })));
      seen.push(...logits.map(([first = 0]) => first));
    }
    return seen;
  };

it("computes the steps of all in one call, and gives each its own logits", async () => {
  const { model, calls } = recorder();
  const work = [decoding([1], 1), decoding([2, 3], 3), decoding([], 0), decoding([4], 2)];
  expect(await runWithSharedSteps(model, work, undefined)).toEqual([[10], [20, 30, 21, 31, 22, 32], [], [40, 41]]);
  expect(calls).toEqual([
    [1, 2, 3, 4],
    [2, 3, 4],
    [2, 3],
  ]);
});

it("throws the first failure, after the others have ended", async () => {
  const { model, calls } = recorder();
  let ended = 0;
  const endless = async (shared: SpeechModel): Promise<never> => {
    try {
      for (;;) await shared.decode([{ sequence: 1, tokens: [1] }]);
    } finally {
      ended += 1;
    }
  };
  const failing = async (shared: SpeechModel): Promise<never> => {
    await shared.decode([{ sequence: 2, tokens: [1] }]);
    throw new Error("no words");
  };
  await expect(runWithSharedSteps(model, [endless, failing, endless], undefined)).rejects.toThrow("no words");
  expect([calls.length, ended]).toEqual([1, 2]);
});

it("ends all when a call fails, and when it is aborted", async () => {
  const { model } = recorder((call) => (call === 2 ? new Error("the device is gone") : undefined));
  await expect(runWithSharedSteps(model, [decoding([1], 5), decoding([2], 5)], undefined)).rejects.toThrow("the device is gone");
  const aborted = AbortSignal.abort(new Error("enough"));
  await expect(runWithSharedSteps(recorder().model, [decoding([1], 5), decoding([2], 5)], aborted)).rejects.toMatchObject({
    code: "ABORTED",
  });
});
