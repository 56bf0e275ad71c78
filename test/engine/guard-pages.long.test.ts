/** Machine code of every family reads and writes no byte outside of its buffers, whatever the shapes and strides. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { machineFamilies } from "../../src/kernels/machine-families.ts";
import { amount } from "../fixtures/slow.ts";
import { openLevel } from "./machine-kernels.ts";

/** Requests of each family, shared by its levels. */
const count = amount(20_000, 24);
const maxDeaths = 12;
const seed = Number(process.env["TEST_SEED"] ?? 1);
const program = new URL("guard-pages/program.ts", import.meta.url).pathname;

interface Outcome {
  readonly counts: Readonly<Record<string, number>>;
  readonly problems: readonly string[];
}

/** Runs the requests from a number on, in a process that a wrong access ends. Returns what it prints, or the request that ended it. `missingBytes`: of the first operand. */
function run(
  first: number,
  progressPath: string,
  missingBytes: number = 0,
): Outcome | { readonly died: string; readonly number: number } {
  const args = ["--import", "tsx", program, String(seed), String(count), String(first), progressPath, String(missingBytes)];
  const { stdout, stderr, status, signal } = spawnSync(process.execPath, args, { encoding: "utf8" });
  if (status === 0) return JSON.parse(stdout) as Outcome;
  const current = readFileSync(progressPath, "utf8");
  if (signal === null) throw new Error(`${current}: ${stderr}`);
  return { died: `${signal}: ${current}`, number: Number.parseInt(current) };
}

const progressPath = join(tmpdir(), `guard-pages-${process.pid}`);
afterAll(() => rm(progressPath, { force: true }));

it("ends the process that reads one element too many", ({ skip }) => {
  const opened = openLevel("AVX2");
  if (typeof opened === "string") return skip(opened);
  expect(run(0, progressPath, 4)).toMatchObject({
    died: expect.stringMatching(/^SIG(?:SEGV|BUS): \d+ matmul at AVX2/) as string,
  });
});

it(`accesses no byte outside of its buffers: ${count} requests of each family`, { timeout: 7_200_000 }, ({ skip }) => {
  const opened = openLevel("AVX2");
  if (typeof opened === "string") return skip(opened);
  const problems: string[] = [];
  let outcome: ReturnType<typeof run> = { died: "", number: -1 };
  while ("died" in outcome && problems.length < maxDeaths) {
    outcome = run(outcome.number + 1, progressPath);
    problems.push(...("died" in outcome ? [outcome.died] : outcome.problems));
  }
  expect(problems).toEqual([]);
  const { counts } = outcome as Outcome;
  console.log(counts);
  const families = new Set(Object.keys(counts).map((name) => name.replace(/ at .*/, "")));
  expect(families).toEqual(new Set<string>(machineFamilies));
});
