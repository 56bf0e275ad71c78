// A thread of `measureSweep`: reads its share of the bytes whenever the number of the round changes.
import { parentPort, workerData } from "node:worker_threads";
import { createSweep } from "./sweep.mjs";

const { share, words } = workerData;
const sweep = createSweep(share);
parentPort.postMessage("ready");
for (let round = 1; ; round += 1) {
  Atomics.wait(words, 0, round - 1);
  sweep();
  Atomics.add(words, 1, 1);
}
