import { once } from "node:events";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { workerFromSource } from "../../../test/engine/fixtures/source-worker.ts";
import type { TakingRegions } from "../../../test/engine/fixtures/taking-regions.ts";
import { wasmHost } from "../codegen/wasm/index.ts";
import { type Region, RegionTable } from "./region-table.ts";

const page = 65_536;

/** What copies may do, each with a number of bytes: take a region, extend the last one, give all back, end without a word, publish the last one. */
const steps = fc.array(
  fc.record({
    copy: fc.nat(3),
    what: fc.constantFrom("take", "take", "extend", "leave", "die", "publish"),
    bytes: fc.integer({ min: 1, max: 4 * page }),
  }),
  { maxLength: 60 },
);

describe("regions of a memory", () => {
  it("belong to one copy that lives, or to all; what was left is used again", () => {
    fc.assert(
      fc.property(steps, (script) => {
        const members = new Int32Array(new SharedArrayBuffer(16)).fill(0);
        let number = 0;
        let reached = 0;
        let table: ArrayBufferLike | undefined;
        const join = (index: number): { regions: RegionTable; own: Region[] } => {
          members[index] = number += 1;
          const regions = new RegionTable(
            { buffer: table, members, owner: number },
            (bytes) => (reached = Math.max(reached, bytes)),
          );
          table = regions.buffer;
          return { regions, own: [] };
        };
        const copies = [0, 1, 2, 3].map(join);
        const published: Region[] = [];
        for (const { copy, what, bytes } of script) {
          const { regions, own } = copies[copy]!;
          if (what === "take") own.push(regions.claim(bytes));
          const last = own.at(-1);
          if (what === "extend" && last !== undefined) own.splice(-1, 1, regions.extend(last, bytes) ?? last);
          if (what === "publish" && last !== undefined) {
            regions.publish(last);
            published.push(...own.splice(-1));
          }
          if (what === "leave") regions.releaseAll();
          if (what === "leave" || what === "die") {
            members[copy] = 0;
            copies[copy] = join(copy);
          }
          const all = [...published, ...copies.flatMap((each) => each.own)].toSorted((one, other) => one.start - other.start);
          for (const [index, region] of all.entries()) {
            const before = all[index - 1];
            expect(region.start).toBeGreaterThanOrEqual(before === undefined ? 64 : before.start + before.bytes);
            expect(region.start + region.bytes).toBeLessThanOrEqual(reached);
          }
          const sizes = copies.map((each) => each.own.reduce((sum, region) => sum + region.bytes, 0));
          expect(copies.map((each) => each.regions.usage.own)).toEqual(sizes);
        }
      }),
    );
  });

  it("do not become more however often a copy dies with what it has", () => {
    const members = Int32Array.of(1, 0);
    let reached = 0;
    const reach = (bytes: number): void => void (reached = Math.max(reached, bytes));
    const first = new RegionTable({ buffer: undefined, members, owner: 1 }, reach);
    const ends = Array.from({ length: 50 }, (_, round) => {
      members[1] = round + 2;
      const copy = new RegionTable({ buffer: first.buffer, members, owner: round + 2 }, reach);
      for (const bytes of [300_000, 70_000, 1, 900_000]) copy.claim(bytes);
      return reached;
    });
    expect(ends.at(-1)).toBe(ends[0]);
  });

  it("are nobody else's when several threads take them at once", async () => {
    const memory = new (wasmHost().Memory)({ initial: 1, maximum: page, shared: true });
    const members = new Int32Array(new SharedArrayBuffer(12));
    members.set([1, 2, 3]);
    const { buffer } = new RegionTable({ buffer: undefined, members, owner: 1 }, () => {});
    const threads = [1, 2, 3].map((owner) => {
      const given = { memory, table: buffer as SharedArrayBuffer, members, owner, rounds: 8 } satisfies TakingRegions;
      return workerFromSource("test/engine/fixtures/taking-regions.ts", given);
    });
    const said = await Promise.all(threads.map(async (thread) => (await once(thread, "message"))[0] as unknown));
    expect(said).toEqual([1, 2, 3].map(() => ({ taken: 48, foreign: 0 })));
  });

  it("end at 4 GiB, with an error that says so, and leave what there is as it was", () => {
    const regions = new RegionTable({ buffer: undefined, members: Int32Array.of(1), owner: 1 }, () => {});
    const max = regions.claim(2 ** 32 - 2 * page);
    expect(() => regions.claim(2 * page)).toThrow(expect.objectContaining({ code: "OUT_OF_MEMORY" }));
    expect(() => regions.extend(max, 2 * page)).toThrow(expect.objectContaining({ code: "OUT_OF_MEMORY" }));
    expect(regions.claim(1000).start).toBe(max.start + max.bytes);
  });
});
