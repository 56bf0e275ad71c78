// Clients of a server that is treated badly: honest ones, whose answers are held against the library's, and those that misbehave.
import { request } from "node:http";
import { connect } from "node:net";

const tolerance = 1e-5; // other batches, other last digits

// What came of one request: "right", "wrong", "retry" (a typed error that may be retried), "unreached" (no connection, or none that was
// taken), "other" (an error that is none of these), with its status and code.
export async function ask(url, { model, texts, expected }) {
  let answer;
  try {
    answer = await post(url, "/api/embed", { model, input: texts });
  } catch (error) {
    return { outcome: "unreached", code: error.code };
  }
  const { status, body } = answer;
  if (status === 200) {
    const right =
      body.embeddings?.length === texts.length && body.embeddings.every((vector, row) => !differs(vector, expected[row]));
    return { outcome: right ? "right" : "wrong", status };
  }
  const { code, retryable, message } = body.error ?? {};
  return { outcome: retryable === true ? "retry" : "other", status, code, message };
}

function differs(vector, golden) {
  return vector.length !== golden.length || golden.some((value, index) => !(Math.abs(value - vector[index]) <= tolerance));
}

// Each request has a connection of its own: whoever is refused has never been taken.
export function post(url, path, content) {
  return new Promise((resolve, reject) => {
    const asked = request(`${url}${path}`, { method: "POST", agent: false, headers: { "content-type": "application/json" } });
    asked.once("error", reject);
    asked.once("response", (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part) => (text += part));
      response.once("end", () => resolve({ status: response.statusCode, headers: response.headers, body: JSON.parse(text) }));
      response.once("error", reject);
    });
    asked.end(JSON.stringify(content));
  });
}

// Sends a whole request and leaves before the answer.
export function hangUp({ port }, body, afterMs) {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    const text = JSON.stringify(body);
    socket.on("error", () => {});
    socket.once("close", resolve);
    socket.write(`${head(Buffer.byteLength(text))}${text}`);
    setTimeout(() => socket.destroy(), afterMs);
  });
}

// Sends a part of a request and no more. Gives the first line of what the server says, "" where it only closes.
export function sendSlowly({ port }, part) {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    let said = "";
    socket.on("error", () => {});
    socket.on("data", (data) => (said += String(data)));
    socket.once("close", () => resolve(said.split("\r\n")[0]));
    socket.write(part === "head" ? "POST /api/embed HTTP/1.1\r\nhost: local" : `${head(1000)}{"input":"slo`);
  });
}

function head(length) {
  return `POST /api/embed HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`;
}
