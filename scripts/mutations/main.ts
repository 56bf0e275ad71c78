/**
 * Changes one token at a time in a copy of the engine (an operator, a constant, a sign, a bound, an instruction), and says which changes the checks see that
 * run when models are loaded, and which of the others the tests see.
 *
 *     npm run mutate -- --seed 1 --count 200 [--json] [--only src/engine/interpret] [--no-tests]
 *
 * The places are kernels, packing, decoders, the interpreter and lowering; `--seed` draws them. A mutant is killed by a check that fails, by an error, or by
 * taking ten times its time. The groups of checks that enter its block run first; a survivor is held against the unit tests of its folder. Exits with 1 where
 * the checks see less than nineteen twentieths, or a mutant survives the tests as well.
 */
import { execFile, spawn } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join, resolve } from "node:path";
import { parseArgs, promisify } from "node:util";
import { blockAt, type CodeBlock, findBlocks, withCounters } from "./blocks.ts";
import { equivalents } from "./equivalents.ts";
import { type Mutation, mutationsOf } from "./sites.ts";
import { readModules, writeModule } from "./source-copy.ts";

const root = resolve(import.meta.dirname, "../..");
/** Folders of what is changed. Machine code is left out: a wrong instruction ends the process. */
const folders = [
  "src/engine/codegen/wasm",
  "src/engine/lower",
  "src/engine/interpret",
  "src/formats/gguf/blocks",
  "src/formats/scaled-blocks",
];
const entry = "scripts/mutations/checks.ts";
/** Time limits of a run of checks: seconds of processor time, and milliseconds. */
const [processorTime, timeout] = [15, 300_000];

/** Who sees a mutant, and how. */
interface Verdict {
  readonly by: "checks" | "tests" | "nothing";
  readonly problem: string;
}
type Outcome = Mutation & Verdict;

const { values: options } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    count: { type: "string", default: "200" },
    only: { type: "string", default: "" },
    json: { type: "boolean", default: false },
    tests: { type: "boolean", default: true },
  },
  allowNegative: true,
});

