import { describe, expect, it } from "vitest";
import { InferyardError } from "../../contract/errors.ts";
import type { DecodeStep, LanguageModel } from "../../contract/language-model.ts";
import { type VerifiableLanguageModel, agreementTolerance, verifyAgreement } from "./sequence-agreement.ts";

const vocabulary = 32;

/** A correct model: the logits after a token depend on all previous tokens and on the encoder's source. */
class RightModel implements VerifiableLanguageModel {
  readonly limits: LanguageModel["limits"];
  readonly calls: (readonly DecodeStep[])[] = [];
  readonly sequences = new Map<number, number[]>();
  #created = 0;

  constructor(limits: Partial<LanguageModel["limits"]> = {}) {
    this.limits = { vocabulary, cacheBytesPerToken: 1, hasEncoder: false, ...limits };
  }

  async createSequence({ source = [] }: { readonly source?: readonly number[] } = {}): Promise<number> {
    if (source.length > 0 !== this.limits.hasEncoder) throw new Error("texts are for models with an encoder, and those need one");
    return this.add([...source, -1]);
  }
  async decode(steps: readonly DecodeStep[]): Promise<readonly Float32Array[]> {
    this.calls.push(steps);
    return steps.map(({ sequence, tokens }) => {
      const held = this.tokens(sequence);
      held.push(...tokens);
      return this.logits(held);
    });
  }
  async forkSequence(sequence: number): Promise<number> {
    return this.add([...this.tokens(sequence)]);
  }
  async truncateSequence(sequence: number, length: number): Promise<void> {
    this.tokens(sequence).splice(this.tokens(sequence).indexOf(-1) + 1 + length);
  }
  async releaseSequence(sequence: number): Promise<void> {
    this.sequences.delete(sequence);
  }

