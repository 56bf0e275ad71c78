/** The rules by which `npm run bench:embed` ends and judges, on records with known answers. */
import { describe, expect, it } from "vitest";

interface Ratio {
  readonly name: string;
  readonly ratio: number;
  readonly low: number;
  readonly high: number;
  readonly verdict?: string;
  readonly open: boolean;
}
interface Group {
  readonly kind: string;
  readonly precision: string;
  readonly share: number;
}

const { ratioInterval } = (await import(new URL("../../bench/measuring/statistics.mjs", import.meta.url).href)) as {
  ratioInterval: (numerators: number[], denominators: number[]) => { ratio: number; low: number; high: number };
};
const { ratiosOf, groups } = (await import(new URL("../../bench/embed/ratios.mjs", import.meta.url).href)) as {
  ratiosOf: (group: Group, records: unknown[]) => Ratio[];
  groups: Group[];
};
const { runSchedule } = (await import(new URL("../../bench/embed/schedule.mjs", import.meta.url).href)) as {
  runSchedule: (schedule: {
    groups: Group[];
    seconds: number;
    ratiosOf: (group: Group) => { open: boolean }[];
    runRound: (group: Group, open: unknown[], round: number) => Promise<void>;
    now: () => number;
  }) => Promise<void>;
};

const oneText: Group = { kind: "one text", precision: "fp32", share: 1 };
const record = (ours: number, raw: number) => ({
  kind: "one text",
  precision: "fp32",
  times: { inferyard: { "16 tokens": ours, "128 tokens": ours }, raw: { "16 tokens": raw, "128 tokens": raw } },
});

describe("the interval of a ratio", () => {
  it("is Student's on the logarithms", () => {
    // Python's math module, with the 0.975 quantile for 3 degrees of freedom as tables give it: 3.182446.
    const { ratio, low, high } = ratioInterval([1.1, 2.4, 1.05, 1.15], [1, 2, 1, 1]);
    expect(ratio).toBeCloseTo(1.12360915, 6);
    expect(low).toBeCloseTo(1.02542162, 4);
    expect(high).toBeCloseTo(1.23119849, 4);
  });

  it("is unbounded after one pair", () => {
    expect(ratioInterval([2], [1])).toEqual({ ratio: 2, low: 0, high: Infinity });
  });
});

describe("a ratio with an aim", () => {
  it("is open before three rounds", () => {
    expect(ratiosOf(oneText, [record(1, 1), record(1, 1)])[0]?.open).toBe(true);
  });

  it("is met or missed where its interval lies on one side of the aim", () => {
    expect(
      ratiosOf(
        oneText,
        [0.9, 0.91, 0.92].map((ours) => record(ours, 1)),
      )[0],
    ).toMatchObject({ verdict: "met", open: false });
    expect(
      ratiosOf(
        oneText,
        [1.2, 1.21, 1.22].map((ours) => record(ours, 1)),
      )[0],
    ).toMatchObject({
      verdict: "missed",
      open: false,
    });
  });

  it("stays open, and is not judged, where its interval holds the aim", () => {
    expect(
      ratiosOf(
        oneText,
        [0.8, 1, 1.3].map((ours) => record(ours, 1)),
      )[0],
    ).toMatchObject({
      verdict: "not settled",
      open: true,
    });
  });
});

describe("the schedule", () => {
  const run = async (seconds: number, closedAfter: number) => {
    let clock = 0;
    const rounds = new Map<Group, number>(groups.map((group) => [group, 0]));
    await runSchedule({
      groups,
      seconds,
      now: () => clock,
      ratiosOf: (group) => [{ open: (rounds.get(group) ?? 0) < closedAfter }],
      runRound: async (group, _open, round) => {
        expect(round).toBe(rounds.get(group));
        clock += group.kind === "bulk" ? 20_000 : 5_000;
        rounds.set(group, round + 1);
      },
    });
    return { clock, rounds: [...rounds.values()] };
  };

  it("ends as soon as no ratio is open", async () => {
    expect(await run(230, 3)).toEqual({ clock: 150_000, rounds: [3, 3, 3, 3] });
  });

  it("starts no round that would end too late, and gives every group rounds", async () => {
    const { clock, rounds } = await run(230, 100);
    expect(clock).toBeLessThanOrEqual(230_000);
    expect(Math.min(...rounds)).toBeGreaterThanOrEqual(2);
  });
});
