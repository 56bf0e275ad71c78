/** The search, on machines that are made up: what it finds, and what it must not believe. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Point, type Sample, type SearchPlan, type SearchResult, search } from "./search.ts";

const start: Point = { threads: 2, replicas: "auto", batchTokens: 512 };
const plan: SearchPlan = {
  start,
  values: { threads: [1, 2], replicas: ["auto", 1], batchTokens: [256, 512, 1024] },
  rounds: 3,
  finalRounds: 5,
};

interface Machine {
  /** Milliseconds for one, and inputs a second, of a point. */
  readonly speed: (point: Point) => readonly [latencyMs: number, perSecond: number];
  /** A factor on both for the nth thing that is measured. */
  readonly noise?: (count: number) => number;
  readonly fails?: (point: Point) => boolean;
}

async function searchOn({ speed, noise = () => 1, fails = () => false }: Machine, measured: Point[] = []): Promise<SearchResult> {
  let count = 0;
  return search(plan, async (points, rounds) => {
    const samples: (Sample[] | undefined)[] = points.map((point) => (fails(point) ? undefined : []));
    for (let round = 0; round < rounds; round += 1) {
      for (const [index, point] of points.entries()) {
        const factor = noise((count += 1));
        const [latencyMs, perSecond] = speed(point);
        samples[index]?.push({ latencyMs: latencyMs * factor, perSecond: perSecond / factor });
        measured.push(point);
      }
    }
    return samples;
  });
}

describe("a search", () => {
  it("finds values that are really better, one knob after the other", async () => {
    const { best, final } = await searchOn({
      speed: ({ threads, replicas, batchTokens }) => [
        threads === 1 ? 5 : 10,
        100 + (replicas === 1 ? 50 : 0) + (batchTokens === 1024 ? 20 : 0),
      ],
      noise: (count) => 1 + (count % 3) / 200,
    });
    expect(best).toEqual({ threads: 1, replicas: 1, batchTokens: 1024 });
    expect(final).toMatchObject({ found: best, confirmed: true });
    expect(final?.gain.latency).toBeCloseTo(2, 1);
    expect(final?.gain.bulk).toBeCloseTo(1.7, 1);
  });

  it("leaves the defaults where nothing differs, and measures no last comparison", async () => {
    const measured: Point[] = [];
    const { best, final, trials } = await searchOn({ speed: () => [10, 100] }, measured);
    expect(best).toBe(start);
    expect(final).toBeUndefined();
    expect(trials.filter(({ chosen }) => chosen).map(({ point }) => point)).toEqual([start, start, start]);
    expect(measured).toHaveLength(3 * (2 + 2 + 3));
  });

  it("prefers the default to a gain that is smaller than the differences between the rounds", async () => {
    const speed = ({ batchTokens }: Point): [number, number] => [10, batchTokens === 1024 ? 110 : 100];
    expect((await searchOn({ speed })).best.batchTokens).toBe(1024);
    const shaky = await searchOn({ speed, noise: (count) => (count % 7 < 3 ? 1.5 : 1) });
    expect(shaky.best).toBe(start);
    expect(shaky.final).toBeUndefined(); // it was not even tried again
  });

  it("does not take a gain of a few per cent, however quiet the machine is", async () => {
    expect((await searchOn({ speed: ({ threads }) => [threads === 1 ? 9.8 : 10, 100] })).best).toBe(start);
  });

  it("does not pay for one text with bulk, or for bulk with one text", async () => {
    expect((await searchOn({ speed: ({ threads }) => (threads === 1 ? [5, 60] : [10, 100]) })).best).toBe(start);
    expect((await searchOn({ speed: ({ batchTokens }) => (batchTokens === 256 ? [20, 200] : [10, 100]) })).best).toBe(start);
  });

  it("does not believe what does not win again", async () => {
    const lucky = 3 * (2 + 2 + 3); // everything before the last comparison
    let count = 0;
    const { best, final } = await searchOn({
      speed: ({ batchTokens }) => [10, batchTokens === 1024 && (count += 1) <= lucky ? 130 : 100],
      noise: (measured) => {
        count = measured;
        return 1;
      },
    });
    expect(final).toMatchObject({ found: { batchTokens: 1024 }, confirmed: false });
    expect(best).toBe(start);
  });

  it("goes on without a point that cannot be measured, and says so", async () => {
    const { best, trials } = await searchOn({
      speed: ({ batchTokens }) => [10, batchTokens === 1024 ? 130 : 100],
      fails: ({ threads }) => threads === 1,
    });
    expect(best.batchTokens).toBe(1024);
    expect(trials.find(({ point }) => point.threads === 1)).toEqual({
      knob: "threads",
      point: { ...start, threads: 1 },
      chosen: false,
    });
  });

  it("only ever gives values of the plan", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 20, maxLength: 20 }), async (numbers) => {
        const at = (index: number): number => numbers[index % numbers.length] ?? 1;
        const { best } = await searchOn({
          speed: ({ threads, batchTokens }) => [at(threads + batchTokens), at(threads * batchTokens)],
          noise: (count) => 1 + at(count) / 100,
        });
        expect(plan.values.threads).toContain(best.threads);
        expect(plan.values.replicas).toContain(best.replicas);
        expect(plan.values.batchTokens).toContain(best.batchTokens);
      }),
    );
  });
});
