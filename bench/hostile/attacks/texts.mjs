// Texts and token ids that tokenizers and chunkers take long over, and tokenizers made for that (item 5).
import { send, tally } from "../client.mjs";

const megabyte = 1_000_000;

export const texts = {
  name: "long texts for tokenizers",
  items: "5",
  async run({ server, keys }) {
    const cases = [
      ["/tokenize", { inputs: "word ".repeat((3.9 * megabyte) / 5) }],
      ["/tokenize", { inputs: "a".repeat(3.9 * megabyte) }],
      ["/decode", { ids: Array.from({ length: (3.9 * megabyte) / 5 }, () => 1037) }],
      ["/api/chunk", { input: "\u0301".repeat(1.9 * megabyte) }],
      ["/api/chunk", { input: "👨‍👩‍👧".repeat(0.2 * megabyte) }],
      ["/api/chunk", { input: "\n".repeat(3.9 * megabyte) }],
      ["/api/embed", { input: "word ".repeat((3.9 * megabyte) / 5), truncate: "cut" }],
    ];
    const bodies = cases.map(([path, body]) => ({ path, body: JSON.stringify(body), key: keys.attacker }));
    const answers = await Promise.all(bodies.flatMap((one) => [send(server, one), send(server, one)]));
    return { said: tally(answers), wrong: answers.filter(({ status }) => status === -1).length };
  },
};

export const tokenizers = {
  name: "hostile tokenizers",
  items: "5",
  async run({ server, keys, names }) {
    const input = `${"a".repeat(60_000)}!`;
    const asked = names.tokenizers.flatMap((model) => [
      { path: "/api/embed", body: { model, input, truncate: "cut" } },
      { path: "/api/embed", body: { model, input: `${"a".repeat(40)}!` } },
      { path: "/tokenize", body: { inputs: input }, headers: { "x-inferyard-model": model } },
      { path: "/api/chunk", body: { model, input } },
    ]);
    const answers = await Promise.all(asked.map((one) => send(server, { ...one, key: keys.attacker })));
    return { said: tally(answers), wrong: answers.filter(({ status }) => status === -1).length };
  },
};
