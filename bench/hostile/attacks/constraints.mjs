// Constraints that take long to compile, or much memory, or both: each kind once, and then all of them again and again, each with other names, so that
// nothing that was kept helps.
import { send, tally } from "../client.mjs";

const range = (count, at) => Array.from({ length: count }, (_, index) => at(index));
const object = (properties, more = {}) => ({ type: "object", properties, ...more });
const named = (count, prefix, of) => Object.fromEntries(range(count, (index) => [`${prefix}${index}`, of(index)]));
const integer = { type: "integer" };

function levels(depth, prefix) {
  return depth === 0 ? integer : object({ [`${prefix}a`]: levels(depth - 1, prefix), [`${prefix}b`]: levels(depth - 1, prefix) });
}

// By kind: the fields of a request, with names that begin with a prefix.
const kinds = {
  oneOf: (p) =>
    schema({ oneOf: range(800, (i) => object({ kind: { const: `${p}${i}` }, value: integer }, { required: ["kind"] })) }),
  "oneOf without a distinguishing member": (p) =>
    schema({
      oneOf: range(400, (i) => object({ [`${p}${i}`]: integer }, { required: [`${p}${i}`], additionalProperties: false })),
    }),
  "8,000 required members": (p) => required(8000, p),
  "40,000 required members": (p) => required(40_000, p),
  "24,000 optional members": (p) => schema(object(named(24_000, p, () => integer))),
  "30,000 optional members": (p) => schema(object(named(30_000, p, () => integer))),
  "40,000 rules in Lark's notation": (p) => ({
    guided_grammar: `start: ${p}0\n${range(40_000, (i) => `${p}${i}: "a" ${p}${i + 1} | "${i}"`).join("\n")}\n${p}40000: "b"`,
  }),
  "dependent members": (p) =>
    schema(
      object(
        named(1000, p, () => integer),
        { dependentRequired: named(1000, p, (i) => [`${p}${(i + 1) % 1000}`]) },
      ),
    ),
  "5,000 alternatives of objects": (p) =>
    schema({ anyOf: range(5000, (i) => object({ kind: { const: `${p}${i}` }, value: integer }, { required: ["kind"] })) }),
  "bounds of numbers": (p) =>
    schema(object(named(5000, p, (i) => ({ type: "integer", minimum: 1000 + i, maximum: 123_456_789 + i })))),
  "40,000 rules": (p) => ({
    guided_grammar: `root ::= ${p}0\n${range(40_000, (i) => `${p}${i} ::= "a" ${p}${i + 1} | "${i}"`).join("\n")}\n${p}40000 ::= "b"`,
  }),
  "10,000 choices": (p) => ({ guided_choice: range(10_000, (i) => `${p}${"x".repeat(200)}${(i * 7919) % 10_000}`) }),
  "14 levels": (p) => schema(levels(14, p)),
  "an expression": (p) => ({ guided_regex: `${p}(a|b|c)*a(a|b|c){1,14}${p}` }),
  expressions: (p) => schema(object(named(200, p, (i) => ({ type: "string", pattern: `^(a|b)*a(a|b){9}${i}$` })))),
  references: (p) => ({
    ...schema({
      $ref: `#/$defs/${p}0`,
      $defs: named(2000, p, (i) =>
        object({ x: { $ref: `#/$defs/${p}${(i + 1) % 2000}` }, y: { $ref: `#/$defs/${p}${(i * 7) % 2000}` } }),
      ),
    }),
  }),
  "an ambiguous grammar": (p) => ({
    guided_grammar: `root ::= a{1,60} "${p}"\na ::= b | b b | "x"*\nb ::= c | c c | [a-z]*\nc ::= "x" | "xx" | [x-z]{1,40}`,
  }),
};

function schema(given) {
  return { response_format: { type: "json_schema", json_schema: { name: "s", schema: given } } };
}

function required(count, prefix) {
  return schema(
    object(
      named(count, prefix, () => integer),
      { required: range(count, (index) => `${prefix}${index}`) },
    ),
  );
}

function requestOf(kind, prefix, key) {
  const body = { model: "chat", messages: [{ role: "user", content: "Hi" }], max_tokens: 8, ...kinds[kind](prefix) };
  return { path: "/v1/chat/completions", body: JSON.stringify(body), key, longestMs: 60_000 };
}

// What is refused says so with 400 or 413, who asks too much with 429: nothing else is right, and no answer stays away.
const rightly = new Set([200, 400, 413, 422, 429]);

async function each({ server, keys }) {
  const answers = [];
  const slow = [];
  for (const kind of Object.keys(kinds)) {
    const answer = await send(server, requestOf(kind, "m", keys.attacker));
    answers.push(answer);
    if (answer.milliseconds > 3000 || !rightly.has(answer.status))
      slow.push(`${kind} ${answer.status} ${(answer.milliseconds / 1000).toFixed(1)} s`);
  }
  return { said: [tally(answers), ...slow].join("; "), wrong: answers.filter(({ status }) => !rightly.has(status)).length };
}

async function flood({ server, keys, seconds }, abort) {
  const answers = [];
  const until = performance.now() + seconds * 1000;
  const attackers = range(8, async (attacker) => {
    for (let round = 0; performance.now() < until; round += 1) {
      const all = Object.keys(kinds);
      const request = requestOf(all[(attacker + round) % all.length], `n${attacker}x${round}y`, keys.attacker);
      const ending = new AbortController();
      if (abort) setTimeout(() => ending.abort(), 30 * (round % 40));
      answers.push(await send(server, { ...request, ...(abort ? { signal: ending.signal } : {}) }));
    }
  });
  await Promise.all(attackers);
  const lost = abort ? 0 : answers.filter(({ status }) => !rightly.has(status)).length;
  return { said: tally(answers), wrong: lost };
}

export const constraints = [
  { name: "constraints, one of each kind", run: each },
  { name: "constraints, eight at a time", run: (context) => flood(context, false) },
  { name: "constraints whose clients leave", run: (context) => flood(context, true) },
];
