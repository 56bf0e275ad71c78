// Clients that each send the next request when the last is answered, over connections that stay open.
import { Agent, request } from "node:http";
import { setTimeout } from "node:timers/promises";
import { quantile } from "../statistics.mjs";

const longestDrainMs = 40_000; // requests under way at the end are waited for this long, so that the slow ones count

// `next`: the body of the next request, and how many texts it brings. Requests sent during the warm-up count for nothing.
// `cpuSeconds` tells what the server has used so far.
export async function load(url, { clients, next, warmUpMs, measureMs, cpuSeconds }) {
  const agent = new Agent({ keepAlive: true, maxSockets: clients });
  const began = performance.now();
  const opens = began + warmUpMs;
  const closes = opens + measureMs;
  const latencies = [];
  let [requests, texts, failures] = [0, 0, 0];
  const client = async () => {
    while (performance.now() < closes) {
      const { body, count } = next();
      const sent = performance.now();
      const status = await post(agent, url, body);
      const answered = performance.now();
      if (status !== 200) failures += 1;
      if (sent >= opens) latencies.push(answered - sent);
      if (answered < opens || answered > closes) continue;
      requests += 1;
      texts += count;
    }
  };
  const all = Promise.all(Array.from({ length: clients }, client));
  const used = async () => {
    await setTimeout(warmUpMs);
    const [before, own] = [cpuSeconds(), process.cpuUsage()];
    await setTimeout(measureMs);
    const { user, system } = process.cpuUsage(own);
    return { server: cpuSeconds() - before, client: (user + system) / 1e6 };
  };
  const using = used();
  const late = setTimeout(warmUpMs + measureMs + longestDrainMs, "late", { ref: false });
  const outcome = await Promise.race([all, late]);
  agent.destroy();
  if (outcome === "late") throw new Error(`requests were not answered within ${longestDrainMs / 1000} s`);
  if (failures > 0) throw new Error(`${failures} requests failed`);
  const seconds = measureMs / 1000;
  const cpu = await using;
  return {
    requestsPerSecond: requests / seconds,
    textsPerSecond: texts / seconds,
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
    worst: Math.max(...latencies),
    answered: latencies.length,
    cpuMsPerText: (cpu.server / texts) * 1000,
    clientCpuMsPerText: (cpu.client / texts) * 1000,
  };
}

// The answer is read and not parsed: the client runs on the same cores as the server.
function post(agent, url, body) {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    const sending = request(url, { method: "POST", agent, headers }, (response) => {
      response.resume();
      response.once("end", () => resolve(response.statusCode));
      response.once("error", reject);
    });
    sending.once("error", reject);
    sending.end(body);
  });
}
