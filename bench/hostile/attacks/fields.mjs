// Fields of ordinary requests with very many values, or values that are hard to read.
import { send, tally } from "../client.mjs";

const range = (count, at) => Array.from({ length: count }, (_, index) => at(index));
const path = "/v1/chat/completions";
const chat = (fields) => ({
  model: "chat",
  messages: [{ role: "user", content: "Hi" }],
  max_tokens: 200,
  ignore_eos: true,
  ...fields,
});
const embed = (input) => ["/v1/embeddings", { model: "builtin", input }];
const brackets = (count) => `{"model":"builtin","input":${"[".repeat(count)}${"]".repeat(count)}}`;

// By kind: path and body.
const kinds = {
  "100,000 brackets": ["/v1/embeddings", brackets(100_000)],
  "1,000,000 brackets": ["/v1/embeddings", brackets(1_000_000)],
  "100,000 objects in one another": [path, `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`],
  "a stop list of 10,000": [path, chat({ stop: range(10_000, (i) => `stop ${i}`) })],
  "a stop list that begins alike": [path, chat({ stop: range(2000, (i) => `${"a".repeat(300)}${i}`) })],
  "a stop text of 1 MB": [path, chat({ stop: ["a".repeat(1_000_000)] })],
  "100,000 biases": [path, chat({ logit_bias: Object.fromEntries(range(100_000, (i) => [i, -1])) })],
  "20,000 biases within the vocabulary": [path, chat({ logit_bias: Object.fromEntries(range(20_000, (i) => [i % 300, -1])) })],
  "10,000 bad words": [path, chat({ bad_words: range(10_000, (i) => `word ${i}`) })],
  "n of 5,000": [path, chat({ n: 5000 })],
  "n of 2^53": ["/v1/completions", { model: "chat", prompt: "a", n: 2 ** 53 - 1, best_of: 2 ** 53 - 1, max_tokens: 2 }],
  "best_of 5,000": ["/v1/completions", { model: "chat", prompt: "a", n: 1, best_of: 5000, max_tokens: 2 }],
  "2,000 prompts": ["/v1/completions", { model: "chat", prompt: range(2000, (i) => `a ${i}`), max_tokens: 16 }],
  "top_logprobs of 2^31": [path, chat({ logprobs: true, top_logprobs: 2 ** 31 })],
  "combining marks": embed(`a${"\u0301\u0323".repeat(200_000)}`),
  "a combining mark of each class": embed("\u0334\u0F71\u0345\u031B\u0327\u0301".repeat(100_000)),
  "lone surrogates": ["/v1/embeddings", `{"model":"builtin","input":"${"\\ud800".repeat(200_000)}"}`],
  "surrogates the wrong way round": ["/v1/embeddings", `{"model":"minilm","input":"${"\\udc00\\ud800".repeat(100_000)}"}`],
  "marks of direction": embed("\u202E\u200F\u2066".repeat(100_000)),
  "Hangul that decomposes": embed("\uAC01".repeat(300_000)),
  "letters that grow under NFKD": embed("\uFDFA".repeat(50_000)),
  "variation selectors": [path, chat({ messages: [{ role: "user", content: "a\uFE0F\u200D".repeat(100_000) }] })],
  "names that are inherited": [
    "/v1/embeddings",
    '{"model":"builtin","input":"a","__proto__":{"a":1},"constructor":{"prototype":{"b":1}}}',
  ],
  "a model called __proto__": ["/v1/embeddings", { model: "__proto__", input: "a" }],
  "numbers of 100,000 digits": ["/v1/embeddings", `{"model":"builtin","input":"a","dimensions":${"9".repeat(100_000)}}`],
  "an exponent": ["/v1/embeddings", '{"model":"builtin","input":"a","dimensions":1e400}'],
};

const rightly = new Set([200, 400, 404, 413, 422, 429]);

const fields = {
  name: "fields with very many values",
  async run({ server, keys, seconds }) {
    const answers = [];
    const slow = [];
    const ask = ([target, body]) =>
      send(server, { path: target, body: typeof body === "string" ? body : JSON.stringify(body), key: keys.attacker });
    for (const [kind, request] of Object.entries(kinds)) {
      const answer = await ask(request);
      answers.push(answer);
      if (answer.milliseconds > 3000 || !rightly.has(answer.status))
        slow.push(`${kind} ${answer.status} ${(answer.milliseconds / 1000).toFixed(1)} s`);
    }
    const until = performance.now() + seconds * 1000;
    const all = Object.values(kinds);
    const attacker = async (number) => {
      for (let round = number; performance.now() < until; round += 1) answers.push(await ask(all[round % all.length]));
    };
    await Promise.all(range(6, (number) => attacker(4 * number)));
    return {
      said: [tally(answers), ...slow].join("; "),
      wrong: answers.filter(({ status }) => ![...rightly, 503, 504].includes(status)).length,
    };
  },
};

// A small schema in each request, and never the same twice: nothing that is kept for a schema helps, and nothing of it may stay.
const schemas = {
  name: "a new schema in each of 10,000 requests",
  async run({ server, keys, seconds }) {
    const answers = [];
    let next = 0;
    const until = performance.now() + 2 * seconds * 1000;
    const attacker = async () => {
      while (next < 10_000 && performance.now() < until) {
        const name = `member${(next += 1)}`;
        const schema = { type: "object", properties: { [name]: { type: "integer" } }, required: [name] };
        const body = chat({
          max_tokens: 1,
          ignore_eos: false,
          response_format: { type: "json_schema", json_schema: { name: "s", schema } },
        });
        answers.push(await send(server, { path, body, key: keys.attacker }));
      }
    };
    await Promise.all(range(8, attacker));
    return { said: tally(answers), wrong: answers.filter(({ status }) => ![200, 400, 429, 503].includes(status)).length };
  },
};

export const values = [fields, schemas];
