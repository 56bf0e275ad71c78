// Chat templates of hostile models that loop, double, indent, recurse and nest, asked for again and again, and a conversation of very many messages.
import { send, tally } from "../client.mjs";

const nested = "{% set ns = namespace(x=[1]) %}{% for i in range(26) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}";

// By the name of their model.
export const hostileTemplates = {
  "template-loops": "{% for a in range(10000) %}{% for b in range(10000) %}{% endfor %}{% endfor %}",
  "template-json": `${nested}{{ ns.x | tojson(indent=1000) }}`,
  "template-search":
    "{% set t = 'a' * 2000000 %}{% set p = 'a' * 1000000 ~ 'b' %}{% for i in range(1000) %}{{ p in t }}{{ t.split(p) | length }}{% endfor %}",
  "template-memory":
    "{% set ns = namespace(l=[]) %}{% for i in range(100000) %}{% set ns.l = ns.l + [messages | tojson] %}{% endfor %}",
};

const path = "/v1/chat/completions";
const question = [{ role: "user", content: "a" }];

export const templates = {
  name: "hostile chat templates",
  items: "4",
  async run({ server, keys, seconds }) {
    const ask = (model, messages) => send(server, { path, body: { model, messages, max_tokens: 1 }, key: keys.attacker });
    const answers = [];
    // One after the other at first: what loading them takes is another attack.
    for (const model of Object.keys(hostileTemplates)) answers.push(await ask(model, question));
    const end = performance.now() + seconds * 1000;
    while (performance.now() < end) {
      const round = Object.keys(hostileTemplates).flatMap((model) => Array.from({ length: 8 }, () => ask(model, question)));
      answers.push(...(await Promise.all(round)));
    }
    // What the server may do with these: refuse the model's template, or have no place or no time for the request, since slow templates share one thread.
    return { said: tally(answers), wrong: answers.filter(({ status }) => ![422, 429, 503, 504].includes(status)).length };
  },
};

export const conversations = {
  name: "conversations of very many messages",
  items: "4",
  async run({ server, keys, seconds }) {
    const roles = (index) => (index % 2 === 0 ? "user" : "assistant");
    const plain = Array.from({ length: 80_000 }, (_, index) => ({ role: roles(index), content: "a" }));
    const inParts = Array.from({ length: 25_000 }, (_, index) => ({
      role: roles(index),
      content: [{ type: "text", text: "a" }],
    }));
    const bodies = [plain, inParts].map((messages) => JSON.stringify({ model: "chat", messages, max_tokens: 1 }));
    const end = performance.now() + seconds * 1000;
    const answers = [];
    while (performance.now() < end)
      answers.push(...(await Promise.all(bodies.map((body) => send(server, { path, body, key: keys.attacker })))));
    return { said: tally(answers), wrong: answers.filter(({ status }) => status === -1 || status === 0 || status >= 500).length };
  },
};
