// Well-behaved clients on a thread of their own. One embeds a short text with each model in turn, one reads a chat as a stream, one a chat that a schema constrains, and one asks
// whether the server is healthy. Every answer is held against the library's. From an address of their own (127.0.0.2), so that limits of an
// address do not mix them with the attackers.
import { Agent, request } from "node:http";
import { parentPort, workerData } from "node:worker_threads";

const { url, key, models, chats, pauseMs, localAddress } = workerData;
const tolerance = 1e-5; // other batches, other last digits
const longestMs = 30_000;
// The period and the timeout of a careful probe; Kubernetes waits 1 s for an answer, on machines that nothing else uses.
const [healthPauseMs, healthTimeoutMs] = [250, 2000];
const agent = new Agent({ keepAlive: true, localAddress });
let records = [];
const ending = new AbortController();

parentPort.on("message", (message) => {
  if (message === "end") ending.abort();
  else parentPort.postMessage({ take: records });
  records = [];
});

await Promise.all([
  ...models.map((model) => repeat(pauseMs, () => embed(model))),
  ...chats.map((chat) => repeat(pauseMs, () => stream(chat))),
  ...["/health/live", "/health/ready"].map((path) => repeat(healthPauseMs, () => probe(path))),
]);
agent.destroy();
parentPort.close();

async function repeat(ms, once) {
  while (!ending.signal.aborted) {
    const record = await once(); // before `records` is read, which "take" replaces meanwhile
    records.push(record);
    await new Promise((resolve) => setTimeout(resolve, ms));
  }
}

async function embed({ name, text, vector }) {
  const began = performance.now();
  const { status, body } = await ask({ path: "/api/embed", content: { model: name, input: [text] } });
  const milliseconds = performance.now() - began;
  const isRight = () => {
    const [found] = JSON.parse(body).embeddings;
    return found.length === vector.length && vector.every((value, index) => Math.abs(value - found[index]) <= tolerance);
  };
  return recordOf(name, milliseconds, status, body, isRight);
}

// `milliseconds`: until the first part of the answer's text.
async function stream({ client, model, messages, tokens, fields, text }) {
  const began = performance.now();
  let first = Number.NaN;
  const content = { model, messages, max_tokens: tokens, temperature: 0, stream: true, ...fields };
  const { status, body } = await ask({ path: "/v1/chat/completions", content }, (soFar) => {
    if (Number.isNaN(first) && soFar.includes('"content":"') && textOf(soFar) !== "") first = performance.now() - began;
  });
  const milliseconds = Number.isNaN(first) ? performance.now() - began : first;
  return recordOf(client, milliseconds, status, body, () => body.endsWith("[DONE]\n\n") && textOf(body) === text);
}

function textOf(events) {
  return events
    .split("\n\n")
    .slice(0, -1) // the last is empty, or not complete
    .filter((event) => event.startsWith("data: {"))
    .map((event) => JSON.parse(event.slice(6)).choices?.[0]?.delta?.content ?? "")
    .join("");
}

async function probe(path) {
  const began = performance.now();
  const { status, body } = await ask({ method: "GET", path, timeoutMs: healthTimeoutMs });
  return recordOf("health", performance.now() - began, status, `${path} ${body}`, () => true);
}

function recordOf(client, milliseconds, status, body, isRight) {
  if (status !== 200) return { client, milliseconds, outcome: String(status), body: body.slice(0, 300) };
  return isRight()
    ? { client, milliseconds, outcome: "right", body: "" }
    : { client, milliseconds, outcome: "wrong", body: body.slice(-300) };
}

function ask({ method = "POST", path, content, timeoutMs = longestMs }, onText = () => {}) {
  return new Promise((resolve) => {
    const body = content === undefined ? "" : JSON.stringify(content);
    const headers = {
      ...(content === undefined ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(body) }),
      authorization: `Bearer ${key}`,
    };
    const asked = request(`${url}${path}`, { method, agent, headers });
    const late = setTimeout(() => asked.destroy(new Error("timeout")), timeoutMs);
    const done = (status, text) => {
      clearTimeout(late);
      resolve({ status, body: text });
    };
    asked.once("error", ({ code, message }) => {
      clearTimeout(late);
      // A connection at rest that the server closes at this very moment is asked again (Node.js, request.reusedSocket).
      if (asked.reusedSocket && code === "ECONNRESET") void ask({ method, path, content, timeoutMs }, onText).then(resolve);
      else done(code ?? message, "");
    });
    asked.once("response", (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part) => onText((text += part)));
      response.once("end", () => done(response.statusCode, text));
      response.once("error", () => done("cut", text));
    });
    asked.end(body);
  });
}
