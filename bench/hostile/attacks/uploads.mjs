// Forms of very many parts, pictures that are far larger than their bytes, and files and batches without end.
import { deflateSync } from "node:zlib";
import { send, tally } from "../client.mjs";

const range = (count, at = (index) => index) => Array.from({ length: count }, (_, index) => at(index));
const boundary = "----hostile";
const type = `multipart/form-data; boundary=${boundary}`;

function form(parts) {
  const one = ({ name, value, file }) =>
    `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${file === undefined ? "" : `; filename="${file}"`}\r\n\r\n${value}\r\n`;
  return Buffer.from(`${parts.map(one).join("")}--${boundary}--\r\n`, "latin1");
}

const upload = (server, key, value, purpose = "batch") =>
  send(server, {
    path: "/v1/files",
    body: form([
      { name: "purpose", value: purpose },
      { name: "file", value, file: "a.jsonl" },
    ]),
    headers: { "content-type": type },
    key,
  });

// A PNG of one colour (PNG specification, third edition, section 11).
function png(width, height, rows = height) {
  const table = range(256, (index) => range(8).reduce((crc) => (crc & 1 ? 0xedb88320 ^ (crc >>> 1) : crc >>> 1), index));
  const checksum = (bytes) =>
    (bytes.reduce((crc, byte) => table[(crc ^ byte) & 255] ^ (crc >>> 8), 0xffffffff) ^ 0xffffffff) >>> 0;
  const chunk = (name, data) => {
    const head = Buffer.alloc(4);
    head.writeUInt32BE(data.length);
    const body = Buffer.concat([Buffer.from(name), data]);
    const tail = Buffer.alloc(4);
    tail.writeUInt32BE(checksum(body));
    return Buffer.concat([head, body, tail]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 0, 0, 0, 0], 8);
  const signature = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
  const data = deflateSync(Buffer.alloc((width + 1) * rows), { level: 9 });
  return Buffer.concat([signature, chunk("IHDR", header), chunk("IDAT", data), chunk("IEND", Buffer.alloc(0))]);
}

const svg = Buffer.from(
  `<?xml version="1.0"?><!DOCTYPE a [<!ENTITY a "a">${range(20, (i) => `<!ENTITY a${i + 1} "${`&a${i || ""};`.repeat(10)}">`).join("")}]><svg>&a20;</svg>`,
);

const forms = {
  name: "forms of very many parts, and pictures that grow",
  async run({ server, keys, seconds }) {
    const bodies = [
      form(range(50_000, (i) => ({ name: `part${i}`, value: "" }))),
      form(range(5000, (i) => ({ name: "file", value: "a", file: `${i}.png` }))),
      form([{ name: "a".repeat(1_000_000), value: "a" }]),
      Buffer.from(`--${boundary}\r\n`.repeat(200_000)),
      Buffer.from(`${"\r\n".repeat(1_000_000)}--${boundary}--`),
      form(range(1000, () => ({ name: "image", value: "a".repeat(2000), file: "../../etc/passwd" }))),
    ];
    const asForms = bodies.flatMap((body) =>
      ["/api/classify", "/v1/files", "/v1/audio/transcriptions"].map((path) => ({
        path,
        body,
        headers: { "content-type": type },
      })),
    );
    const pictures = [png(30_000, 30_000, 300), png(65_535, 1000), png(1, 60_000), png(7000, 7000), svg];
    const asPictures = pictures.map((bytes) => ({
      path: "/api/classify",
      body: { model: "vision", images: range(8, () => ({ url: `data:image/png;base64,${bytes.toString("base64")}` })) },
    }));
    const answers = [];
    const asked = [...asForms, ...asPictures].map((one) => ({ ...one, key: keys.attacker }));
    const until = performance.now() + seconds * 1000;
    for (const one of asked) answers.push(await send(server, one));
    while (performance.now() < until) answers.push(...(await Promise.all(asked.map((one) => send(server, one)))));
    const wrong = answers.filter(({ status }) => status === 200 || status === -1 || status === 500);
    return { said: tally(answers), wrong: wrong.length };
  },
};

const line = (index, body) => JSON.stringify({ custom_id: `r${index}`, method: "POST", url: "/v1/embeddings", body });

const batches = {
  name: "files and batches without end",
  async run({ server, keys, seconds }) {
    const key = keys.attacker;
    const create = (input_file_id) =>
      send(server, {
        path: "/v1/batches",
        body: { input_file_id, endpoint: "/v1/embeddings", completion_window: "24h" },
        key,
      });
    const until = performance.now() + seconds * 1000;
    const files = [];
    const uploads = await Promise.all([
      upload(server, key, range(50_000, (i) => line(i, { model: "builtin", input: `a ${i}` })).join("\n")),
      upload(server, key, "{}\n".repeat(1_000_000)),
      upload(server, key, `{"custom_id":"a","body":${"[".repeat(100_000)}${"]".repeat(100_000)}}`),
      upload(server, key, "a".repeat(3_000_000)),
      upload(
        server,
        key,
        line(0, { model: "builtin", input: range(4000, (i) => `a ${i}`) })
          .concat("\n")
          .repeat(50),
      ),
    ]);
    files.push(...uploads.filter(({ status }) => status === 200).map(({ text }) => JSON.parse(text).id));
    const made = [];
    while (performance.now() < until) {
      made.push(...(await Promise.all(files.flatMap((id) => [create(id), create(id), create(id), create(id)]))));
      uploads.push(...(await Promise.all(range(64, () => upload(server, key, "", "user_data")))));
      await send(server, { method: "GET", path: "/v1/files?limit=10", key });
      await send(server, { method: "GET", path: "/v1/batches?limit=10", key });
    }
    const ids = made.filter(({ status }) => status === 200).map(({ text }) => JSON.parse(text).id);
    const ended = [];
    for (const id of ids) ended.push(await send(server, { path: `/v1/batches/${id}/cancel`, body: {}, key }));
    const { text } = await send(server, { method: "GET", path: "/v1/files", key });
    for (const id of [...text.matchAll(/"id":"(file-[0-9a-f]+)"/g)].map(([, id]) => id))
      await send(server, { method: "DELETE", path: `/v1/files/${id}`, key });
    const right = new Set([200, 400, 413, 422, 429, 503]);
    const all = [...uploads, ...made];
    return {
      said: `files ${tally(uploads)}; batches ${tally(made)}; cancelled ${tally(ended)}`,
      wrong: all.filter(({ status }) => !right.has(status)).length,
    };
  },
};

export const uploads = [forms, batches];
