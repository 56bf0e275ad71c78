/** The built server with a small heap, against 120 clients that send requests and read nothing, beside one that behaves. */
import { readFileSync } from "node:fs";
import { type Socket, connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, expect, it, vi } from "vitest";
import { ServerProcesses, embed, ready } from "../fixtures/processes/server-process.ts";

const servers = new ServerProcesses();
afterEach(() => servers.killAll());
afterAll(() => servers.remove());

const mebi = 2 ** 20;

/** Bytes in memory now, and the highest they were (proc(5)). */
function memoryOf(pid: number): { readonly now: number; readonly highest: number } {
  const text = readFileSync(`/proc/${pid}/status`, "utf8");
  const kilobytes = (name: string): number => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(text)![1]);
  return { now: kilobytes("VmRSS") * 1024, highest: kilobytes("VmHWM") * 1024 };
}

it.skipIf(process.platform !== "linux")("120 clients that read nothing cost a bounded memory, which comes back", async () => {
  const args = ["--stall-timeout", "5s", "--log-level", "silent"];
  const server = await servers.serve(args, {}, { environment: { NODE_OPTIONS: "--max-old-space-size=768" } });
  await ready(server);
  const body = JSON.stringify({ input: Array.from({ length: 700 }, (_value, index) => `text ${index}`) }); // 3.7 MB of answer
  const request = `POST /api/embed HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  const clients: Socket[] = [];
  for (let index = 0; index < 120; index += 1) {
    const socket = connect(server.port, "127.0.0.1");
    socket.on("error", () => {});
    socket.pause();
    socket.write(request.repeat(16)); // 7 GB of answers in all
    clients.push(socket);
  }
  const metric = async (name: string): Promise<number> => {
    const text = await (await fetch(`${server.url}/metrics`)).text();
    return Number(new RegExp(`^inferyard_${name} (\\S+)$`, "m").exec(text)![1]);
  };
  const statuses = new Set<number>();
  while ((await metric("readers_disconnected_total")) < 60) {
    statuses.add((await embed(server, { input: "a" })).status);
    await sleep(100);
  }
  expect(statuses.has(200)).toBe(true);
  for (const socket of clients) socket.destroy();
  while ((await metric("requests_running")) > 0) await sleep(100);
  await vi.waitFor(async () => expect(await metric("unread_response_bytes")).toBe(0), { timeout: 60_000 }); // refusals are answers too
  const pid = server.child.pid!;
  expect(memoryOf(pid).highest).toBeLessThan(1536 * mebi);
  for (let index = 0; memoryOf(pid).now > 600 * mebi; index += 1) await embed(server, { input: `text ${index}` });
  server.child.kill("SIGTERM");
  expect(await server.ended).toMatchObject({ code: 0 });
});
