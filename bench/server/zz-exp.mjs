import { spawn } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { Agent, request } from "node:http";
import { mixedLengths, textsOfLengths } from "../texts.mjs";
const [precision, per = "1", clients = "32", total = "1200", warm = "500", ...extra] = process.argv.slice(2);
const base = "/work/shared/data/all-MiniLM-L6-v2/onnx/";
const child = spawn(
  process.execPath,
  [
    ...extra.filter((x) => x.startsWith("--cpu-prof")),
    "bin/inferyard.js",
    "serve",
    "--port",
    "0",
    "--target",
    "onnx:cpu",
    "--model",
    base + (precision === "fp32" ? "model.onnx" : "model_quantized.onnx"),
    ...extra.filter((x) => !x.startsWith("--cpu-prof")),
  ],
  { stdio: ["ignore", "pipe", "inherit"] },
);
const url = await new Promise((r) => child.stdout.setEncoding("utf8").on("data", (t) => r(/http:\/\/\S+/.exec(t)[0])));
const texts = textsOfLengths(mixedLengths(512));
const agent = new Agent({ keepAlive: true, maxSockets: +clients });
const post = (body) =>
  new Promise((res, rej) => {
    const s = request(
      url + "/api/embed",
      { method: "POST", agent, headers: { "content-type": "application/json", "content-length": Buffer.byteLength(body) } },
      (r) => {
        r.resume();
        r.once("end", () => res(r.statusCode));
      },
    );
    s.once("error", rej);
    s.end(body);
  });
const cpu = () => {
  const out = {};
  for (const id of readdirSync("/proc").filter((n) => /^\d+$/.test(n))) {
    try {
      const st = readFileSync(`/proc/${id}/stat`, "utf8");
      const f = st.slice(st.lastIndexOf(")") + 2).split(" ");
      if (+id === child.pid || +f[1] === child.pid) {
        const rss = /^Rss:\s+(\d+)/m.exec(readFileSync(`/proc/${id}/smaps_rollup`, "utf8"))[1] / 1024;
        out[id] = { cpu: (+f[11] + +f[12]) * 10, rss: Math.round(rss) };
      }
    } catch {}
  }
  return out;
};
let place = 0;
const phase = async (count) => {
  let left = count;
  const lat = [];
  await Promise.all(
    Array.from({ length: +clients }, async () => {
      while (left > 0) {
        left -= +per;
        const start = place;
        place += +per;
        const t = performance.now();
        const st = await post(JSON.stringify({ input: Array.from({ length: +per }, (_, i) => texts[(start + i) % 512]) }));
        if (st !== 200) throw new Error(st);
        lat.push(performance.now() - t);
      }
    }),
  );
  return lat.sort((a, b) => a - b);
};
await phase(+warm);
const before = cpu();
const own = process.cpuUsage();
const t0 = performance.now();
const lat = await phase(+total);
const s = (performance.now() - t0) / 1000;
const after = cpu();
const o = process.cpuUsage(own);
const q = (p) => lat[Math.floor((lat.length - 1) * p)].toFixed(0);
console.log(
  precision,
  `${(total / s).toFixed(1)} texts/s p50 ${q(0.5)} p99 ${q(0.99)} worst ${q(1)}; client cpu ${((o.user + o.system) / 1000 / total).toFixed(2)}`,
  Object.entries(after)
    .map(
      ([id, v]) =>
        `${+id === child.pid ? "main" : "child"} ${((v.cpu - (before[id]?.cpu ?? 0)) / total).toFixed(2)} ms/text ${v.rss} MB`,
    )
    .join(" | "),
  "sum",
  (Object.entries(after).reduce((a, [id, v]) => a + v.cpu - (before[id]?.cpu ?? 0), 0) / total).toFixed(2),
);
child.kill("SIGTERM");
