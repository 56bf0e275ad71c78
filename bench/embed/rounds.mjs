// Runs the contenders one after the other, each in a process of its own, in an order that turns from round to round.
import { fork } from "node:child_process";
import { cores, watchLoad } from "../machine.mjs";

export const contenders = ["raw", "inferyard", "transformers"];
export const precisions = ["fp32", "int8"];

// One record for each process that ran: what it was told, what it measured, and the load beside it.
export async function runRounds(workload, tell) {
  const records = [];
  for (const [kind, rounds] of [
    ["latency", workload.latencyRounds],
    ["bulk", workload.bulkRounds],
  ]) {
    for (let round = 0; round < rounds; round += 1) {
      tell(`${kind} work, round ${round + 1} of ${rounds}`);
      for (const precision of precisions) {
        for (let turn = 0; turn < contenders.length; turn += 1) {
          const contender = contenders[(turn + round) % contenders.length];
          const load = watchLoad();
          const result = await runInChild({ contender, precision, threads: cores, kind, workload });
          records.push({ contender, precision, kind, round, load: load(), ...result });
        }
      }
    }
  }
  return records;
}

function runInChild(task) {
  return new Promise((resolve, reject) => {
    const child = fork(new URL("./contender.mjs", import.meta.url), { serialization: "advanced" });
    let result;
    child.once("message", (message) => (result = message));
    child.once("error", reject);
    child.once("exit", (code, signal) => {
      if (code === 0 && result !== undefined) resolve(result);
      else reject(new Error(`${task.contender} (${task.precision}, ${task.kind}) ended with ${signal ?? `code ${code}`}`));
    });
    child.send(task);
  });
}
