// One round: every contender in a fresh process, all alive at once, taking turns. Only one computes at a time.
import { once } from "node:events";
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { cores } from "../measuring/machine.mjs";
import { median } from "../measuring/statistics.mjs";

const program = fileURLToPath(new URL("./contender.mjs", import.meta.url));

// `modes`: pairs of contender and mode to measure. The record: milliseconds by contender and mode, vectors and memory by contender.
export async function runRound({ kind, precision }, modes, round, workload) {
  const names = [...new Set(modes.map(([contender]) => contender))];
  const turned = [...names.slice(round % names.length), ...names.slice(0, round % names.length)];
  const processes = [];
  try {
    for (const contender of turned) processes.push(await start(contender, precision, workload));
    const measured = kind === "bulk" ? measureBulk : measureCalls;
    const what = Object.fromEntries(processes.map((each) => [each.contender, each.what]));
    return { kind, precision, round, what, ...(await measured(processes, modes, workload)) };
  } finally {
    await Promise.all(processes.map(({ end }) => end()));
  }
}

// Slices of calls in turn, so that what else the machine does meets all contenders alike; the time of a mode is the median of all calls.
async function measureCalls(processes, modes, { slices }) {
  const wanted = new Set(modes.map(([, mode]) => mode));
  const [times, vectors] = [{}, {}];
  for (const [mode, texts, calls] of slices.works.filter(([name]) => wanted.has(name))) {
    for (const { ask } of processes) await ask({ measure: "calls", texts, calls: slices.warmUp });
    const milliseconds = new Map(processes.map(({ contender }) => [contender, []]));
    for (let slice = 0; slice < slices.count; slice += 1)
      for (const { contender, ask } of processes)
        milliseconds.get(contender).push(...(await ask({ measure: "calls", texts, calls })));
    for (const { contender, ask } of processes) {
      times[contender] = { ...times[contender], [mode]: median(milliseconds.get(contender)) };
      vectors[contender] = [...(vectors[contender] ?? []), ...(await ask({ measure: "vectors", texts }))];
    }
  }
  return { times, vectors };
}

async function measureBulk(processes, modes) {
  const [times, vectors, megabytes] = [{}, {}, {}];
  const wanted = new Set(modes.map((pair) => pair.join()));
  for (const { contender, ask } of processes) {
    for (const mode of warmUps[contender] ?? []) await ask({ measure: "bulk", mode });
    for (const mode of bulkModes[contender].filter((name) => wanted.has([contender, name].join()))) {
      const answer = await ask({ measure: "bulk", mode });
      times[contender] = { ...times[contender], [mode]: answer.milliseconds };
      vectors[contender] = answer.vectors;
      megabytes[contender] = answer.megabytes;
    }
  }
  return { times, vectors, megabytes };
}

const bulkModes = {
  raw: ["sorted, 512 tokens"],
  inferyard: ["default"],
  native: ["default"],
  transformers: ["batches of 32", "one by one"],
};
const warmUps = { inferyard: ["default"], native: ["default"] }; // the first call loads the replicas

async function start(contender, precision, workload) {
  const child = fork(program, { serialization: "advanced" });
  const ended = once(child, "exit");
  const ask = async (message) => {
    child.send(message);
    const answer = await Promise.race([once(child, "message"), ended.then(() => undefined)]);
    if (answer === undefined) throw new Error(`${contender} (${precision}) ended early: ${child.signalCode ?? child.exitCode}`);
    return answer[0];
  };
  const end = async () => {
    if (child.connected) child.disconnect();
    await ended;
  };
  const { what } = await ask({ contender, precision, threads: cores, workload });
  return { contender, what, ask, end };
}
