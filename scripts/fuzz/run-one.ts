/** Runs one input of a target: `node --import coverage/register.mjs run-one.ts TARGET FILE`. Exit status 1 if it fails. */
import { readFileSync } from "node:fs";
import { framesOf, outcomeOf } from "./oracle.ts";
import { targets } from "./targets.ts";

const [name = "", path = ""] = process.argv.slice(2);
const target = await targets[name]!();
const open = await target.open();
const [cpu, started] = [process.cpuUsage(), performance.now()];
const outcome = await outcomeOf(target, open, readFileSync(path));
const { user, system } = process.cpuUsage(cpu);
await open.close?.();
const took = `${Math.round((user + system) / 1000)} ms of processor time, ${Math.round(performance.now() - started)} ms, peak ${Math.round(process.resourceUsage().maxRSS / 1024)} MiB`;
if (typeof outcome === "string") console.log(`${outcome} (${took})`);
else {
  console.log(`${outcome.message}\n${framesOf(outcome)}\n(${took})`);
  process.exitCode = 1;
}
