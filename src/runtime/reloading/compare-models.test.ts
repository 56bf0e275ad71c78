import { describe, expect, it } from "vitest";
import type { HostedLanguageModel } from "../../hosts/host.ts";
import { compareModels, comparisonPrompts } from "./compare-models.ts";

const vocabulary = 50;

/** A model whose logits follow from the last token; `change` alters them. */
function modelWith(
  change: (logits: Float32Array, position: number) => Float32Array = (logits) => logits,
  limits: Partial<HostedLanguageModel["limits"]> = {},
): Pick<HostedLanguageModel, "createSequence" | "decode" | "releaseSequence" | "limits"> & { readonly open: Set<number> } {
  const open = new Set<number>();
  let created = 0;
  let position = 0;
  return {
    open,
    limits: { vocabulary, cacheBytesPerToken: 1, hasEncoder: false, ...limits },
    createSequence: async () => {
      created += 1;
      open.add(created);
      return created;
    },
    decode: async (steps) => {
      const { tokens } = steps[0]!;
      const last = tokens.at(-1) ?? 0;
      position += 1;
      const logits = Float32Array.from({ length: vocabulary }, (_, token) => Math.sin(token * 7 + last));
      return [change(logits, position)];
    },
    releaseSequence: async (sequence) => void open.delete(sequence),
  };
}

const tolerance = 0.02;

describe("comparing two instances", () => {
  it("gives the largest difference and the number of positions, and releases its sequences", async () => {
    const [old, fresh] = [modelWith(), modelWith((logits) => logits.map((logit) => logit + 0.01))];
    const comparison = await compareModels(old, fresh, { tolerance });
    expect(comparison).toMatchObject({ prompts: 3, positions: 36, ties: 0, tolerance });
    expect(comparison.maxDifference).toBeCloseTo(0.005, 3); // of a range of about 2
    expect([old.open.size, fresh.open.size]).toEqual([0, 0]);
  });

  it.each([
    ["a logit differs", (logits: Float32Array) => logits.with(3, logits[3]! + 0.1), "a logit differs by 5.0 %"],
    ["a logit is no number", (logits: Float32Array) => logits.with(3, Number.NaN), "no finite number"],
    ["logits are missing", (logits: Float32Array) => logits.subarray(1), "a logit differs by"],
  ])("%s: it is refused", async (_what, change, reason) => {
    const [old, fresh] = [modelWith(), modelWith((logits, position) => (position > 5 ? change(logits) : logits))];
    await expect(compareModels(old, fresh, { tolerance })).rejects.toMatchObject({
      code: "VERIFICATION_FAILED",
      message: expect.stringContaining(reason),
    });
    expect([old.open.size, fresh.open.size]).toEqual([0, 0]);
  });

  it("another token has the highest logit: a tie if the two highest are as close as the tolerance, otherwise it is refused", async () => {
    const tied = modelWith((logits) => logits.map((_, token) => (token < 2 ? 1 - token * 0.01 : 0)));
    const other = modelWith((logits) => logits.map((_, token) => (token < 2 ? 0.99 + token * 0.01 : 0)));
    expect((await compareModels(tied, other, { tolerance })).ties).toBe(36);
    await expect(compareModels(tied, other, { tolerance: 0.001 })).rejects.toMatchObject({ code: "VERIFICATION_FAILED" });
  });

  it("another vocabulary is refused", async () => {
    await expect(compareModels(modelWith(), modelWith(undefined, { vocabulary: 51 }), { tolerance })).rejects.toThrow(
      "it reads a vocabulary of 51 tokens, and the old library one of 50",
    );
  });

  it("stays within a short context, and an abort ends it", async () => {
    expect(comparisonPrompts({ ...modelWith().limits, contextLength: 14 }).map(({ length }) => length)).toEqual([2, 2, 2]);
    const short = (): ReturnType<typeof modelWith> => modelWith(undefined, { contextLength: 4 });
    expect((await compareModels(short(), short(), { tolerance })).positions).toBe(9);
    await expect(compareModels(modelWith(), modelWith(), { tolerance, signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: "ABORTED",
    });
  });
});
