/** The built command `serve`: how it begins, how it ends, and what is left behind. */
import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { childrenOf, portIsFree } from "../fixtures/processes/child-processes.ts";
import { ServersHere } from "../fixtures/processes/server-here.ts";
import { type ServerProcess, ServerProcesses, embed, ready } from "../fixtures/processes/server-process.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";

const miniLm = `${sharedData}all-MiniLM-L6-v2`;
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
  it.each(["SIGTERM", "SIGINT"] as const)("ends with 0 by %s, and its port is free", async (signal) => {
    const server = await serve([]);
    await ready(server);
    expect((await embed(server, { input: "a" })).status).toBe(200);
    server.child.kill(signal);
    expect(await server.ended).toMatchObject({ code: 0, signal: null });
    expect(await portIsFree(server.port)).toBe(true);
  });

  it("finishes a request whose body is still on its way, tells who comes meanwhile, and then ends", async () => {
    const server = await serve([]);
    await ready(server);
    const body = '{"input":"slow"}';
    const socket = connect(server.port, "127.0.0.1");
    const head = `POST /api/embed HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
    socket.write(head + body.slice(0, 5));
    await fetch(`${server.url}/health/live`); // by now the head has been read
    server.child.kill("SIGTERM");
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

  it("waits no longer than drainTimeout for those who never finish, and says so", async () => {
    const server = await serve(["--drain-timeout", "200ms"]);
    await ready(server);
    const socket = connect(server.port, "127.0.0.1");
    socket.on("error", () => {});
    socket.write("POST /api/embed HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{");
    await fetch(`${server.url}/health/live`);
    server.child.kill("SIGTERM");
    const { code, stderr } = await server.ended;
    expect([code, stderr.includes("interrupted after drainTimeout")]).toEqual([0, true]);
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

  it("cuts off whoever sends too slowly", async () => {
    const server = await here.serve(["--headers-timeout", "300ms", "--body-timeout", "600ms"]);
    const statusOf = async (text: string): Promise<string> => {
      const socket = connect(server.port, "127.0.0.1");
      socket.write(text);
      const [answer] = (await once(socket, "data")) as [Buffer];
      return String(answer).split("\r\n")[0]!;
    };
    expect(await statusOf("POST /api/embed HTTP/1.1\r\nhost:")).toContain("408");
    const head = "POST /api/embed HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{";
    expect(await statusOf(head)).toContain("408");
    expect((await embed(server, { input: "a" })).status).toBe(200);
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
  const texts = Array.from({ length: 12 }, (_value, index) => `the text number ${index} `.repeat(12));

  const patience = { requestTimeout: "10m", drainTimeout: "10m" }; // a model's process has a low priority, and the machine may be busy

  it("finishes every request it has taken when SIGTERM comes, and leaves no child behind", async () => {
    const server = await serve(["--model", miniLm], patience);
    await ready(server);
    const children = childrenOf(server.child.pid!);
    expect(children.length).toBeGreaterThan(0);
    const requests = Array.from({ length: 4 }, (_value, request) =>
      embed(server, { input: texts.map((text) => text + request) }).then(async (response) => [
        response.status,
        await response.json(),
      ]),
    );
    await runningAre(server, requests.length);
    server.child.kill("SIGTERM");
    const answers = await Promise.allSettled(requests);
    expect(await server.ended).toMatchObject({ code: 0 });
    for (const answer of answers) {
      expect(answer).toMatchObject({ status: "fulfilled", value: [200, { embeddings: { length: texts.length } }] });
    }
    expect(children.filter(alive)).toEqual([]);
    expect(await portIsFree(server.port)).toBe(true);
  });

  it("answers every request or says that it may be sent again when a model's process is killed; the next one works", async () => {
    const patient = { others: { maxCrashes: 1000 } }; // else so many deaths would be a crash loop, which ends in refusals
    const server = await serve(["--model", miniLm, "--replicas", "1"], patience, patient);
    await ready(server);
    const [first] = childrenOf(server.child.pid!);
    const seen = { hit: false, end: false };
    const requests = Array.from({ length: 4 }, async (_value, request) => {
      const response = await embed(server, { input: texts.map((text) => text + request) });
      seen.hit ||= response.status === 503;
      return { status: response.status, body: await response.text() };
    });
    const all = Promise.all(requests).finally(() => (seen.end = true));
    while (!seen.hit && !seen.end) {
      for (const child of childrenOf(server.child.pid!)) process.kill(child, "SIGKILL");
      await new Promise((resolve) => setTimeout(resolve, 100)); // texts become tokens first: not every kill hits a run
    }
    const answers = await all;
    expect(answers.map(({ status }) => status)).toContain(503);
    for (const { status, body } of answers) {
      if (status === 200) continue;
      expect([status, JSON.parse(body)]).toMatchObject([503, { error: { code: "HOST_DIED", retryable: true } }]);
      expect(body).not.toContain(servers.folder);
    }
    expect((await embed(server, { input: "the next one" })).status).toBe(200);
    const children = childrenOf(server.child.pid!);
    server.child.kill("SIGTERM");
    expect(await server.ended).toMatchObject({ code: 0 });
    expect([first!, ...children].filter(alive)).toEqual([]);
  });
});
