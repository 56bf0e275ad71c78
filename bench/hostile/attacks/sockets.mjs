// Answers that nobody reads, bodies that do not end, and requests in a row on one connection (item 8).
import { setTimeout as pause } from "node:timers/promises";
import { head, hold, send, tally } from "../client.mjs";

const post = (path, body, key) => `${head("POST", path, { key, length: Buffer.byteLength(body) })}${body}`;

function connections(name, count, bytes) {
  return {
    name,
    items: "8",
    async run({ server, keys, seconds }) {
      const content = bytes(keys.attacker);
      const held = Array.from({ length: count }, () => hold(server, content));
      await pause(seconds * 1000);
      const closed = held.filter((one) => one.closed()).length;
      for (const one of held) one.close();
      return { said: `${count} connections, ${closed} closed by the server`, wrong: 0 };
    },
  };
}

const many = JSON.stringify({ model: "builtin", input: Array.from({ length: 4000 }, (_, at) => `text ${at}`) });

export const sockets = [
  connections("answers that nobody reads", 120, (key) => post("/v1/embeddings", many, key)),
  connections("1,000 requests in a row, unread", 20, (key) =>
    post("/v1/embeddings", JSON.stringify({ model: "builtin", input: Array(50).fill("a") }), key).repeat(1000),
  ),
  connections("bodies that stop half way", 40, (key) =>
    Buffer.concat([
      Buffer.from(head("POST", "/v2/models/builtin/infer", { key, length: 32_000_000 })),
      Buffer.alloc(31_000_000, 32),
    ]),
  ),
  connections("2,000 idle connections", 2000, () => ""),
];

export const amplification = {
  name: "the same output 50,000 times",
  items: "8",
  async run({ server, keys }) {
    const outputs = Array.from({ length: 50_000 }, () => ({ name: "embedding" }));
    const inputs = [{ name: "text", datatype: "BYTES", shape: [4], data: ["a", "b", "c", "d"] }];
    const body = JSON.stringify({ inputs, outputs });
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => send(server, { path: "/v2/models/builtin/infer", body, key: keys.attacker })),
    );
    const long = await send(server, {
      method: "GET",
      path: `/api/explain?model=builtin&prefer=${"x".repeat(12_000)}`,
      key: keys.attacker,
    });
    return {
      said: tally([...answers, long]),
      wrong: [...answers, long].filter(({ status }) => status === 200 || status === -1).length,
    };
  },
};