  logits(tokens: readonly number[]): Float32Array {
    let state = 1;
    for (const token of tokens) state = Math.imul(state ^ (token + 77), 0x9e3779b1) >>> 0;
    return Float32Array.from({ length: vocabulary }, (_, id) => (Math.imul(state ^ id, 0x85ebca6b) >>> 0) / 2 ** 32);
  }
  tokens(sequence: number): number[] {
    return this.sequences.get(sequence) ?? [];
  }
  add(tokens: number[]): number {
    this.#created += 1;
    this.sequences.set(this.#created, tokens);
    return this.#created;
  }
}

/** Models that are incorrect in one respect, with the expected verification error. */
const wrong: readonly (readonly [name: string, reason: RegExp, model: VerifiableLanguageModel])[] = [
  [
    "a fork that copies nothing",
    /a fork, and a sequence with the same tokens/,
    new (class extends RightModel {
      override forkSequence = async (): Promise<number> => this.add([-1]);
    })(),
  ],
  [
    "a fork that shares the cache of its parent",
    /other logits/,
    new (class extends RightModel {
      override forkSequence = async (sequence: number): Promise<number> => this.add(this.tokens(sequence));
    })(),
  ],
  [
    "a truncation that removes nothing",
    /after a truncation/,
    new (class extends RightModel {
      override truncateSequence = async (): Promise<void> => {};
    })(),
  ],
  [
    "a truncation that removes a token too many",
    /after a truncation/,
    new (class extends RightModel {
      override truncateSequence = (sequence: number, length: number): Promise<void> =>
        super.truncateSequence(sequence, length - 1);
    })(),
  ],
  [
    "a batch whose sequences read each other's tokens",
    /other logits/,
    new (class extends RightModel {
      override async decode(steps: readonly DecodeStep[]): Promise<readonly Float32Array[]> {
        const own = await super.decode(steps);
        const all = steps.flatMap(({ sequence }) => this.tokens(sequence));
        return steps.length === 1 ? own : steps.map(() => this.logits(all));
      }
    })(),
  ],
  [
    "a batch whose rows are swapped",
    /other logits/,
    new (class extends RightModel {
      override decode = async (steps: readonly DecodeStep[]) => (await super.decode(steps)).toReversed();
    })(),
  ],
  [
    "single tokens at the wrong position",
    /in one call/,
    new (class extends RightModel {
      override async decode(steps: readonly DecodeStep[]): Promise<readonly Float32Array[]> {
        const own = await super.decode(steps);
        return steps.map(({ sequence, tokens }, index) =>
          tokens.length === 1 ? this.logits([0, ...this.tokens(sequence)]) : own[index]!,
        );
      }
    })(),
  ],
  [
    "tokens of released sequences that stay",
    /the same prompt alone/,
    new (class extends RightModel {
      #left: readonly number[] = [];
      override async createSequence(): Promise<number> {
        return this.add([-1, ...this.#left]);
      }
      override async releaseSequence(sequence: number): Promise<void> {
        this.#left = this.tokens(sequence);
      }
    })(),
  ],
  [
    "logits that are no numbers",
    /not finite/,
    new (class extends RightModel {
      override logits = (): Float32Array => new Float32Array(vocabulary).fill(Number.NaN);
    })(),
  ],
  [
    "too few logits",
    /not finite/,
    new (class extends RightModel {
      override logits = (tokens: readonly number[]): Float32Array => super.logits(tokens).subarray(1);
    })(),
  ],
  [
    "a call that it refuses",
    /refuses a call.*inconsistent positions/,
    new (class extends RightModel {
      override truncateSequence = async (): Promise<void> => {
        throw new InferyardError("RUN_FAILED", "inconsistent positions");
      };
    })(),
  ],
];

describe("agreement of a language model with itself", () => {
  it.each([
    ["of a decoder", {}],
    ["of an encoder and a decoder", { hasEncoder: true }],
    ["with the shortest context that permits it", { contextLength: 5 }],
  ])("holds for a right model %s, in 5 calls of 18 tokens", async (_name, limits) => {
    const model = new RightModel(limits);
    expect(await verifyAgreement(model, 0.05)).toEqual({ rows: 3, difference: 0, readsContext: true });
    expect(model.calls).toHaveLength(5);
    expect(model.calls.flat().reduce((sum, { tokens }) => sum + tokens.length, 0)).toBe(18);
    expect(model.sequences.size).toBe(0);
  });

  it.each([1, 4])("is not verified in a context of %d tokens, which are computed", async (contextLength) => {
    const model = new RightModel({ contextLength });
    expect(await verifyAgreement(model, 0.05)).toEqual({ rows: 0, difference: 0, readsContext: true });
    expect(model.calls.flat().map(({ tokens }) => tokens.length)).toEqual([Math.min(4, contextLength)]);
  });

  it.each(wrong)("refuses %s, and frees its sequences", async (_name, reason, model) => {
    await expect(verifyAgreement(model, 0.05)).rejects.toMatchObject({
      code: "VERIFICATION_FAILED",
      message: expect.stringMatching(reason),
    });
  });

  it("reports logits that do not depend on the tokens before the last one, as made-up models have them", async () => {
    class LastToken extends RightModel {
      override logits = (tokens: readonly number[]): Float32Array => super.logits(tokens.slice(-1));
    }
    expect(await verifyAgreement(new LastToken(), 0.05)).toEqual({ rows: 3, difference: 0, readsContext: false });
  });

  it("permits what rounding does", async () => {
    let call = 0;
    class Rounding extends RightModel {
      override logits(tokens: readonly number[]): Float32Array {
        call += 1;
        return super.logits(tokens).map((logit, id) => logit * (1 + 0.01 * Math.sin(call * id)));
      }
    }
    const { difference } = await verifyAgreement(new Rounding(), 0.05);
    expect(difference).toBeGreaterThan(0.001);
    expect(difference).toBeLessThan(0.05);
  });

  it("permits more for a graph that may quantize all tokens of a call with one scale", () => {
    expect(agreementTolerance({ format: "onnx", precision: "int8" })).toBe(0.3);
    expect(agreementTolerance({ format: "onnx", precision: "fp16" })).toBe(0.05);
    expect(agreementTolerance({ format: "gguf", precision: "int4" })).toBe(0.05);
  });

  it.each(["HOST_DIED", "ABORTED", "OUT_OF_MEMORY"] as const)("throws %s on as it is", async (code) => {
    class Ended extends RightModel {
      override decode = async (): Promise<never> => {
        throw new InferyardError(code, "the end");
      };
    }
    await expect(verifyAgreement(new Ended(), 0.05)).rejects.toMatchObject({ code });
  });
});
