// `keep_alive` of a client that may not unload: models of others stay loaded, and none is kept for ever. On a server without keys it unloads, and has when it answers.
import { send, tally } from "../client.mjs";

const written = [0, -1, "0", "0s", "-1", "9999999h", 1e300, "soon", null];
const bodies = (model, keep_alive) => [
  ["/api/generate", { model, keep_alive }],
  ["/api/chat", { model, keep_alive, messages: [] }],
  ["/api/generate", { model, keep_alive, prompt: "a", stream: false, options: { num_predict: 1 } }],
  ["/api/chat", { model, keep_alive, stream: false, messages: [{ role: "user", content: "a" }], options: { num_predict: 1 } }],
  ["/api/embed", { model: "minilm", keep_alive, input: "a" }],
  ["/api/embeddings", { model: "minilm", keep_alive, prompt: "a" }],
];

export const keepAlive = {
  name: "keep_alive of a reader",
  items: "6",
  async run({ server, keys, seconds, processes }) {
    const before = processes();
    const answers = [];
    let fewest = before;
    const until = performance.now() + seconds * 1000;
    const client = async (number) => {
      for (let round = number; performance.now() < until; round += 1) {
        const [path, body] = bodies("chat", written[round % written.length])[Math.floor(round / written.length) % 6];
        answers.push({ ...(await send(server, { path, body, key: keys.attacker })), unloads: body.keep_alive === 0 });
        fewest = Math.min(fewest, processes());
      }
    };
    await Promise.all(Array.from({ length: 8 }, (_, number) => client(number * 7)));
    const unloaded = answers.filter(({ status, text }) => status === 200 && text.includes('"unload"')).length;
    const failed = answers.filter(({ status }) => ![200, 400, 403, 413, 422, 429, 503].includes(status)).length;
    const said = `${tally(answers)}; ${unloaded} unloaded; ${before - fewest} processes ended`;
    return { said, wrong: failed + unloaded + Math.max(0, before - fewest) };
  },
};

/** On a server without keys, from a program of this machine: what answers "unload" has unloaded. */
export async function unloading(server) {
  const wrong = [];
  const loaded = async () => {
    const { text } = await send(server, { method: "GET", path: "/api/ps" });
    return JSON.parse(text).models.some(({ name }) => name.startsWith("chat"));
  };
  for (const [path, body] of bodies("chat", 0).slice(0, 4)) {
    await send(server, {
      path: "/api/generate",
      body: { model: "chat", prompt: "a", stream: false, options: { num_predict: 1 } },
    });
    const isLoaded = await loaded();
    const { status, text } = await send(server, { path, body: { ...body, stream: false } });
    const isEmpty = body.prompt === undefined && !(body.messages?.length > 0);
    if (!isLoaded || status !== 200 || (isEmpty && (!text.includes('"unload"') || (await loaded()))))
      wrong.push(`${String(path)} ${status} ${text.slice(0, 100)}`);
  }
  return { said: `keep_alive 0: ${wrong.length === 0 ? "unloads" : wrong.join("; ")}`, wrong: wrong.length };
}
