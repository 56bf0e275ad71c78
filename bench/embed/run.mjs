// Raw onnxruntime-node, Inferyard (its default engine and its own) and transformers.js on the same MiniLM and the same texts: `npm run bench:embed`. A run takes at most four
// minutes, and ends as soon as every ratio is settled: its 95 % interval lies on one side of its aim, or is narrow. What is not settled by
// then is reported as that.
import "../measuring/built-package.mjs";
import { describeMachine, watchLoad } from "../measuring/machine.mjs";
import { readOptions } from "../measuring/options.mjs";
import { installPeers } from "../peers/install.mjs";
import { compare } from "./comparison.mjs";
import { contenders, groups, ratiosOf } from "./ratios.mjs";
import { formatReport } from "./report.mjs";
import { runRound } from "./rounds.mjs";
import { runSchedule } from "./schedule.mjs";
import { makeWorkload } from "./workload.mjs";

const seconds = 230; // ten are left for a round that takes longer than those before it

const { json = false } = readOptions({ json: { type: "boolean" } });
installPeers();
const workload = makeWorkload();
const started = performance.now();
const load = watchLoad();
const records = [];
await runSchedule({
  groups,
  seconds,
  now: () => performance.now(),
  ratiosOf: (group) => ratiosOf(group, records),
  runRound: async (group, open, round) => {
    console.error(`${group.kind}, ${group.precision}, round ${round + 1}: ${open.map(({ name }) => name).join("; ")}`);
    const modes = open.flatMap((ratio) => ratio.modes);
    records.push(await runRound(group, modes, round, workload));
  },
});
const result = {
  machine: describeMachine(),
  load: load(),
  minutes: (performance.now() - started) / 60_000,
  contenders: contenders.map((name) => ({
    name,
    what: records.find(({ what }) => what[name] !== undefined)?.what[name] ?? "did not run",
  })),
  comparison: compare(records),
};
console.log(json ? JSON.stringify(result, null, 2) : formatReport({ ...result, workload }));
