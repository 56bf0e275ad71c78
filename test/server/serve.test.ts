/** The built command `serve`: how it begins, how it ends, and what is left behind. */
import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { writePooledBert } from "../fixtures/models/pooled-bert.ts";
import { childrenOf, portIsFree } from "../fixtures/processes/child-processes.ts";
import { ServersHere } from "../fixtures/processes/server-here.ts";
import { type ServerProcess, ServerProcesses, embed, ready } from "../fixtures/processes/server-process.ts";
import { needsData } from "../fixtures/shared-data.ts";

const servers = new ServerProcesses();
const serve = servers.serve.bind(servers);
afterEach(() => servers.killAll());
afterAll(() => servers.remove());
const here = new ServersHere();
afterEach(() => here.endAll());
afterAll(() => here.remove());

/** Waits until so many requests run. */
async function runningAre({ url }: ServerProcess, count: number): Promise<void> {
  for (;;) {
    const text = await (await fetch(`${url}/metrics`)).text();
    if (text.includes(`inferyard_requests_running ${count}\n`)) return;
  }
}

const alive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

describe("serve with the built-in model", () => {
  it("ends with 0 by SIGINT, and its port is free", async () => {
    const server = await serve([]);
    await ready(server);
    expect((await embed(server, { input: "a" })).status).toBe(200);
    server.child.kill("SIGINT");
    expect(await server.ended).toMatchObject({ code: 0, signal: null });
    expect(await portIsFree(server.port)).toBe(true);
  });

  it("finishes a request whose body is still on its way, tells who comes meanwhile, and then ends", async () => {
    const server = await here.serve([], { drainTimeout: "10m" });
    await ready(server);
    const body = '{"input":"slow"}';
    const socket = connect(server.port, "127.0.0.1");
    const head = `POST /api/embed HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
    socket.write(head + body.slice(0, 5));
    await fetch(`${server.url}/health/live`); // by now the head has been read
    server.stop();
    let refused: Response | undefined;
    while (refused === undefined) {
      const response = await embed(server, { input: "new" });
      if (response.status !== 200) refused = response;
    }
    expect([refused.status, refused.headers.get("retry-after"), refused.headers.get("connection")]).toEqual([503, "1", "close"]);
    expect(await refused.json()).toMatchObject({ error: { code: "SHUTTING_DOWN", retryable: true } });
    expect((await fetch(`${server.url}/health/ready`)).status).toBe(503);
    socket.write(body.slice(5));
    const [answer] = (await once(socket, "data")) as [Buffer];
    expect(String(answer)).toMatch(/^HTTP\/1\.1 503 /); // it was not yet a request when the server began to end
    expect(await server.ended).toMatchObject({ code: 0 });
  });

  it("ends at once by a second signal", async () => {
    const server = await serve(["--drain-timeout", "1h"]);
    await ready(server);
    const socket = connect(server.port, "127.0.0.1");
    socket.on("error", () => {});
    socket.write("POST /api/embed HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{");
    await fetch(`${server.url}/health/live`);
    server.child.kill("SIGTERM");
    while ((await fetch(`${server.url}/health/ready`)).status !== 503);
    server.child.kill("SIGTERM");
    expect(await server.ended).toMatchObject({ code: null, signal: "SIGTERM" });
  });
});

describe("serve refuses to begin", () => {
  it.each([
    [
      "where others can reach it, without keys",
      ["--address", "0.0.0.0"],
      /can be reached by other machines, and no keys are set/,
    ],
    ["with a model that is not there", ["--model", "./nothing"], /no file or folder .\/nothing/],
    ["with one to preload that is not there", ["--preload", "./nothing"], /no file or folder .\/nothing/],
    ["with half of TLS", ["--tls-cert", "x.pem"], /without the other half/],
    ["with a file of keys that is not there", ["--keys-file", "keys.yaml"], /keysFile: keys.yaml cannot be read/],
  ])("%s", async (_what, args, words) => {
    const { code, stderr } = await here
      .serve(args)
      .then(({ ended }) => ended)
      .catch((error: Error) => ({ code: 1, stderr: error.message }));
    expect(code).not.toBe(0);
    expect(stderr).toMatch(words);
  });
});

const [skip, title] = needsData("serve with a model in a process of its own");
describe.skipIf(skip)(title, () => {
  const model = join(servers.folder, "small");
  beforeAll(() => writePooledBert(model));
  const patience = { requestTimeout: "10m", drainTimeout: "10m" }; // a model's process has a low priority, and the machine may be busy

  const sendAll = (server: ServerProcess): Promise<{ readonly status: number; readonly body: string }[]> =>
    Promise.all(
      ["a", "b", "c", "d"].map(async (input) => {
        const response = await embed(server, { input });
        return { status: response.status, body: await response.text() };
      }),
    );

  it("finishes every request it has taken when SIGTERM comes, and leaves no child behind", async () => {
    const server = await serve(["--model", model], patience);
    await ready(server);
    const children = childrenOf(server.child.pid!);
    expect(children.length).toBeGreaterThan(0);
    for (const child of children) process.kill(child, "SIGSTOP"); // until the signal has come
    const requests = sendAll(server);
    await runningAre(server, 4);
    server.child.kill("SIGTERM");
    while ((await fetch(`${server.url}/health/ready`)).status !== 503);
    for (const child of children) process.kill(child, "SIGCONT");
    for (const { status, body } of await requests)
      expect([status, JSON.parse(body)]).toMatchObject([200, { embeddings: { length: 1 } }]);
    expect(await server.ended).toMatchObject({ code: 0, signal: null });
    expect(children.filter(alive)).toEqual([]);
    expect(await portIsFree(server.port)).toBe(true);
  });

  it("answers every request or says that it may be sent again when a model's process is killed; the next one works", async () => {
    const patient = { others: { maxCrashes: 1000 } }; // else so many deaths would be a crash loop, which ends in refusals
    const server = await serve(["--model", model, "--replicas", "1"], patience, patient);
    await ready(server);
    const seen = new Set<number>();
    let answers: Awaited<ReturnType<typeof sendAll>> = [];
    // Texts become tokens first: a process may die before a run has reached it, and none is lost.
    while (!answers.some(({ status }) => status === 503)) {
      const children = childrenOf(server.child.pid!);
      for (const child of children) process.kill(child, "SIGSTOP");
      const requests = sendAll(server);
      await runningAre(server, 4);
      for (const child of children) process.kill(child, "SIGKILL");
      for (const child of children) seen.add(child);
      answers = await requests;
    }
    for (const { status, body } of answers) {
      if (status === 200) continue;
      expect([status, JSON.parse(body)]).toMatchObject([503, { error: { code: "HOST_DIED", retryable: true } }]);
      expect(body).not.toContain(servers.folder);
    }
    expect((await embed(server, { input: "the next one" })).status).toBe(200);
    const children = childrenOf(server.child.pid!);
    server.child.kill("SIGTERM");
    expect(await server.ended).toMatchObject({ code: 0 });
    expect([...seen, ...children].filter(alive)).toEqual([]);
  });
});
