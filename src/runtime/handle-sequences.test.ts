import { describe, expect, it } from "vitest";
import type { HostedLanguageModel } from "../hosts/host.ts";
import { scriptedLanguageModel } from "../../test/generation/fixtures/scripted-language-model.ts";
import { HandleSequences } from "./handle-sequences.ts";
import { InstanceHolds } from "./residency/instance-holds.ts";

/** A model that answers with its name and the numbers of the sequences in a call. */
function modelNamed(name: number): HostedLanguageModel & { readonly alive: Set<number> } {
  const alive = new Set<number>();
  let created = 0;
  const add = async (): Promise<number> => {
    created += 1;
    alive.add(created);
    return created;
  };
  return {
    kind: "language",
    alive,
    limits: { vocabulary: 2, cacheBytesPerToken: 1, hasEncoder: false },
    library: { name: `library ${name}`, version: "1" },
    memory: { bytes: name, measure: "weights" },
    createSequence: add,
    forkSequence: add,
    restoreSequence: add,
    decode: async (steps) => steps.map(({ sequence }) => new Float32Array([name, sequence])),
    truncateSequence: async () => {},
    saveSequence: async (sequence) => new Uint8Array([name, sequence]),
    releaseSequence: async (sequence) => void alive.delete(sequence),
    evidence: async () => [`evidence ${name}`],
    dispose: async () => {},
  };
}

describe("sequences of a handle", () => {
  it("stay on the instance that they began on, and hold it until they are released", async () => {
    const holds = new InstanceHolds<HostedLanguageModel>();
    const [old, fresh] = [modelNamed(1), modelNamed(2)];
    let current = old;
    const sequences = new HandleSequences(() => {
      const model = current;
      return { loaded: {} as never, model, release: holds.hold(model), holdAgain: () => holds.hold(model) };
    });
    const before = await sequences.createSequence();
    current = fresh;
    const [after, fork] = [await sequences.createSequence(), await sequences.forkSequence(before)];
    const restored = await sequences.restoreSequence(new Uint8Array());
    expect([holds.getCount(old), holds.getCount(fresh)]).toEqual([2, 2]);
    const steps = [after, before, restored, fork].map((sequence) => ({ sequence, tokens: [0] }));
    expect((await sequences.decode(steps)).map((row) => [...row])).toEqual([
      [2, 1],
      [1, 1],
      [2, 2],
      [1, 2],
    ]);
    expect([...(await sequences.saveSequence(before))]).toEqual([1, 1]);
    await sequences.truncateSequence(fork, 0);
    expect([sequences.library.name, sequences.memory.bytes, sequences.limits.vocabulary]).toEqual(["library 2", 2, 2]);
    expect(await sequences.evidence()).toEqual(["evidence 2"]);
    expect(await sequences.decode([])).toEqual([]);
    await sequences.releaseSequence(before);
    await expect(sequences.decode([{ sequence: before, tokens: [0] }])).rejects.toMatchObject({ code: "INPUT_INVALID" });
    await expect(sequences.forkSequence(99)).rejects.toMatchObject({ code: "INPUT_INVALID" });
    expect(holds.getCount(old)).toBe(1);
    sequences.releaseAll();
    await Promise.all([holds.released(old), holds.released(fresh)]);
    expect([old.alive.size, fresh.alive.size]).toEqual([0, 0]);
  });

  it("are saved as their tokens where the engine saves none, and computed again", async () => {
    const model = scriptedLanguageModel();
    const sequences = new HandleSequences(() => ({ loaded: {} as never, model, release: () => {}, holdAgain: () => () => {} }));
    const first = await sequences.createSequence();
    await sequences.decode([{ sequence: first, tokens: [3, 1, 4, 1] }]);
    await sequences.truncateSequence(first, 3);
    const fork = await sequences.forkSequence(first);
    const bytes = await sequences.saveSequence(fork);
    const restored = await sequences.restoreSequence(bytes);
    const [right, again] = await sequences.decode([first, restored].map((sequence) => ({ sequence, tokens: [5] })));
    expect(again).toEqual(right);
    const empty = await sequences.restoreSequence(await sequences.saveSequence(await sequences.createSequence()));
    expect(await sequences.decode([{ sequence: empty, tokens: [2] }])).toHaveLength(1);
    const texts = ["", "no JSON", "null", "{}", '{"format":"inferyard-tokens-1","tokens":["a"]}'];
    for (const damaged of [bytes.subarray(1), ...texts.map((text) => new TextEncoder().encode(text))])
      await expect(sequences.restoreSequence(damaged)).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });

  it("hold nothing if they could not be created", async () => {
    const holds = new InstanceHolds<HostedLanguageModel>();
    const model: HostedLanguageModel = {
      ...modelNamed(1),
      createSequence: async () => {
        throw new Error("no memory");
      },
    };
    const sequences = new HandleSequences(() => {
      return { loaded: {} as never, model, release: holds.hold(model), holdAgain: () => holds.hold(model) };
    });
    await expect(sequences.createSequence()).rejects.toThrow("no memory");
    expect(holds.getCount(model)).toBe(0);
  });
});
