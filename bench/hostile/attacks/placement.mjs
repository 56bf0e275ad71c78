// Many spellings of one placement, for one model (item 2), urgent requests without end (item 9), and models that are loaded by name in turn.
import { send, tally } from "../client.mjs";

const spellings = ["native", "native:cpu", "NATIVE", "native:auto", "native:cpu:0"];

export const placement = {
  name: "40 spellings of one target",
  items: "2",
  async run({ server, keys, processes }) {
    const before = processes();
    const answers = [];
    for (let count = 1; count <= 40; count += 1) {
      const target = `prefer=${Array.from({ length: count }, (_, at) => spellings[at % spellings.length]).join(",")}`;
      answers.push(
        await send(server, {
          path: "/api/embed",
          body: { model: "tiny", input: "a" },
          key: keys.attacker,
          headers: { "x-inferyard-target": target },
        }),
      );
    }
    const more = processes() - before;
    return { said: `${tally(answers)}; ${more} more processes`, wrong: more > 2 ? 1 : 0 };
  },
};

export const priority = {
  name: "64 urgent connections",
  items: "9",
  async run({ server, keys, seconds }) {
    const until = performance.now() + seconds * 1000;
    const text = "a sentence that keeps the model at work ".repeat(5);
    const answers = [];
    const connection = async (index) => {
      for (let count = 0; performance.now() < until; count += 1) {
        const body = { model: "minilm", input: [`${text} ${index} ${count}`] };
        answers.push(
          await send(server, { path: "/api/embed", body, key: keys.attacker, headers: { "x-inferyard-priority": "high" } }),
        );
      }
    };
    await Promise.all(Array.from({ length: 64 }, (_, index) => connection(index)));
    return { said: tally(answers), wrong: 0 };
  },
};

export const thrashing = {
  name: "24 models by name in turn",
  async run({ server, keys, names, seconds }) {
    const until = performance.now() + seconds * 1000;
    const answers = [];
    const connection = async (index) => {
      for (let count = index; performance.now() < until; count += 1) {
        const body = { model: names.copies[(count * 7) % names.copies.length], input: `a ${count}` };
        answers.push(await send(server, { path: "/api/embed", body, key: keys.attacker }));
      }
    };
    await Promise.all(Array.from({ length: 16 }, (_, index) => connection(index)));
    return { said: tally(answers), wrong: answers.filter(({ status }) => ![200, 429, 503, 504].includes(status)).length };
  },
};
