// Requests that are sent ahead on one connection (HTTP pipelining) by a client that reads: all are answered in their order, and beyond the limit one is refused with an answer.
import { hold, head } from "../client.mjs";

const post = (path, body, key) => `${head("POST", path, { key, length: Buffer.byteLength(body) })}${body}`;

// Resolves with the statuses of what was answered, and whether the answers have the order of the requests.
function readAll(server, requests, { chunkBytes = Infinity, longestMs = 30_000 } = {}) {
  return new Promise((resolve) => {
    const { socket } = hold(server, "", { read: true });
    let text = "";
    const done = () => {
      clearTimeout(timer);
      clearTimeout(quiet);
      socket.destroy();
      const statuses = [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
      const marks = [...text.matchAll(/mark-(\d+)-/g)].map(([, mark]) => Number(mark));
      resolve({ statuses, isInOrder: marks.every((mark, index) => index === 0 || mark >= marks[index - 1]) });
    };
    let quiet;
    const timer = setTimeout(done, longestMs);
    socket.setEncoding("latin1").on("data", (part) => {
      text += part;
      clearTimeout(quiet);
      quiet = setTimeout(done, 3000);
    });
    socket.once("close", done);
    const bytes = requests.join("");
    const write = (at) => {
      if (at >= bytes.length || socket.destroyed) return;
      socket.write(bytes.slice(at, at + chunkBytes));
      if (chunkBytes !== Infinity) setTimeout(() => write(at + chunkBytes), 5);
    };
    write(0);
  });
}

const embeds = (key, count, model = "builtin") =>
  Array.from({ length: count }, () => post("/v1/embeddings", JSON.stringify({ model, input: "a", dimensions: 2 }), key));
// The model's name is in the refusal, which tells the order.
const unknown = (key, count) =>
  Array.from({ length: count }, (_, mark) => post("/v1/embeddings", JSON.stringify({ model: `mark-${mark}-`, input: "a" }), key));
const chats = (key, count) =>
  Array.from({ length: count }, () =>
    post(
      "/v1/chat/completions",
      JSON.stringify({ model: "chat", messages: [{ role: "user", content: "a" }], max_tokens: 2, stream: true }),
      key,
    ),
  );

export const pipelining = {
  name: "requests sent ahead, read",
  items: "6",
  async run({ server, keys: { attacker: key } }) {
    const cases = {
      "120 embeddings": [embeds(key, 120), ({ statuses }) => statuses.length === 120 && statuses.every((each) => each === 200)],
      "120 in pieces": [
        embeds(key, 120),
        ({ statuses }) => statuses.length === 120 && statuses.every((each) => each === 200),
        { chunkBytes: 701 },
      ],
      "120 refusals": [unknown(key, 120), ({ statuses, isInOrder }) => statuses.length === 120 && isInOrder],
      "40 streams": [
        chats(key, 40),
        ({ statuses }) => statuses.length === 40 && statuses.every((each) => [200, 429].includes(each)),
      ],
      "120 of two models": [
        [...embeds(key, 60, "minilm"), ...embeds(key, 60)],
        ({ statuses }) => statuses.length === 120 && statuses.every((each) => each === 200),
      ],
      "400 embeddings": [embeds(key, 400), ({ statuses }) => statuses.length > 120 && statuses.at(-1) !== 500],
      "3,000 probes": [
        Array.from({ length: 3000 }, () => head("GET", "/health/live")),
        ({ statuses }) => statuses.length > 0 && statuses.every((each) => [200, 503].includes(each)),
      ],
    };
    const wrong = [];
    for (const [name, [requests, isRight, how]] of Object.entries(cases)) {
      const found = await readAll(server, requests, how);
      if (!isRight(found)) wrong.push(`${name}: ${found.statuses.length} answers, last ${found.statuses.at(-1)}`);
    }
    // The same on sixteen connections at once.
    const all = await Promise.all(Array.from({ length: 16 }, () => readAll(server, embeds(key, 120))));
    const answered = all.map(({ statuses }) => statuses.filter((status) => status === 200).length);
    if (answered.some((count) => count < 120)) wrong.push(`16 connections: ${answered.join(" ")} of 120`);
    return { said: wrong.length === 0 ? `${Object.keys(cases).length + 1} kinds` : wrong.join("; "), wrong: wrong.length };
  },
};
