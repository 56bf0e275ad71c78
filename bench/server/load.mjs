// Clients that each send the next request when the last is answered, over connections that stay open.
import { Agent, request } from "node:http";
import { quantile } from "../measuring/statistics.mjs";

// `next`: the body of the next request, and how many texts it brings. The first `warmUp` texts count for nothing, then `measure` texts are
// measured, or as many as are answered within `longestMs`. `cpuSeconds` tells what the server has used so far.
export async function load(url, { clients, next, warmUp, measure, longestMs, cpuSeconds }) {
  const agent = new Agent({ keepAlive: true, maxSockets: clients });
  const began = performance.now();
  const latencies = [];
  let [answered, requests, failures] = [0, 0, 0];
  let opened;
  let closed;
  const meter = () => ({ at: performance.now(), texts: answered, server: cpuSeconds(), own: process.cpuUsage() });
  const client = async () => {
    while (closed === undefined) {
      const { body, count } = next();
      const [sent, counts] = [performance.now(), opened !== undefined];
      const status = await post(agent, url, body);
      if (status !== 200) failures += 1;
      if (counts) latencies.push(performance.now() - sent);
      answered += count;
      if (opened !== undefined && closed === undefined) requests += 1;
      const isLate = performance.now() - began > longestMs;
      if (opened === undefined && (answered >= warmUp || isLate)) opened = meter();
      else if (opened !== undefined && closed === undefined && (answered >= opened.texts + measure || isLate)) closed = meter();
    }
  };
  await Promise.all(Array.from({ length: clients }, client)); // the slow ones at the end count, too
  agent.destroy();
  if (failures > 0) throw new Error(`${failures} requests failed`);
  const seconds = (closed.at - opened.at) / 1000;
  const texts = closed.texts - opened.texts;
  const own = closed.own.user + closed.own.system - opened.own.user - opened.own.system;
  return {
    requestsPerSecond: requests / seconds,
    textsPerSecond: texts / seconds,
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
    worst: Math.max(...latencies),
    answered: latencies.length,
    cpuMsPerText: ((closed.server - opened.server) * 1000) / texts,
    clientCpuMsPerText: own / 1000 / texts,
  };
}

// A server may close a connection at rest at the very moment a request is sent on it: then it is sent again (Node.js, request.reusedSocket).
async function post(agent, url, body) {
  for (;;) {
    try {
      return await postOnce(agent, url, body);
    } catch (error) {
      if (error.code !== "ECONNRESET" || error.reusedSocket !== true) throw error;
    }
  }
}

// The answer is read and not parsed: the client runs on the same cores as the server.
function postOnce(agent, url, body) {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    const sending = request(url, { method: "POST", agent, headers }, (response) => {
      response.resume();
      response.once("end", () => resolve(response.statusCode));
      response.once("error", reject);
    });
    sending.once("error", (error) => reject(Object.assign(error, { reusedSocket: sending.reusedSocket })));
    sending.end(body);
  });
}
