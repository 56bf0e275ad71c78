// Requests of attackers: whole ones, and bytes on a socket. `localAddress`: the address that an attacker has (127.0.0.x).
import { request } from "node:http";
import { connect } from "node:net";

// Resolves with the status and at most 100 kB of the answer; with status 0 where the connection broke, and -1 after `longestMs`.
export function send({ url }, { method = "POST", path, body, headers = {}, key, localAddress, longestMs = 60_000, signal }) {
  return new Promise((resolve) => {
    const began = performance.now();
    const done = (status, text = "", answered = {}) => {
      clearTimeout(timer);
      resolve({ status, text, headers: answered, milliseconds: performance.now() - began });
    };
    const timer = setTimeout(() => {
      done(-1);
      asked.destroy();
    }, longestMs);
    const content = body === undefined || typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body);
    const length = content === undefined ? {} : { "content-length": Buffer.byteLength(content) };
    const type = content === undefined ? {} : { "content-type": "application/json" };
    const authorization = key === undefined ? {} : { authorization: `Bearer ${key}` };
    const asked = request(`${url}${path}`, {
      method,
      agent: false,
      localAddress,
      signal,
      headers: { ...type, ...length, ...authorization, ...headers },
    });
    asked.once("error", () => done(0));
    asked.once("response", (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part) => {
        if (text.length < 100_000) text += part;
      });
      response.once("end", () => done(response.statusCode, text, response.headers));
      response.once("error", () => done(0));
      response.once("close", () => done(0));
    });
    asked.end(content);
  });
}

// A connection that has written these bytes and does nothing more. `close()` ends it.
export function hold({ port }, bytes, { read = false, localAddress } = {}) {
  const socket = connect({ port, host: "127.0.0.1", localAddress });
  socket.on("error", () => {});
  if (!read) socket.pause();
  socket.write(bytes);
  return { socket, close: () => socket.destroy(), closed: () => socket.destroyed };
}

export function head(method, path, { key, length, headers = {} } = {}) {
  const lines = [`${method} ${path} HTTP/1.1`, "host: localhost"];
  if (key !== undefined) lines.push(`authorization: Bearer ${key}`);
  if (length !== undefined) lines.push("content-type: application/json", `content-length: ${length}`);
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
  return `${lines.join("\r\n")}\r\n\r\n`;
}

// "200 x3, 413 x40", the most frequent first.
export function tally(answers) {
  const counts = new Map();
  for (const { status } of answers) {
    const name = status === 0 ? "cut" : status === -1 ? "no answer" : String(status);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts]
    .toSorted(([, a], [, b]) => b - a)
    .map(([name, count]) => `${name} x${count}`)
    .join(", ");
}
