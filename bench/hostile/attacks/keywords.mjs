// Schemas whose cost is in other keywords than those of `constraints.mjs`, and their like in the fields of other protocols: each once, one after the other.
import { send, tally } from "../client.mjs";

const range = (count, at = (index) => index) => Array.from({ length: count }, (_, index) => at(index));

const members = (count, member) => Object.fromEntries(range(count, (index) => [`m${index}`, member(index)]));
const nested = (depth, wrap) => range(depth).reduce((schema, _each, index) => wrap(schema, index), { type: "integer" });
const schemas = {
  "patterns of names": { type: "object", patternProperties: Object.fromEntries(range(500, (i) => [`^(a|b)*${i}$`, {}])) },
  "a pattern for names": { type: "object", propertyNames: { pattern: "^(a|b)*a(a|b){14}$" } },
  "not within not": nested(400, (schema) => ({ not: schema })),
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  "conditions in a chain": nested(400, (schema, i) => ({ if: { const: i }, then: { const: `${i}` }, else: schema })),
  "products of allOf": { allOf: range(12, (i) => ({ anyOf: range(12, (j) => ({ type: "string", pattern: `^.{${i}}${j}` })) })) },
  "a tuple of 20,000": { type: "array", prefixItems: range(20_000, (i) => ({ const: i })) },
  "an enumeration of 60,000": { enum: range(60_000, (i) => `value ${(i * 7919) % 60_000}`) },
  "a long text": { type: "string", minLength: 100_000_000, maxLength: 100_000_001 },
  "a long array": { type: "array", items: { type: "array", minItems: 1e6, maxItems: 1e6 }, minItems: 1e6 },
  "arrays in arrays": nested(60, (items) => ({ type: "array", items, minItems: 2, maxItems: 60 })),
  "many multiples": { allOf: range(300, (i) => ({ type: "integer", multipleOf: i + 2 })) },
  "what an array contains": {
    type: "array",
    contains: { const: 1 },
    minContains: 50_000,
    maxContains: 90_000,
    uniqueItems: true,
  },
  "references around": {
    $ref: "#/$defs/a",
    $defs: { a: { anyOf: [{ $ref: "#/$defs/b" }] }, b: { anyOf: [{ $ref: "#/$defs/a" }] } },
  },
  "references that double": {
    $ref: "#/$defs/d0",
    $defs: Object.fromEntries(
      range(40, (i) => [`d${i}`, i === 39 ? {} : { prefixItems: range(2, () => ({ $ref: `#/$defs/d${i + 1}` })) }]),
    ),
  },
  "a constant of many levels": { const: JSON.parse(`${"[".repeat(60)}${"]".repeat(60)}`) },
  formats: {
    type: "object",
    properties: members(2000, (i) => ({ type: "string", format: ["date-time", "email", "uuid", "uri", "ipv6"][i % 5] })),
  },
  "a counted expression": { type: "string", pattern: "^((a{1,99}){1,99}){1,99}$" },
  "classes of all characters": {
    type: "string",
    pattern: `^(${range(300, (i) => String.raw`[\p{L}\p{N}]{1,${i + 1}}x`).join("|")})$`,
  },
};

const ask = [{ role: "user", content: "Hi" }];
// How protocols carry a schema.
const routes = {
  OpenAI: (schema) => [
    "/v1/chat/completions",
    { messages: ask, max_tokens: 8, response_format: { type: "json_schema", json_schema: { name: "s", schema } } },
  ],
  Ollama: (format) => ["/api/chat", { messages: ask, stream: false, options: { num_predict: 8 }, format }],
  Anthropic: (input_schema) => [
    "/v1/messages",
    {
      messages: ask,
      max_tokens: 8,
      tools: [{ name: "t", input_schema: { type: "object", properties: { x: input_schema } } }],
      tool_choice: { type: "any" },
    },
  ],
  "llama.cpp": (json_schema) => ["/completion", { prompt: "Hi", n_predict: 8, json_schema }],
};
const maxMs = 5000;
const rightly = new Set([200, 400, 413, 422, 429]);

async function each({ server, keys }) {
  const answers = [];
  const wrong = [];
  for (const [index, [kind, schema]] of Object.entries(schemas).entries())
    for (const name of [Object.keys(routes)[index % 4], Object.keys(routes)[(index + 2) % 4]]) {
      const [path, fields] = routes[name](schema);
      const answer = await send(server, {
        path,
        body: JSON.stringify({ model: "chat", ...fields }),
        key: keys.attacker,
        longestMs: 60_000,
      });
      answers.push(answer);
      if (!rightly.has(answer.status) || answer.milliseconds > maxMs)
        wrong.push(`${kind} (${name}): ${answer.status} after ${(answer.milliseconds / 1000).toFixed(1)} s`);
    }
  return { said: [tally(answers), ...wrong].join("; "), wrong: answers.filter(({ status }) => !rightly.has(status)).length };
}

export const keywords = [{ name: "other keywords, on other routes", run: each }];
