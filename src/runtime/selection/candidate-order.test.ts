/** The policy "fastest" as properties: what measuring changes in the order, and what it must not. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Manifest } from "../../models/manifest.ts";
import { type RankableCandidate, orderByPolicy } from "./candidate-order.ts";
import { formatTarget } from "../targets/target.ts";
import { mergeConstraints } from "../targets/constraints.ts";

const manifest = { selection: { backends: [], fallbacks: [] } } as unknown as Manifest;

const targets = ["onnx", "wasm", "native", "other"].flatMap((backend) =>
  ["cpu", "cuda", "webgpu"].map((type) => ({ backend, device: { type, index: 0 } })),
);
const items: fc.Arbitrary<RankableCandidate[]> = fc.shuffledSubarray(targets, { minLength: 1 }).chain((chosen) =>
  fc
    .array(fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined }), {
      minLength: chosen.length,
      maxLength: chosen.length,
    })
    .map((times) =>
      chosen.map((target, index) => ({ target, ...(times[index] === undefined ? {} : { latencyMs: times[index] }) })),
    ),
);
const preferred = fc.shuffledSubarray(["wasm", "onnx:cuda", "native:cpu"]);

const unmeasured = (list: readonly RankableCandidate[]): RankableCandidate[] => list.map(({ target }) => ({ target }));
const names = (list: readonly RankableCandidate[]): string[] => list.map(({ target }) => formatTarget(target));
const order = (list: readonly RankableCandidate[], prefer: readonly string[] = []): RankableCandidate[] =>
  orderByPolicy(list, manifest, mergeConstraints({ policy: "fastest", prefer }));

describe("the policy fastest", () => {
  it("loses no candidate and invents none", () => {
    fc.assert(
      fc.property(items, preferred, (list, prefer) => {
        expect(order(list, prefer).toSorted(byName)).toEqual(list.toSorted(byName));
      }),
    );
  });

  it("a target that was not measured stays at its place, whatever the others took", () => {
    fc.assert(
      fc.property(items, preferred, (list, prefer) => {
        const [with_, without] = [order(list, prefer), order(unmeasured(list), prefer)];
        const unknown = [...with_.entries()].filter(([, { latencyMs }]) => latencyMs === undefined);
        expect(unknown.map(([, { target }]) => target)).toEqual(unknown.map(([place]) => without[place]?.target));
      }),
    );
  });

  it("those that were measured stand in the order of their speed", () => {
    fc.assert(
      fc.property(items, (list) => {
        const times = order(list).flatMap(({ latencyMs }) => (latencyMs === undefined ? [] : [latencyMs]));
        expect(times).toEqual(times.toSorted((a, b) => a - b));
      }),
    );
  });

  it("where nothing is measured, accelerators come before the CPU, and backends in their order", () => {
    fc.assert(
      fc.property(items, (list) => {
        const sorted = names(order(unmeasured(list)));
        const byPriority = names(orderByPolicy(unmeasured(list), manifest, mergeConstraints({ policy: "priority" })));
        expect(sorted.filter((name) => name.endsWith(":cpu"))).toEqual(byPriority.filter((name) => name.endsWith(":cpu")));
        expect(sorted.findLastIndex((name) => !name.endsWith(":cpu"))).toBe(
          sorted.filter((name) => !name.endsWith(":cpu")).length - 1,
        );
      }),
    );
  });

  it("what is preferred comes first, however slow it is", () => {
    fc.assert(
      fc.property(items, preferred, (list, prefer) => {
        const without = names(orderByPolicy(list, manifest, mergeConstraints({ policy: "priority", prefer })));
        const isPreferred = (name: string): boolean => prefer.some((pattern) => `${name}:`.startsWith(`${pattern}:`));
        expect(new Set(names(order(list, prefer)).slice(0, without.filter(isPreferred).length))).toEqual(
          new Set(without.filter(isPreferred)),
        );
      }),
    );
  });

  it("an example: the two that were measured change places, the one between them stays", () => {
    const [onnx, native, wasm] = ["onnx", "native", "wasm"].map((backend) => ({ backend, device: { type: "cpu", index: 0 } }));
    const list = [{ target: onnx!, latencyMs: 9 }, { target: native! }, { target: wasm!, latencyMs: 2 }];
    expect(names(order(list))).toEqual(["wasm:cpu", "native:cpu", "onnx:cpu"]);
  });
});

function byName(a: RankableCandidate, b: RankableCandidate): number {
  return formatTarget(a.target) < formatTarget(b.target) ? -1 : 1;
}
