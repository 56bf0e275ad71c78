/** The built command `health` beside the built command `serve`: its exit code is what a container's health check reads. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { type CommandResult, inferyard } from "../fixtures/processes/command-line.ts";
import { ServersHere } from "../fixtures/processes/server-here.ts";
import { ready } from "../fixtures/processes/server-process.ts";

const servers = new ServersHere();
afterEach(() => servers.endAll());
afterAll(() => servers.remove());

const health = (args: readonly string[], environment: Record<string, string> = {}): Promise<CommandResult> =>
  inferyard(["health", ...args], { directory: servers.folder, environment });

/** The port of a server of something else; it answers one request. */
async function otherServer(body: string): Promise<number> {
  const other = createServer((_request, response) => {
    response.end(body);
    other.close();
  });
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  return (other.address() as AddressInfo).port;
}

describe("health", () => {
  it("is 0 while the server of the same settings is ready, and 1 with the reason after it has ended", async () => {
    const server = await servers.serve(["--address", "0.0.0.0", "--allow-anonymous"]);
    const url = `http://127.0.0.1:${server.port}`;
    await ready({ url });
    const settings = { INFERYARD_SERVER_ADDRESS: "0.0.0.0", INFERYARD_SERVER_PORT: String(server.port) };
    expect(await health([], settings)).toEqual({ code: 0, stdout: `${url} is ready\n`, stderr: "" });
    const { stdout } = await health(["--json"], settings);
    expect(JSON.parse(stdout)).toMatchObject({ ready: true, draining: false, models: [{ model: "builtin", ready: true }] });
    await servers.endAll();
    const ended = await health([], settings);
    expect([ended.code, ended.stdout]).toEqual([1, ""]);
    expect(ended.stderr).toContain(`${url}/health/ready: connect ECONNREFUSED`);
    expect(JSON.parse((await health(["--json"], settings)).stdout)).toMatchObject({ error: { code: "SERVER_UNAVAILABLE" } });
  });

  it.each([
    [
      { ready: false, draining: false, models: [{ model: "m", ready: false, reason: "it is still loading" }] },
      "m: it is still loading",
    ],
    [{ ready: false, draining: true, models: [] }, "it is shutting down"],
  ])("is 1 with the reason for %j", async (answer, reason) => {
    const { code, stdout, stderr } = await health(["--json", "--port", String(await otherServer(JSON.stringify(answer)))]);
    expect([code, JSON.parse(stdout), stderr]).toEqual([1, answer, expect.stringContaining(`is not ready: ${reason}`)]);
  });

  it("is 1 where something else answers", async () => {
    for (const body of ["{}", "not JSON"]) {
      const { code, stderr } = await health(["--port", String(await otherServer(body))]);
      expect([code, stderr]).toEqual([1, expect.stringContaining("/health/ready: ")]);
    }
  });

  it("trusts the certificate of the settings over HTTPS", async ({ skip }) => {
    const files = ["-keyout", join(servers.folder, "key.pem"), "-out", join(servers.folder, "cert.pem")];
    try {
      const subject = ["-subj", "/CN=inferyard.example", "-days", "1"];
      execFileSync("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", ...subject, ...files], { stdio: "ignore" });
    } catch {
      skip(!existsSync(join(servers.folder, "cert.pem")), "openssl is not on this machine");
    }
    const server = await servers.serve(["--tls-cert", "cert.pem", "--tls-key", "key.pem"]);
    const port = ["--port", String(server.port)];
    const certificate = { INFERYARD_SERVER_TLS_CERT: "cert.pem" };
    await expect.poll(async () => (await health(port, certificate)).code, { timeout: 60_000 }).toBe(0);
    expect((await health(port)).code).toBe(1);
  });
});
