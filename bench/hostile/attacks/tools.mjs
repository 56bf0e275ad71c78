// Tools that take long to compile, in every protocol that has them. The template of the model says how many there are and no more, so that no prompt is too long before
// anything is compiled.
import { send, tally } from "../client.mjs";

const range = (count, at) => Array.from({ length: count }, (_, index) => at(index));
const named = (count, prefix, of) => Object.fromEntries(range(count, (index) => [`${prefix}${index}`, of(index)]));
const object = (properties, more = {}) => ({ type: "object", properties, ...more });
const integer = { type: "integer" };

// By kind: the tools, with names that begin with a prefix.
const kinds = {
  "4,000 tools": (p) => range(4000, (i) => [`${p}${i}`, object({ x: integer })]),
  "25,000 tools": (p) => range(25_000, (i) => [`${p}${i}`, object({ x: integer })]),
  "2,000 tools that differ": (p) => range(2000, (i) => [`${p}${i}`, object({ [`a${i}`]: integer }, { required: [`a${i}`] })]),
  "names that begin alike": (p) => range(2000, (i) => [`${p}${"x".repeat(50)}${i}`, object({})]),
  "one tool of 20,000 parameters": (p) => [[p, object(named(20_000, p, () => integer))]],
  "parameters in alternatives": (p) =>
    range(50, (i) => [`${p}${i}`, { anyOf: range(100, (j) => object({ [`${p}${i}x${j}`]: integer })) }]),
  "dependent parameters": (p) => [
    [
      p,
      object(
        named(1000, p, () => integer),
        { dependentRequired: named(1000, p, (i) => [`${p}${(i + 1) % 1000}`]) },
      ),
    ],
  ],
  "expressions in parameters": (p) =>
    range(40, (i) => [`${p}${i}`, object({ [p]: { type: "string", pattern: `^(a|b)*a(a|b){10}${p}${i}$` } })]),
  "definitions that refer to each other": (p) => [
    [
      p,
      object(
        { x: { $ref: `#/$defs/${p}0` } },
        { $defs: named(2000, p, (i) => object({ next: { $ref: `#/$defs/${p}${(i * 7 + 1) % 2000}` }, [`y${i}`]: integer })) },
      ),
    ],
  ],
};

const model = "calls";
const messages = [{ role: "user", content: "Hi" }];
const functions = (tools) => tools.map(([name, parameters]) => ({ type: "function", function: { name, parameters } }));
const requests = [
  (tools) => ["/v1/chat/completions", { model, messages, max_tokens: 4, tools: functions(tools), tool_choice: "required" }],
  (tools) => [
    "/v1/chat/completions",
    {
      model,
      messages,
      max_tokens: 4,
      tools: functions(tools),
      tool_choice: { type: "function", function: { name: tools[0][0] } },
    },
  ],
  (tools) => [
    "/v1/messages",
    {
      model,
      messages,
      max_tokens: 4,
      tools: tools.map(([name, input_schema]) => ({ name, input_schema })),
      tool_choice: { type: "any" },
    },
  ],
  (tools) => [
    "/v1/responses",
    {
      model,
      input: "Hi",
      max_output_tokens: 16,
      tools: tools.map(([name, parameters]) => ({ type: "function", name, parameters })),
      tool_choice: "required",
    },
  ],
];

// What is refused says so with 400 or 413, who asks too much with 429.
const rightly = new Set([200, 400, 413, 422, 429]);

async function ask({ server, keys }, kind, prefix, request) {
  const [path, body] = request(kinds[kind](prefix));
  return send(server, { path, body: JSON.stringify(body), key: keys.attacker });
}

export const tools = [
  {
    name: "tools, one of each kind",
    items: "1",
    async run(context) {
      const answers = [];
      const slow = [];
      for (const [index, kind] of Object.keys(kinds).entries()) {
        const answer = await ask(context, kind, "m", requests[index % requests.length]);
        answers.push(answer);
        if (answer.milliseconds > 3000 || !rightly.has(answer.status))
          slow.push(`${kind} ${answer.status} ${(answer.milliseconds / 1000).toFixed(1)} s`);
      }
      return { said: [tally(answers), ...slow].join("; "), wrong: answers.filter(({ status }) => !rightly.has(status)).length };
    },
  },
  {
    name: "tools, eight at a time",
    items: "1",
    async run(context) {
      const answers = [];
      const until = performance.now() + context.seconds * 1000;
      const attacker = async (number) => {
        for (let round = number; performance.now() < until; round += 1) {
          const kind = Object.keys(kinds)[round % Object.keys(kinds).length];
          answers.push(await ask(context, kind, `n${number}x${round}y`, requests[round % requests.length]));
        }
      };
      await Promise.all(range(8, attacker));
      return { said: tally(answers), wrong: answers.filter(({ status }) => !rightly.has(status)).length };
    },
  },
];
