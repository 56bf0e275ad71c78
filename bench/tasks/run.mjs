// Texts per second by task, Inferyard beside transformers.js on the same models and texts of mixed length, in one run: `npm run bench:tasks`,
// and with `-- --quick` a short run that shows the order of things but settles nothing.
import "../measuring/built-package.mjs";
import { cores, describeLoad, describeMachine, watchLoad } from "../measuring/machine.mjs";
import { readOptions } from "../measuring/options.mjs";
import { runInChild } from "../measuring/run-in-child.mjs";
import { installPeers } from "../peers/install.mjs";
import { median, pairedRatios } from "../measuring/statistics.mjs";
import { formatTable } from "../measuring/table.mjs";
import { makeTexts, tasks } from "./work.mjs";

const program = new URL("./contender.mjs", import.meta.url);
const contenders = ["inferyard", "transformers"];
const { quick = false } = readOptions({ quick: { type: "boolean" } });
const [rounds, calls] = quick ? [1, 1] : [3, 2];
const tolerance = 1e-3; // of logits: both run the same graph on the same engine, in other batches

installPeers();
const texts = makeTexts(quick);
const load = watchLoad();
const whats = new Map();
const rows = [];
for (const task of tasks) {
  const times = { inferyard: [], transformers: [] };
  let agreed = "";
  for (let round = 0; round < rounds; round += 1) {
    const answers = {};
    for (const contender of round % 2 === 0 ? contenders : contenders.toReversed()) {
      console.error(`${task.name}, round ${round + 1} of ${rounds}: ${contender}`);
      const work = { contender, task, threads: cores, texts, calls };
      const result = await runInChild(program, work, `${contender} (${task.name})`);
      whats.set(contender, result.what);
      times[contender].push(median(result.milliseconds));
      answers[contender] = result.answers;
    }
    agreed = agreement(answers.inferyard, answers.transformers);
  }
  const rate = (milliseconds) => ((texts.length / median(milliseconds)) * 1000).toFixed(0);
  const ratio = pairedRatios(times.transformers, times.inferyard);
  rows.push([
    task.name,
    task.model,
    rate(times.inferyard),
    rate(times.transformers),
    ratio.median.toFixed(2),
    `${ratio.min.toFixed(2)} to ${ratio.max.toFixed(2)}`,
    agreed,
  ]);
}
console.log(`${describeMachine()}\n${describeLoad(load())}`);
for (const [contender, what] of whats) console.log(`${contender}: ${what}`);
console.log(`${texts.length} texts of 8 to 150 tokens, ${rounds} rounds; texts per second are medians\n`);
console.log(formatTable(["task", "model", "ours/s", "theirs/s", "times as fast", "rounds", "same answers"], rows));

function agreement(ours, theirs) {
  const same = ours.filter((answer, index) => equal(answer, theirs[index])).length;
  return `${same} of ${ours.length}`;
}

function equal(a, b) {
  return typeof a === "number" ? Math.abs(a - b) <= tolerance : a === b;
}
