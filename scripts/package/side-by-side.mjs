// Runs npm scripts, as many at a time as there are cores: `node scripts/package/side-by-side.mjs lint typecheck`. What each printed comes when it ends.
// Exits with 1 where one fails.
import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";

const waiting = process.argv.slice(2);
const failed = [];

async function work() {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    const started = performance.now();
    const { code, output } = await run(name);
    console.log(`${code === 0 ? "ok" : "FAILED"}  npm run ${name}  (${((performance.now() - started) / 1000).toFixed(0)} s)`);
    if (output.trim() !== "") console.log(output.trimEnd());
    if (code !== 0) failed.push(name);
  }
}

function run(name) {
  const child = spawn("npm", ["run", "--silent", name], {
    stdio: ["ignore", "pipe", "pipe"],
    shell: process.platform === "win32",
    env: { GOGC: "off", ...process.env }, // compiler and linter end before a collection pays: a quarter of their time, for an eighth more memory
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += String(chunk)));
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, output })));
}

await Promise.all(Array.from({ length: availableParallelism() }, work));
if (failed.length > 0) {
  console.error(`failed: ${failed.join(", ")}`);
  process.exitCode = 1;
}
