// Connections that send or read a byte at a time, or are closed on one side only.
import { setTimeout as pause } from "node:timers/promises";
import { head, hold, send, tally } from "../client.mjs";

const range = (count, at) => Array.from({ length: count }, (_, index) => at(index));
const embedding = (key, input = "a") => {
  const body = JSON.stringify({ model: "builtin", input });
  return `${head("POST", "/v1/embeddings", { key, length: Buffer.byteLength(body) })}${body}`;
};

// Opens connections from several addresses that each send one byte of `bytes` every `everyMs`.
function drip(name, { count, bytes, everyMs }) {
  return {
    name,
    async run({ server, keys, seconds }) {
      const content = bytes(keys.attacker);
      const held = range(count, (index) => hold(server, "", { localAddress: `127.0.0.${10 + (index % 8)}` }));
      const until = performance.now() + seconds * 1000;
      for (let sent = 0; performance.now() < until; sent += 1) {
        for (const { socket } of held) if (!socket.destroyed) socket.write(content[sent % content.length]);
        await pause(everyMs);
      }
      const closed = held.filter((one) => one.closed()).length;
      for (const one of held) one.close();
      return { said: `${count} connections, ${closed} closed by the server`, wrong: 0 };
    },
  };
}

const slowHeads = drip("1,000 slow heads", {
  count: 1000,
  everyMs: 200,
  bytes: () => `GET /health/live HTTP/1.1\r\nhost: localhost\r\nx-slow: ${"a".repeat(10_000)}`,
});
const slowBodies = drip("500 slow bodies", {
  count: 500,
  everyMs: 200,
  bytes: (key) => embedding(key, "a".repeat(10_000)),
});

// Whole requests, after which the client ends its side: each has its answer nevertheless.
const halfClosed = {
  name: "500 connections closed on one side",
  async run({ server, keys }) {
    const ask = (bytes) =>
      new Promise((resolve) => {
        const { socket } = hold(server, "", { read: true });
        let text = "";
        socket.setEncoding("latin1").on("data", (part) => (text += part));
        socket.once("close", () => resolve({ status: Number(text.match(/HTTP\/1\.1 [2-5]\d\d/)?.[0].slice(-3) ?? 0) }));
        socket.end(bytes);
        setTimeout(() => socket.destroy(), 20_000).unref();
      });
    const whole = await Promise.all(range(400, (index) => ask(embedding(keys.attacker, `text ${index}`))));
    const cut = await Promise.all(range(100, () => ask(embedding(keys.attacker, "a".repeat(1000)).slice(0, -500))));
    const lost = whole.filter(({ status }) => ![200, 429, 503].includes(status)).length;
    const answered = cut.filter(({ status }) => status === 200).length;
    return { said: `whole: ${tally(whole)}; cut: ${tally(cut)}`, wrong: lost + answered };
  },
};

// Streams of which one byte a second is read, from a socket that buffers little.
const slowReaders = {
  name: "64 streams read a byte a second",
  async run({ server, keys, seconds }) {
    const body = JSON.stringify({
      model: "chat",
      messages: [{ role: "user", content: "a cat" }],
      max_tokens: 8000,
      ignore_eos: true,
      stream: true,
    });
    const bytes = `${head("POST", "/v1/chat/completions", { key: keys.attacker, length: Buffer.byteLength(body) })}${body}`;
    const held = range(64, () => hold(server, bytes));
    const until = performance.now() + seconds * 1000;
    let read = 0;
    while (performance.now() < until) {
      for (const { socket } of held) read += socket.read(1)?.length ?? 0;
      await pause(1000);
    }
    for (const one of held) one.close();
    const after = await send(server, { path: "/v1/embeddings", body: { model: "builtin", input: "a" }, key: keys.attacker });
    return { said: `${read} bytes read; then ${after.status}`, wrong: after.status === 200 ? 0 : 1 };
  },
};

export const slow = [slowHeads, slowBodies, halfClosed, slowReaders];
