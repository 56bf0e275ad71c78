/**
 * `npm run fuzz`: changes inputs of parsers at random, keeps those that reach new code, and saves those that fail. CONTRIBUTING.md
 * ("Fuzzing") describes targets and options, docs/decisions/0016-fuzzing.md the choice of the fuzzer.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { framesOf } from "./oracle.ts";
import { type Report, superviseTarget } from "./supervise.ts";
import { targets } from "./targets.ts";

const { values } = parseArgs({
  options: {
    target: { type: "string", multiple: true, default: Object.keys(targets) },
    seconds: { type: "string", default: "60" },
    seed: { type: "string", default: String(Date.now() % 2 ** 32) },
    input: { type: "string" },
    minimize: { type: "boolean", default: false },
  },
});

const unknown = values.target.find((name) => !Object.hasOwn(targets, name));
if (unknown !== undefined) {
  console.error(`there is no target ${unknown}; the targets are ${Object.keys(targets).join(", ")}`);
  process.exit(2);
}
const seconds = Number(values.seconds);
const seed = Number(values.seed);
if (!(seconds > 0) || !Number.isSafeInteger(seed) || seed < 0) {
  console.error(`--seconds ${values.seconds} must be a number above 0, and --seed ${values.seed} a whole number from 0`);
  process.exit(2);
}

if (values.input !== undefined) runOne(values.target, values.input);
else if (values.minimize) for (const target of values.target) inChild(["minimize.ts", target]);
else await fuzz();

async function fuzz(): Promise<void> {
  console.log(`seed ${seed}, ${seconds} s for each target`);
  const reports: Report[] = [];
  for (const target of values.target) {
    const report = await superviseTarget({ target, seconds, seed, useFound: true });
    reports.push(report);
    console.log(`${target}: ${report.executions} executions, ${report.failures.length} failures`);
    for (const { path, command, ...failure } of report.failures)
      console.log(
        `\n${target}: ${failure.key}\n  ${failure.message}\n${framesOf(failure)}\n  saved as ${path}\n  run it again: ${command}\n`,
      );
  }
  console.table(
    Object.fromEntries(
      reports.map(({ target, executions, accepted, seconds: took, covered, edges, features, corpus, failures }) => [
        target,
        {
          executions,
          "per second": Math.round(executions / took),
          "accepted %": Math.round((100 * accepted) / Math.max(1, executions)),
          "edges reached": covered,
          "edges loaded": edges,
          features,
          corpus,
          failures: failures.length,
        },
      ]),
    ),
  );
  if (reports.some(({ failures }) => failures.length > 0)) process.exitCode = 1;
}

function runOne(names: readonly string[], path: string): void {
  const [target] = names;
  if (names.length !== 1 || target === undefined) {
    console.error("--input needs one --target");
    process.exit(2);
  }
  readFileSync(path); // a missing file is told here
  inChild(["run-one.ts", target, path]);
}

function inChild([script = "", ...rest]: readonly string[]): void {
  const inFuzz = (name: string): string => fileURLToPath(new URL(`./${name}`, import.meta.url));
  const flags = ["--max-old-space-size=1024", "--enable-source-maps", "--import", inFuzz("coverage/register.mjs")];
  const { status } = spawnSync(process.execPath, [...flags, inFuzz(script), ...rest], { stdio: "inherit" });
  if (status !== 0) process.exitCode = 1;
}
