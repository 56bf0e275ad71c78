/**
 * Changes one token at a time in a copy of the engine (an operator, a constant, a sign, a bound, an instruction), and says which changes the checks see that
 * run when models are loaded.
 *
 *     npm run mutate -- --seed 1 --count 200 [--json] [--only src/engine/interpret]
 *
 * The places are kernels, packing, decoders, the interpreter and lowering; `--seed` draws them. A mutant is killed by a check that fails, by an error, or by
 * taking over a minute. Exits with 1 where more than a twentieth survive.
 */
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { rolldown } from "rolldown";
import { equivalents } from "./equivalents.ts";
import { type Mutation, mutationsOf } from "./sites.ts";

const root = resolve(import.meta.dirname, "../..");
/** Folders of what is changed. Machine code is left out: it is asked for by name, and a wrong instruction ends the process. */
const folders = [
  "src/engine/codegen/wasm",
  "src/engine/lower",
  "src/engine/interpret",
  "src/formats/gguf/blocks",
  "src/formats/scaled-blocks",
];
const timeout = 60_000;

interface Outcome extends Mutation {
  readonly killedBy: string | undefined;
}

const { values: options } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    count: { type: "string", default: "200" },
    only: { type: "string", default: "" },
    json: { type: "boolean", default: false },
  },
});

const { seed, count, only, json } = options;
const all = await findMutations();
const drawn = draw(all, Number(count), Number(seed));
const folder = await mkdtemp(join(tmpdir(), "inferyard-mutants-"));
const outcomes: Outcome[] = [];
try {
  const problem = await findProblem(undefined, 0);
  if (problem !== undefined) throw new Error(`the checks fail without a mutation: ${problem}`);
  const queue = drawn.entries();
  const work = async (): Promise<void> => {
    for (const [index, mutation] of queue) {
      const outcome = { ...mutation, killedBy: await findProblem(mutation, index + 1) };
      outcomes.push(outcome);
      if (!json) console.log(describe(outcome));
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
} finally {
  await rm(folder, { recursive: true });
}

const alive = outcomes.filter(({ killedBy }) => killedBy === undefined);
const place = ({ file, line, before, after }: Mutation): object => ({ file, line, before, after });
const reasonOf = (each: Mutation): string | undefined =>
  equivalents.find(({ file, code }) => file === each.file && each.code.includes(code))?.reason;
const equivalent = alive.flatMap((each) => {
  const reason = reasonOf(each);
  return reason === undefined ? [] : [{ ...place(each), reason }];
});
const survivors = alive.filter((each) => reasonOf(each) === undefined).map(place);
const [killed, survived] = [outcomes.length - alive.length, survivors.length];
if (json) console.log(JSON.stringify({ killed, survived, equivalent, survivors }));
else console.log(`${killed} killed, ${survived} survived, ${equivalent.length} equivalent; drawn from ${all.length}`);
process.exitCode = survived > drawn.length / 20 ? 1 : 0;

/** All mutations of the folders, in an order that does not depend on the machine. */
async function findMutations(): Promise<readonly Mutation[]> {
  const files = folders
    .flatMap((each) => readdirSync(join(root, each), { recursive: true, encoding: "utf8" }).map((name) => `${each}/${name}`))
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts") && file.startsWith(only))
    .toSorted();
  const found = await Promise.all(files.map(async (file) => mutationsOf(file, await readFile(join(root, file), "utf8"))));
  return found.flat();
}

/** Draws `number` different mutations; the same for the same seed and the same sources (Marsaglia 2003, xorshift; Fisher and Yates). */
function draw(from: readonly Mutation[], number: number, start: number): readonly Mutation[] {
  const rest = [...from];
  let state = (start ^ 0x9e3779b9) | 1;
  const random = (below: number): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
  return Array.from({ length: Math.min(number, rest.length) }, () => rest.splice(random(rest.length), 1)).flat();
}

/** What the checks say of a mutant; undefined if they find nothing. Without a mutation: what they say of the sources as they are. */
async function findProblem(mutation: Mutation | undefined, index: number): Promise<string | undefined> {
  const file = join(folder, `${index}.mjs`);
  try {
    await bundle(mutation, file);
  } catch (error) {
    return `it is not built: ${String(error).split("\n")[0]}`;
  }
  try {
    return await runChecks(file);
  } finally {
    await rm(file, { force: true });
  }
}

/** Bundles the checks with one token changed. */
async function bundle(mutation: Mutation | undefined, file: string): Promise<void> {
  const changed = mutation === undefined ? undefined : join(root, mutation.file);
  const build = await rolldown({
    input: join(import.meta.dirname, "checks.ts"),
    platform: "node",
    external: /^[^./]/,
    logLevel: "silent",
    plugins: [
      {
        name: "mutate",
        load(id) {
          if (mutation === undefined || id !== changed) return undefined;
          const text = readFileSync(id, "utf8");
          return text.slice(0, mutation.start) + mutation.after + text.slice(mutation.start + mutation.before.length);
        },
      },
    ],
  });
  await build.write({ file, format: "esm", codeSplitting: false });
  await build.close();
}

async function runChecks(file: string): Promise<string | undefined> {
  const child = spawn(process.execPath, [file], { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  const timer = setTimeout(() => child.kill("SIGKILL"), timeout);
  const [code] = (await once(child, "close")) as [number | null];
  clearTimeout(timer);
  if (code === 0) return undefined;
  if (code === null) return `it was ended after ${timeout / 1000} s`;
  return (
    output
      .trim()
      .split("\n")
      .find((line) => /:/.test(line)) ?? `exit ${code}`
  );
}

function describe({ killedBy, file, line, before, after, code }: Outcome): string {
  const verdict = killedBy === undefined ? "SURVIVED" : "killed  ";
  return `${verdict} ${file}:${line} ${before} -> ${after} in \`${code.slice(0, 90)}\`${killedBy === undefined ? "" : ` (${killedBy.slice(0, 90)})`}`;
}
