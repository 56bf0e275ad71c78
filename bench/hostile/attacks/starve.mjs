// One client that takes all of a language model: long answers, read and unread, more of them than run at once, and long prompts. What it costs others is the
// time to the first token of the client that streams beside.
import { setMaxListeners } from "node:events";
import { request } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { head, hold } from "../client.mjs";

const path = "/v1/chat/completions";
const answerOf = (content, tokens, index) =>
  JSON.stringify({
    model: "chat",
    messages: [{ role: "user", content }],
    max_tokens: tokens,
    temperature: 1,
    seed: index,
    ignore_eos: true,
    stream: true,
  });

// Reads an answer for as long as `signal` lets it. Resolves with its status (0: cut) and the bytes of it.
function readAnswer({ url }, key, body, signal) {
  return new Promise((resolve) => {
    let status = 0;
    let bytes = 0;
    const done = () => resolve({ status, bytes });
    const headers = {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
      authorization: `Bearer ${key}`,
    };
    const asked = request(`${url}${path}`, { method: "POST", agent: false, signal, headers });
    asked.once("error", done);
    asked.once("response", (response) => {
      status = response.statusCode;
      response.on("data", (part) => (bytes += part.length));
      response.once("end", done);
      response.once("error", done);
    });
    asked.end(body);
  });
}

function greedy(name, { count, content = "a cat", tokens = 12_000 }) {
  return {
    name,
    items: "32.3",
    async run({ server, keys, seconds }) {
      const ending = AbortSignal.timeout(seconds * 1000);
      setMaxListeners(count, ending);
      const answers = await Promise.all(
        Array.from({ length: count }, (_, index) =>
          readAnswer(server, keys.attacker, answerOf(`${content} ${index}`, tokens, index), ending),
        ),
      );
      const begun = answers.filter(({ bytes }) => bytes > 500).length;
      const bytes = answers.reduce((sum, answer) => sum + answer.bytes, 0);
      return {
        said: `${begun} of ${count} answers begun, ${Math.round(bytes / 1024)} kB read`,
        wrong: answers.filter(({ status }) => status !== 0 && status !== 200).length,
      };
    },
  };
}

const unread = {
  name: "64 answers of one client that nobody reads",
  items: "32.3",
  async run({ server, keys, seconds }) {
    const held = Array.from({ length: 64 }, (_, index) => {
      const body = answerOf("a cat", 12_000, index);
      return hold(server, head("POST", path, { key: keys.attacker, length: Buffer.byteLength(body) }) + body);
    });
    await pause(seconds * 1000);
    for (const { close } of held) close();
    return { said: "64 connections", wrong: 0 };
  },
};

export const starvation = [
  greedy("64 long answers of one client", { count: 64 }),
  greedy("300 long answers of one client", { count: 300 }),
  greedy("64 long prompts of one client", { count: 64, content: "a cat sits on the mat ".repeat(400), tokens: 1 }),
  unread,
];
