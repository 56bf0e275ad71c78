// The quick suite on a machine that is busy, in random order: `npm run test:stress`. Twice as many processes as there are cores compute all the
// time, while the suite runs once for each of three seeds. Arguments are passed on to vitest: `npm run test:stress -- src/runtime`. With SEED=7 it
// runs with that seed alone. Exits with 1 where a seed fails, and names it.
import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";

const seeds = process.env.SEED === undefined ? [1, 2, 3] : [Number(process.env.SEED)];
const vitest = fileURLToPath(new URL("../../node_modules/vitest/vitest.mjs", import.meta.url));

// Each ends by itself when this process is gone: its standard input closes then.
const loop =
  "process.stdin.on('close', () => process.exit()).resume(); const spin = () => { for (const end = Date.now() + 50; Date.now() < end;); setImmediate(spin); }; spin();";
const loops = Array.from({ length: 2 * availableParallelism() }, () =>
  spawn(process.execPath, ["-e", loop], { stdio: ["pipe", "ignore", "inherit"] }),
);
const stop = () => loops.forEach((child) => child.kill("SIGKILL"));
process.on("exit", stop);
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(1));

const failed = [];
for (const seed of seeds) {
  console.log(`seed ${seed}, beside ${loops.length} busy loops`);
  const args = ["run", "--sequence.shuffle", `--sequence.seed=${seed}`, ...process.argv.slice(2)];
  const child = spawn(process.execPath, [vitest, ...args], { stdio: "inherit" });
  const code = await new Promise((resolve) => child.on("close", resolve));
  if (code !== 0) failed.push(seed);
}

console.log(
  failed.length === 0
    ? `passed with the seeds ${seeds.join(", ")}`
    : `failed with the seeds ${failed.join(", ")}; once more: SEED=${failed[0]} npm run test:stress`,
);
process.exit(failed.length === 0 ? 0 : 1);
