// Runs the contenders one after the other, each in a process of its own, in an order that turns from round to round.
import { cores, watchLoad } from "../machine.mjs";
import { runInChild } from "../run-in-child.mjs";

const program = new URL("./contender.mjs", import.meta.url);
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
          const work = { contender, precision, threads: cores, kind, workload };
          const result = await runInChild(program, work, `${contender} (${precision}, ${kind})`);
          records.push({ contender, precision, kind, round, load: load(), ...result });
        }
      }
    }
  }
  return records;
}
