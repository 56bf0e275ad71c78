/** What a run found, as a table for people and as JSON for programs. */
import type { ConformanceCase } from "./cases.ts";
import type { Outcome, Verdict } from "./judge.ts";
import type { Target } from "./targets.ts";

export type Results = ReadonlyMap<Target, readonly Outcome[]>;

export type Counts = Readonly<Record<Verdict, number>>;

export function countsOf(outcomes: readonly Outcome[]): Counts {
  const counts = { passed: 0, failed: 0, refused: 0 };
  for (const { verdict } of outcomes) counts[verdict] += 1;
  return counts;
}

/** `{target: {passed, failed, refused, cases: {name: verdict}}}`. */
export function jsonOf(cases: readonly ConformanceCase[], results: Results): string {
  const report = Object.fromEntries(
    [...results].map(([target, outcomes]) => [
      target,
      {
        ...countsOf(outcomes),
        cases: Object.fromEntries(cases.map(({ name }, index) => [name, outcomes[index]!.verdict])),
      },
    ]),
  );
  return `${JSON.stringify(report, null, 2)}\n`;
}

/** One row per operator, then all; in each cell passed, failed, refused. */
export function tableOf(cases: readonly ConformanceCase[], results: Results, operators: ReadonlyMap<string, string>): string {
  const groups = new Map<string, number[]>();
  for (const [index, { name }] of cases.entries()) {
    const operator = operators.get(name) ?? "";
    groups.set(operator, [...(groups.get(operator) ?? []), index]);
  }
  const rows = [...groups].toSorted(([one], [other]) => (one < other ? -1 : 1));
  const width = rows.reduce((widest, [operator]) => Math.max(widest, operator.length), "all".length);
  const line = (name: string, cells: readonly string[]): string =>
    `${name.padEnd(width)}  ${cells.map((cell) => cell.padStart(20)).join("")}\n`;
  const cell = ({ passed, failed, refused }: Counts): string => `${passed} ${failed} ${refused}`;
  const counts = (chosen: (outcomes: readonly Outcome[]) => readonly Outcome[]): string[] =>
    [...results.values()].map((outcomes) => cell(countsOf(chosen(outcomes))));
  return [
    line("passed failed refused", [...results.keys()].map(String)),
    ...rows.map(([operator, own]) =>
      line(
        operator,
        counts((outcomes) => own.map((index) => outcomes[index]!)),
      ),
    ),
    line(
      "all",
      counts((outcomes) => outcomes),
    ),
  ].join("");
}
