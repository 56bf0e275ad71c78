// ONNX files made to take all memory or all time (item 10), loads that nobody waits for, and runs that never end (item 4).
import { setTimeout as pause } from "node:timers/promises";
import { send, tally } from "../client.mjs";

const targets = ["native", "onnx:cpu"];

export const graphs = {
  name: "hostile ONNX files",
  items: "10",
  async run({ server, keys, names }) {
    const answers = [];
    for (const model of names.graphs.filter((name) => name !== "loop" && name !== "endless")) {
      const body = { inputs: [{ name: "x", datatype: "FP32", shape: [1], data: [1] }] };
      answers.push(
        await send(server, {
          path: `/v2/models/${model}/infer`,
          body,
          key: keys.attacker,
          headers: { "x-inferyard-target": "require=native" },
        }),
      );
    }
    return { said: tally(answers), wrong: answers.filter(({ status }) => status === -1).length };
  },
};

export const impatience = {
  name: "12 clients that leave an endless load",
  items: "4",
  async run({ server, keys, processes }) {
    const before = processes();
    const body = { inputs: [{ name: "x", datatype: "FP32", shape: [1], data: [1] }] };
    const answers = [];
    for (let count = 0; count < 12; count += 1) {
      const target = targets[count % targets.length];
      answers.push(
        send(server, {
          path: "/v2/models/endless/infer",
          body,
          key: keys.attacker,
          headers: { "x-inferyard-target": `require=${target}` },
          longestMs: 1500,
        }),
      );
      await pause(300);
    }
    await Promise.all(answers);
    await pause(6000);
    const left = processes() - before;
    return { said: `${tally(await Promise.all(answers))}; ${left} processes left`, wrong: left > 0 ? 1 : 0 };
  },
};

export const hang = {
  name: "runs that never end",
  items: "4",
  async run({ server, keys, processes, requestTimeoutMs }) {
    const body = (trips) => ({
      inputs: [
        { name: "x", datatype: "FP32", shape: [1], data: [1] },
        { name: "trips", datatype: "INT64", shape: [], data: [trips] },
      ],
    });
    const ask = (trips, target) =>
      send(server, {
        path: "/v2/models/loop/infer",
        body: body(trips),
        key: keys.attacker,
        headers: { "x-inferyard-target": `require=${target}` },
        longestMs: requestTimeoutMs + 15_000,
      });
    const honest = await Promise.all(targets.map((target) => ask(3, target)));
    const before = processes();
    const endless = await Promise.all(targets.map((target) => ask(2 ** 53 - 1, target)));
    await pause(2000);
    const again = await Promise.all(targets.map((target) => ask(3, target)));
    const wrong =
      endless.filter(({ status }) => status === -1 || status === 200).length +
      again.filter(({ status }) => status !== 200 && status !== 503).length;
    return {
      said: `before ${tally(honest)}; endless ${tally(endless)}; after ${tally(again)}; ${processes() - before} more processes`,
      wrong,
    };
  },
};
