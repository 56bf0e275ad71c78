// Bytes that are no HTTP/1.1, or that two readers of HTTP would divide into requests differently (request smuggling).
import { setTimeout as pause } from "node:timers/promises";
import { head, hold } from "../client.mjs";

const smuggled = "GET /smuggled HTTP/1.1\r\nhost: localhost\r\n\r\n";
const post = (headers, body, key) =>
  `POST /v1/embeddings HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\n${headers}\r\n\r\n${body}`;
const json = '{"model":"builtin","input":"a"}';
const chunked = `${json.length.toString(16)}\r\n${json}\r\n0\r\n\r\n`;

// By name: bytes with a request inside that no reader may find. A server refuses each, or takes all of it as one request.
const shapes = (key) => ({
  "length and chunks": post(`content-length: ${json.length}\r\ntransfer-encoding: chunked`, `0\r\n\r\n${smuggled}`, key),
  "chunks and length": post("transfer-encoding: chunked\r\ncontent-length: 4", `${chunked}${smuggled}`, key),
  "two lengths": post(`content-length: ${json.length}\r\ncontent-length: ${json.length + smuggled.length}`, json + smuggled, key),
  "two lengths in one": post(`content-length: ${json.length}, ${json.length + smuggled.length}`, json + smuggled, key),
  "a signed length": post(`content-length: +${json.length}`, json + smuggled, key),
  "a negative length": post("content-length: -1", json + smuggled, key),
  "a length beyond 2^64": post(`content-length: ${2n ** 64n + BigInt(json.length)}`, json + smuggled, key),
  "a hexadecimal length": post(`content-length: 0x${json.length.toString(16)}`, json + smuggled, key),
  "another coding": post("transfer-encoding: xchunked", `0\r\n\r\n${smuggled}`, key),
  "chunks that are not last": post("transfer-encoding: chunked, identity", `0\r\n\r\n${smuggled}`, key),
  "chunks twice": post("transfer-encoding: chunked\r\ntransfer-encoding: chunked", `${chunked}${smuggled}`, key).replace(
    chunked,
    `${chunked.length.toString(16)}\r\n${chunked}\r\n`,
  ),
  "a tab before chunked": post("transfer-encoding:\tchunked\r\ncontent-length: 3", `0\r\n\r\n${smuggled}`, key),
  "a space before the colon": post(`content-length : ${json.length}`, json + smuggled, key),
  "a folded header": post(`x-a: b\r\n content-length: ${json.length}`, json + smuggled, key),
  "a bare line feed": post(`x-a: b\ncontent-length: ${json.length}`, json + smuggled, key),
  "a bare carriage return": post(`x-a: b\rcontent-length: ${json.length}`, json + smuggled, key),
  "a zero byte": post(`x-a: b\0\r\ncontent-length: ${json.length}`, json + smuggled, key),
  "a chunk beyond 2^64": post("transfer-encoding: chunked", `ffffffffffffffff1\r\n${json}\r\n${smuggled}`, key),
  "a signed chunk": post("transfer-encoding: chunked", `-1\r\n${json}\r\n${smuggled}`, key),
  "a chunk with a space": post("transfer-encoding: chunked", `1 f\r\n${json}\r\n0\r\n\r\n${smuggled}`, key),
  "a chunk without its end": post("transfer-encoding: chunked", `5\r\n${json}XX0\r\n\r\n${smuggled}`, key),
});

// By name: bytes of other protocols, and heads without end.
const garbage = (key) => ({
  "an upgrade to WebSocket": `${head("GET", "/v1/embeddings", {
    key,
    headers: {
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
      "sec-websocket-version": "13",
    },
  })}${"\x81\xFE\xFF\xFF".repeat(50_000)}`,
  "an upgrade to h2c": head("GET", "/", {
    headers: { connection: "Upgrade, HTTP2-Settings", upgrade: "h2c", "http2-settings": "AAMAAABk" },
  }),
  "the preface of HTTP/2": `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${"\0".repeat(10_000)}`,
  "TLS without TLS": `\x16\x03\x01\x02\x00\x01\x00\x01\xFC\x03\x03${"\0".repeat(500)}`,
  CONNECT: "CONNECT 127.0.0.1:22 HTTP/1.1\r\nhost: 127.0.0.1:22\r\n\r\n",
  TRACE: head("TRACE", "/v1/embeddings", { key }),
  "an absolute address": "GET http://169.254.169.254/latest/meta-data/ HTTP/1.1\r\nhost: localhost\r\n\r\n",
  "HTTP/0.9": "GET /health/live\r\n",
  "50,000 headers": head("GET", "/health/live", {
    headers: Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`x-${i}`, "a"])),
  }),
  "a header of 10 MB": head("GET", "/health/live", { headers: { "x-long": "a".repeat(10_000_000) } }),
  "an address of 10 MB": head("GET", `/${"a".repeat(10_000_000)}`, {}),
  "extensions of chunks": post("transfer-encoding: chunked", `1;${"x=y;".repeat(500_000)}\r\n{\r\n`, key),
  "trailers without end": post("transfer-encoding: chunked", `${chunked.slice(0, -2)}${"x-trailer: a\r\n".repeat(200_000)}`, key),
  "chunks of one byte": post("transfer-encoding: chunked", "1\r\n \r\n".repeat(500_000), key),
  "an expectation": head("POST", "/v1/embeddings", { key, length: 10, headers: { expect: "200-maybe" } }),
});

// Resolves with the statuses of what was answered, the text, and whether the connection was closed within `longestMs`.
function exchange(server, bytes, longestMs = 5000) {
  return new Promise((resolve) => {
    const { socket } = hold(server, "", { read: true });
    let text = "";
    const done = (isClosed) => {
      clearTimeout(timer);
      socket.destroy();
      resolve({ statuses: [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status)), text, isClosed });
    };
    const timer = setTimeout(() => done(false), longestMs);
    socket.setEncoding("latin1").on("data", (part) => (text += part));
    socket.once("close", () => done(true));
    socket.write(Buffer.from(bytes, "latin1"));
  });
}

export const malformed = [
  {
    name: "requests that two readers divide differently",
    async run({ server, keys }) {
      const found = await Promise.all(
        Object.entries(shapes(keys.attacker)).map(async ([name, bytes]) => ({ name, ...(await exchange(server, bytes, 3000)) })),
      );
      const wrong = found.filter(({ statuses, text }) => text.includes("/smuggled") || statuses.length > 1);
      const names = wrong.map(({ name, statuses }) => `${name} ${statuses.join(" ")}`);
      return { said: [`${found.length} shapes`, ...names].join("; "), wrong: wrong.length };
    },
  },
  {
    name: "bytes that are no request",
    async run({ server, keys, seconds }) {
      const kinds = garbage(keys.attacker);
      const found = [];
      for (const [name, bytes] of Object.entries(kinds)) found.push({ name, ...(await exchange(server, bytes, 2000)) });
      const until = performance.now() + (seconds * 1000) / 2;
      while (performance.now() < until) {
        await Promise.all(Object.values(kinds).flatMap((bytes) => [exchange(server, bytes, 500), exchange(server, bytes, 500)]));
        await pause(10);
      }
      const wrong = found.filter(
        ({ statuses, text }) => statuses.some((status) => status === 101 || status >= 502) || text.includes("ami-id"),
      );
      const names = wrong.map(({ name, statuses }) => `${name} ${statuses.join(" ")}`);
      return { said: [`${found.length} kinds`, ...names].join("; "), wrong: wrong.length };
    },
  },
];
