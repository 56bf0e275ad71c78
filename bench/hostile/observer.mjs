// A well-behaved client on a thread of its own: it sends a short text to each model in turn, holds every answer against the library's vector or text,
// and keeps the time of each; of a stream, the time to its first token. From an address of its own (127.0.0.2), so that limits of an address do not mix it with the attackers.
import { Agent, request } from "node:http";
import { parentPort, workerData } from "node:worker_threads";

const { url, key, models, pauseMs, localAddress } = workerData;
const tolerance = 1e-5; // other batches, other last digits
const longestMs = 30_000;
const agent = new Agent({ keepAlive: true, maxSockets: models.length, localAddress });
let records = [];
const ending = new AbortController();

parentPort.on("message", (message) => {
  if (message === "end") ending.abort();
  else parentPort.postMessage({ take: records });
  records = [];
});

await Promise.all(models.map(client));
agent.destroy();
parentPort.close();

async function client({ name, text, vector, request: chat, answer }) {
  while (!ending.signal.aborted) {
    const began = performance.now();
    const asked = chat === undefined ? ask("/api/embed", { model: name, input: [text] }) : ask("/v1/chat/completions", chat);
    const { status, body, firstAt } = await asked;
    records.push({
      model: name,
      milliseconds: (chat === undefined ? performance.now() : firstAt) - began,
      outcome: chat === undefined ? outcomeOf(status, body, vector) : streamOutcome(status, body, answer),
      body: status === 200 ? "" : body.slice(0, 300),
    });
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

function outcomeOf(status, body, vector) {
  if (status !== 200) return String(status);
  const [found] = JSON.parse(body).embeddings;
  const isRight = found.length === vector.length && vector.every((value, index) => Math.abs(value - found[index]) <= tolerance);
  return isRight ? "right" : "wrong";
}

function streamOutcome(status, body, answer) {
  if (status !== 200) return String(status);
  const events = body.split("\n").filter((line) => line.startsWith("data: {"));
  const text = events.map((line) => JSON.parse(line.slice(6)).choices?.[0]?.delta?.content ?? "").join("");
  return text === answer ? "right" : `wrong text ${JSON.stringify(text.slice(0, 80))}`;
}

function ask(path, content) {
  return new Promise((resolve) => {
    const body = JSON.stringify(content);
    const headers = {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
      authorization: `Bearer ${key}`,
    };
    const asked = request(`${url}${path}`, { method: "POST", agent, headers, timeout: longestMs });
    const lost = (why) => resolve({ status: why, body: "", firstAt: performance.now() });
    asked.once("timeout", () => asked.destroy(new Error("timeout")));
    asked.once("error", ({ code, message }) => {
      // A connection at rest that the server closes at this very moment is asked again (Node.js, request.reusedSocket).
      if (asked.reusedSocket && code === "ECONNRESET") void ask(path, content).then(resolve);
      else lost(code ?? message);
    });
    asked.once("response", (response) => {
      let text = "";
      let firstAt;
      response.setEncoding("utf8").on("data", (part) => {
        text += part;
        if (firstAt === undefined && text.includes('"content":"{')) firstAt = performance.now();
      });
      response.once("end", () => resolve({ status: response.statusCode, body: text, firstAt: firstAt ?? performance.now() }));
      response.once("error", () => lost("cut"));
    });
    asked.end(body);
  });
}
