// Raw onnxruntime-node, Inferyard and transformers.js on the same MiniLM and the same texts, in one run. `npm run bench:embed`, and with
// `-- --quick` a short run that shows the order of things but settles nothing.
import "../built-package.mjs";
import { describeMachine, watchLoad } from "../machine.mjs";
import { readOptions } from "../options.mjs";
import { compare } from "./comparison.mjs";
import { installPeers } from "../peers/install.mjs";
import { formatReport } from "./report.mjs";
import { contenders, runRounds } from "./rounds.mjs";
import { makeWorkload } from "./workload.mjs";

const { quick = false, json = false } = readOptions({ quick: { type: "boolean" }, json: { type: "boolean" } });
installPeers();
const workload = makeWorkload(quick);
const started = performance.now();
const load = watchLoad();
const records = await runRounds(workload, (line) => console.error(line));
const result = {
  machine: describeMachine(),
  load: load(),
  minutes: (performance.now() - started) / 60_000,
  contenders: contenders.map((name) => ({ name, what: records.find(({ contender }) => contender === name).what })),
  comparison: compare(records),
};
console.log(json ? JSON.stringify(result, null, 2) : formatReport({ ...result, workload }));