const { seed, count, only, json, tests: runsTests } = options;
const modules = await readModules(root, entry);
const all = await findMutations();
const drawn = draw(all, Number(count), Number(seed));
await mkdir(join(root, "node_modules/.cache"), { recursive: true });
const folder = await mkdtemp(join(root, "node_modules/.cache/mutants-"));
const outcomes: Outcome[] = [];
try {
  const { blocks, groups } = await findBlocksOfGroups();
  const queue = drawn.entries();
  const work = async (_: unknown, index: number): Promise<void> => {
    const copy = join(folder, `copy-${index}`);
    await cp(join(folder, "original"), copy, { recursive: true });
    for (const [, mutation] of queue) {
      const outcome = { ...mutation, ...(await judge(mutation, copy, blocks.get(mutation.file) ?? [], groups)) };
      outcomes.push(outcome);
      if (!json) console.log(describe(outcome));
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
} finally {
  await rm(folder, { recursive: true });
}

const place = ({ file, line, before, after }: Mutation): object => ({ file, line, before, after });
const reasonOf = (each: Mutation): string | undefined =>
  equivalents.find(({ file, code }) => file === each.file && each.code.includes(code))?.reason;
const survivors = outcomes.filter(({ by }) => by === "nothing");
const equivalent = survivors.flatMap((each) => {
  const reason = reasonOf(each);
  return reason === undefined ? [] : [{ ...place(each), reason }];
});
const alive = survivors.filter((each) => reasonOf(each) === undefined).map(place);
const byTests = outcomes.filter(({ by }) => by === "tests").map(place);
const [killed, survived] = [outcomes.length - survivors.length, alive.length];
if (json) console.log(JSON.stringify({ killed, survived, equivalent, survivors: alive, killedByTests: byTests }));
else {
  const sum = `${killed} killed (${byTests.length} of them by tests alone), ${survived} survived, ${equivalent.length} equivalent`;
  console.log(`${sum}; drawn from ${all.length}`);
}
process.exitCode = survived > 0 || killed - byTests.length < 0.95 * (drawn.length - equivalent.length) ? 1 : 0;

/** All mutations of the folders, in an order that does not depend on the machine. */
async function findMutations(): Promise<readonly Mutation[]> {
  const files = folders
    .flatMap((each) => readdirSync(join(root, each), { recursive: true, encoding: "utf8" }).map((name) => `${each}/${name}`))
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts") && file.startsWith(only))
    .toSorted();
  const found = await Promise.all(files.map(async (file) => mutationsOf(file, await textOf(file))));
  return found.flat();
}

/** Draws `number` different mutations; the same for the same seed and the same sources (Marsaglia 2003, xorshift; Fisher and Yates). */
function draw(from: readonly Mutation[], number: number, start: number): readonly Mutation[] {
  const rest = [...from];
  let state = start ^ 0x9e3779b9 || 1;
  const random = (below: number): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
  return Array.from({ length: Math.min(number, rest.length) }, () => rest.splice(random(rest.length), 1)).flat();
}

async function textOf(file: string): Promise<string> {
  return modules.get(file) ?? (await readFile(join(root, file), "utf8"));
}

/** Writes the original, and finds out which blocks of the folders each group of checks enters. */
async function findBlocksOfGroups(): Promise<{
  readonly blocks: ReadonlyMap<string, readonly CodeBlock[]>;
  readonly groups: readonly ReadonlySet<number>[];
}> {
  const blocks = new Map<string, readonly CodeBlock[]>();
  const counting = join(folder, "counting");
  let next = 0;
  for (const [file, text] of modules) await writeModule(join(folder, "original"), file, text);
  await cp(join(folder, "original"), counting, { recursive: true });
  for (const [file, text] of modules) {
    const found = folders.some((each) => file.startsWith(`${each}/`)) ? findBlocks(text, next) : [];
    next += found.length;
    blocks.set(file, found);
    if (found.length > 0) await writeModule(counting, file, withCounters(text, found));
  }
  const counts = join(folder, "blocks.json");
  const problem = await runChecks(counting, ["--blocks", counts], 10 * processorTime);
  if (problem !== undefined) throw new Error(problem);
  const groups = (JSON.parse(await readFile(counts, "utf8")) as number[][]).map((each) => new Set(each));
  return { blocks, groups };
}

/** Holds a mutant against the checks, and against the tests where these see nothing. `copy`: a folder with the original, restored afterwards. */
async function judge(
  mutation: Mutation,
  copy: string,
  blocks: readonly CodeBlock[],
  groups: readonly ReadonlySet<number>[],
): Promise<Verdict> {
  const { file, start, before, after } = mutation;
  const text = await textOf(file);
  const block = blockAt(blocks, start);
  const enters = (group: ReadonlySet<number>): boolean =>
    block === undefined ? blocks.some(({ index }) => group.has(index)) : group.has(block);
  const covering = [...groups.keys()].filter((number) => enters(groups[number] ?? new Set()));
  const others = [...groups.keys()].filter((number) => !covering.includes(number));
  // Code outside of functions runs at every start, and results that are kept are computed by the first group alone.
  const isEntered = modules.has(file) && (block === undefined || covering.length > 0);
  if (isEntered) {
    await writeModule(copy, file, text.slice(0, start) + after + text.slice(start + before.length));
    try {
      for (const numbers of [covering, others]) {
        if (numbers.length === 0) continue;
        const problem = await runChecks(copy, numbers.map(String), processorTime);
        if (problem !== undefined) return { by: "checks", problem };
      }
    } finally {
      await writeModule(copy, file, text);
    }
  }
  const problem = runsTests ? await runTests(mutation) : undefined;
  if (problem !== undefined) return { by: "tests", problem };
  return { by: "nothing", problem: isEntered ? "" : "no check enters it" };
}

/** Runs checks of a copy, and returns what they find, or how they ended. */
async function runChecks(copy: string, args: readonly string[], seconds: number): Promise<string | undefined> {
  const module = join(copy, entry.replace(/\.ts$/, ".js"));
  const limited = ["-c", `ulimit -t ${seconds}; exec "$0" "$@"`, process.execPath, module, ...args];
  const child = spawn("/bin/sh", limited, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  const timer = setTimeout(() => child.kill("SIGKILL"), timeout);
  const [code] = (await once(child, "close")) as [number | null];
  clearTimeout(timer);
  if (code === 0) return undefined;
  if (code === null) return "it was ended after its time";
  const lines = output.trim().split("\n");
  return lines.find((line) => /:/.test(line) && !line.startsWith("file:")) ?? `exit ${code}`;
}

/** Runs the unit tests of the mutant's folder, and of the operators that the engine computes with it. Returns the first that fails. */
async function runTests({ file, start, before, after }: Mutation): Promise<string | undefined> {
  const tests = [dirname(file), ...(file.startsWith("src/engine/") ? ["src/engine/onnx/operators"] : [])].map(
    (each) => `${each}/`,
  );
  const config = join(import.meta.dirname, "vitest.config.ts");
  const args = ["vitest", "run", ...tests, "--project", "unit", "--bail", "1", "--config", config, "--reporter", "dot"];
  const changed = JSON.stringify({ file: join(root, file), start, before, after });
  const environment = { ...process.env, MUTATION: changed, NO_COLOR: "1" };
  try {
    await promisify(execFile)("npx", [...args, "--passWithNoTests", "--maxWorkers", "1"], {
      cwd: root,
      env: environment,
      timeout,
    });
    return undefined;
  } catch (error) {
    const { stdout = "", stderr = "", message } = error as { stdout?: string; stderr?: string; message: string };
    return /FAIL +(.*)/.exec(stdout + stderr)?.[1] ?? message.split("\n")[0];
  }
}

function describe({ by, problem, file, line, before, after, code }: Outcome): string {
  const verdict = { checks: "killed  ", tests: "TESTS   ", nothing: "SURVIVED" }[by];
  return `${verdict} ${file}:${line} ${before} -> ${after} in \`${code.slice(0, 90)}\`${problem === "" ? "" : ` (${problem.slice(0, 90)})`}`;
}
