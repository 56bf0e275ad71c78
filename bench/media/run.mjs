// Pictures, pages and seconds of sound per second: Inferyard beside transformers.js and beside the Python originals on the same models and files, in one run:
// `npm run bench:media`. `-- --models FOLDER`: the packages' contents (rapidocr/models, whisper-base as a Hugging Face folder with
// ctranslate2 in it, and wave files in sounds); what is not there is left out by name. `-- --python PATH`: a Python with rapidocr and faster-whisper.
import "../measuring/built-package.mjs";
import { loadavg } from "node:os";
import { cores, describeLoad, describeMachine, watchLoad } from "../measuring/machine.mjs";
import { readOptions } from "../measuring/options.mjs";
import { runInChild } from "../measuring/run-in-child.mjs";
import { median, pairedRatios } from "../measuring/statistics.mjs";
import { formatTable } from "../measuring/table.mjs";
import { installPeers } from "../peers/install.mjs";
import { makeWorks } from "./works.mjs";

const program = new URL("./contender.mjs", import.meta.url);
const { quick = false, ...places } = readOptions({
  quick: { type: "boolean" },
  models: { type: "string" },
  python: { type: "string" },
});
const rounds = quick ? 1 : 5;
const quietLoad = 3;

installPeers();
const load = watchLoad();
const [loadBefore] = loadavg();
const { works, missing } = await makeWorks(places, quick);
const whats = new Map();
const rows = [];
for (const work of works) {
  const times = Object.fromEntries(work.contenders.map((contender) => [contender, []]));
  let { contenders } = work;
  const answers = {};
  for (let round = 0; round < rounds; round += 1) {
    for (const contender of round % 2 === 0 ? contenders : contenders.toReversed()) {
      console.error(`${work.name}, round ${round + 1} of ${rounds}: ${contender}`);
      const result = await run(contender, work);
      if (result === undefined) {
        contenders = contenders.filter((other) => other !== contender);
        continue;
      }
      whats.set(`${contender}, ${work.name}`, result.what);
      times[contender].push(median(result.milliseconds));
      answers[contender] = result.answers;
    }
  }
  const rate = (milliseconds) => ((work.amount / median(milliseconds)) * 1000).toPrecision(3);
  for (const other of contenders.slice(1)) {
    const ratio = pairedRatios(times[other], times.inferyard);
    const same = answers.inferyard.filter((answer, index) => answer === answers[other][index]).length;
    rows.push([
      work.name,
      work.unit,
      other,
      rate(times.inferyard),
      rate(times[other]),
      ratio.median.toFixed(2),
      `${ratio.min.toFixed(2)} to ${ratio.max.toFixed(2)}`,
      `${same} of ${answers.inferyard.length}`,
    ]);
  }
}
console.log(`${describeMachine()}\n${describeLoad(load())}`);
if (Math.max(loadBefore, loadavg()[0]) > quietLoad)
  console.log(
    `The machine was busy: a load of ${loadBefore.toFixed(1)} before. The figures show the order of things and settle nothing.`,
  );
for (const [contender, what] of whats) console.log(`${contender}: ${what}`);
for (const name of missing) console.log(`left out: ${name}`);
console.log(`${rounds} rounds; rates are medians\n`);
console.log(formatTable(["work", "unit", "beside", "ours/s", "theirs/s", "times as fast", "rounds", "same answers"], rows));

// Undefined for another program than ours that cannot run the model; its own message is on stderr.
async function run(contender, work) {
  try {
    return await runInChild(program, { contender, work, threads: cores, quick }, `${contender} (${work.name})`);
  } catch (error) {
    if (contender === "inferyard") throw error;
    missing.push(error.message);
    return undefined;
  }
}
