// Runs npm scripts side by side: `node scripts/package/side-by-side.mjs lint typecheck`, as many at a time as there are cores. What each printed comes
// when it ends. A script after `--with` runs beside all of them from the start, in its own processes, and prints at once. Exits with 1 where one fails.
import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";

const { values, positionals } = parseArgs({ options: { with: { type: "string" } }, allowPositionals: true });
const waiting = [...positionals];
const failed = [];

async function work() {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) await report(name, { isShown: false });
}

async function report(name, { isShown }) {
  const started = performance.now();
  const { code, output } = await run(name, isShown);
  console.log(`${code === 0 ? "ok" : "FAILED"}  npm run ${name}  (${((performance.now() - started) / 1000).toFixed(0)} s)`);
  if (output.trim() !== "") console.log(output.trimEnd());
  if (code !== 0) failed.push(name);
}

function run(name, isShown) {
  const child = spawn("npm", ["run", "--silent", name], {
    stdio: ["ignore", isShown ? "inherit" : "pipe", isShown ? "inherit" : "pipe"],
    shell: process.platform === "win32",
    env: { GOGC: "off", ...process.env }, // compiler and linter end before a collection pays: a quarter of their time, for an eighth more memory
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk) => (output += String(chunk)));
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, output })));
}

// One lane of checks is enough beside a script that fills the cores itself.
const lanes = values.with === undefined ? availableParallelism() : Math.max(1, availableParallelism() - 1);
await Promise.all([
  ...(values.with === undefined ? [] : [report(values.with, { isShown: true })]),
  ...Array.from({ length: lanes }, work),
]);
if (failed.length > 0) {
  console.error(`failed: ${failed.join(", ")}`);
  process.exitCode = 1;
}
