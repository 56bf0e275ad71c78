/** Uploads of strangers to a server in a process of its own: addresses, uploads that are cut off or too large, many parts. Nothing is fetched, and no file is left. */
import { type Server, createServer } from "node:http";
import { type Socket, connect } from "node:net";
import { mkdirSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { waveFile, writeSoundClassifier, writeVoiceDetector } from "../fixtures/models/sound-models.ts";
import { type ServerProcess, ServerProcesses } from "../fixtures/processes/server-process.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";

const [skip, title] = needsData("uploads of strangers");
describe.skipIf(skip)(title, () => {
  const servers = new ServerProcesses();
  const temporary = join(servers.folder, "temporary");
  const [vit, clip] = [`${sharedData}tiny-random-vit`, `${sharedData}tiny-random-clip`];
  let server: ServerProcess;
  /** A server that nobody is to ask, and what it was asked. */
  let canary: Server;
  let port: number;
  let connections = 0;
  let before: readonly string[];
  beforeAll(async () => {
    mkdirSync(temporary);
    writeSoundClassifier(join(servers.folder, "sounds"));
    writeVoiceDetector(join(servers.folder, "voice.onnx"));
    canary = createServer((_request, response) => response.writeHead(302, { location: "file:///etc/passwd" }).end());
    canary.on("connection", () => (connections += 1));
    canary.listen(0);
    await once(canary, "listening");
    ({ port } = canary.address() as AddressInfo);
    const settings = {
      models: { vit, clip, sounds: join(servers.folder, "sounds"), voice: join(servers.folder, "voice.onnx") },
      maxBodyBytes: 200_000,
      maxJsonBytes: 100_000,
    };
    server = await servers.serve([], settings, { environment: { TMPDIR: temporary } });
    // What running a model leaves in the folder for temporary files is there before the uploads.
    await send("/api/classify", form([picture], { model: "vit" }));
    before = readdirSync(temporary);
  });
  afterAll(() => {
    canary?.close();
    servers.killAll();
    servers.remove();
  });

  const picture = skip ? new Uint8Array() : new Uint8Array(readFileSync(`${vit}/small.png`));

  function form(files: readonly Uint8Array<ArrayBuffer>[], fields: Readonly<Record<string, string>>, name = "a.png"): FormData {
    const made = new FormData();
    for (const bytes of files) made.append("file", new Blob([bytes]), name);
    for (const [field, text] of Object.entries(fields)) made.append(field, text);
    return made;
  }

  async function send(path: string, body: FormData | object): Promise<{ readonly status: number; readonly text: string }> {
    const init =
      body instanceof FormData ? { body } : { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
    const response = await fetch(server.url + path, { method: "POST", ...init });
    return { status: response.status, text: await response.text() };
  }

  const places: readonly (readonly [path: string, body: (url: string) => object])[] = [
    ["/api/classify", (url) => ({ model: "vit", images: [{ url }] })],
    ["/api/read", (url) => ({ model: "vit", images: [{ url }] })],
    ["/api/embed", (url) => ({ model: "clip", input: [{ type: "image_url", image_url: { url } }] })],
    ["/v1/embeddings", (url) => ({ model: "clip", input: [{ image: url }] })],
    ["/v1/embeddings", (url) => ({ model: "clip", input: [url], modality: "image" })],
    ["/v2/embed", (url) => ({ model: "clip", images: [url] })],
    ["/v2/embed", (url) => ({ model: "clip", inputs: [{ content: [{ type: "image_url", image_url: { url } }] }] })],
    ["/api/detect-speech", (url) => ({ model: "voice", audio: url })],
    ["/api/classify-sound", (url) => ({ model: "sounds", audio: [url] })],
    ["/api/transcribe", (url) => ({ model: "voice", audio: url })],
    ["/v1/chat/completions", (url) => ({ messages: [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }] })],
  ];
  it("fetches no address and opens no file, whatever it is called", async () => {
    const addresses = [
      ...["127.0.0.1", "localhost", "[::1]", "2130706433", "0x7f000001", "127.1", "0"].map(
        (host) => `http://${host}:${port}/a.png`,
      ),
      `HTTP://LOCALHOST:${port}/`,
      ` http://127.0.0.1:${port}/`,
      `https://user@127.0.0.1:${port}/`,
      `gopher://127.0.0.1:${port}/_`,
      "http://169.254.169.254/latest/meta-data/",
      "file:///etc/passwd",
      "FILE:/etc/passwd",
      "blob:http://localhost/1",
      "ftp://localhost/a.png",
      `data:text/plain,http://127.0.0.1:${port}/`,
      `data:text/html;base64,aHR0cDovLzEyNy4wLjAuMS8=`,
    ];
    const answers = await Promise.all(
      places.flatMap(([path, body]) => addresses.map(async (url) => [path, url, (await send(path, body(url))).status] as const)),
    );
    expect(answers.filter(([, , status]) => status !== 400)).toEqual([]);
    expect(connections).toBe(0);
  });

  it("says the limit in bytes and the setting of a body that is too large", async () => {
    const large = await send("/api/classify", form([new Uint8Array(200_001)], { model: "vit" }));
    expect([large.status, large.text]).toEqual([413, expect.stringMatching(/200000 bytes.*maxBodyBytes/)]);
    const url = `data:image/png;base64,${"A".repeat(150_000)}`;
    const json = await send("/v1/embeddings", { model: "clip", input: [{ image: url }] });
    expect([json.status, json.text]).toEqual([413, expect.stringMatching(/100000 bytes.*maxJsonBytes/)]);
    const stream = new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(50_000)) }); // without an end
    const headers = { "content-type": "multipart/form-data; boundary=x" };
    const endless = await fetch(`${server.url}/api/detect`, {
      method: "POST",
      headers,
      body: stream,
      duplex: "half",
    });
    expect([endless.status, await endless.text()]).toEqual([413, expect.stringContaining("200000 bytes")]);
  });

  it("takes a hundred parts, and refuses more than there may be", async () => {
    const many = await send(
      "/api/classify",
      form(
        Array.from({ length: 100 }, () => picture),
        { model: "vit", top_k: "1" },
      ),
    );
    expect([many.status, (JSON.parse(many.text) as { classifications: unknown[] }).classifications.length]).toEqual([200, 100]);
    const more = await send(
      "/api/classify",
      form(
        Array.from({ length: 1025 }, () => new Uint8Array(1)),
        { model: "vit" },
      ),
    );
    expect([more.status, more.text]).toEqual([413, expect.stringContaining("1024")]);
  });

  /** Sends the beginning of a request and closes the connection. */
  async function cut(path: string, type: string, body: string, length: number): Promise<void> {
    const socket: Socket = connect(server.port, "127.0.0.1");
    await once(socket, "connect");
    socket.on("error", () => undefined);
    const head = `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: ${type}\r\ncontent-length: ${length}\r\n\r\n`;
    await new Promise((written) => socket.write(head + body, written));
    socket.destroy();
    await once(socket, "close");
  }

  it("outlives uploads that are cut off or damaged, and writes no file", async () => {
    const part = 'content-disposition: form-data; name="file"; filename="../../../../tmp/owned.png"\r\n\r\n';
    const sound = Buffer.from(waveFile(8000, new Float32Array(2000))).toString("base64");
    const multipart = "multipart/form-data; boundary=x";
    await Promise.all([
      cut("/api/classify", multipart, `--x\r\n${part}${"a".repeat(5000)}`, 100_000),
      cut("/api/transcribe", multipart, `--x\r\n${part}`, 150_000),
      cut("/api/detect-speech", "application/json", `{"model":"voice","audio":"${sound}`, 90_000),
      cut("/v1/audio/transcriptions", multipart, "--x", 1000),
    ]);
    const damaged = [
      `--x\r\n${part}abc`,
      `--y\r\n${part}abc\r\n--y--\r\n`,
      "--x--",
      "\r\n",
      `--x\r\ncontent-disposition: form-data\r\n\r\nabc\r\n--x--\r\n`,
    ];
    for (const body of damaged) {
      const response = await fetch(`${server.url}/api/classify`, {
        method: "POST",
        headers: { "content-type": multipart },
        body,
      });
      expect([body, response.status]).toEqual([body, 400]);
    }
    // The name of a file is a name, and no place to write to.
    const named = await send("/api/classify", form([picture], { model: "vit" }, "../../../../etc/passwd"));
    expect(named.status).toBe(200);
    const heard = await send(
      "/api/classify-sound",
      form([waveFile(8000, new Float32Array(800))], { model: "sounds" }, "/etc/shadow"),
    );
    expect(heard.status).toBe(200);
    expect(readdirSync(temporary)).toEqual(before);
    expect(
      readdirSync(servers.folder)
        .filter((name) => name !== "home")
        .toSorted(),
    ).toEqual(["settings.yaml", "sounds", "temporary", "voice.onnx"]);
    expect((await fetch(`${server.url}/health`)).status).toBe(200);
  });
});
