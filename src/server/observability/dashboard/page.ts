/** The dashboard as one HTML document without external resources. Data is only ever inserted as text. */
import { createHash } from "node:crypto";
import { chatForm, chatScript } from "./chat.ts";

const script = `
"use strict";
const find = (id) => document.getElementById(id);
const history = { waiting: [], p50: [], memory: [] };
const maxPoints = 150;

function row(cells, header) {
  const line = document.createElement("tr");
  for (const cell of cells) {
    const box = document.createElement(header ? "th" : "td");
    box.textContent = cell;
    line.append(box);
  }
  return line;
}

function fill(table, head, rows, empty) {
  find(table).replaceChildren(row(head, true), ...rows.map((cells) => row(cells)));
  find(table + "-empty").hidden = rows.length > 0;
  find(table + "-empty").textContent = empty;
}

function draw(id, values, unit) {
  const canvas = find(id), context = canvas.getContext("2d");
  const { width, height } = canvas, top = Math.max(...values, 1);
  context.clearRect(0, 0, width, height);
  context.strokeStyle = getComputedStyle(canvas).color;
  context.lineWidth = 2;
  context.beginPath();
  values.forEach((value, index) => {
    const x = (index / (maxPoints - 1)) * width, y = height - 3 - (value / top) * (height - 6);
    if (index === 0) context.moveTo(x, y); else context.lineTo(x, y);
  });
  context.stroke();
  find(id + "-now").textContent = (values.at(-1) ?? 0).toFixed(unit === "ms" ? 1 : 0) + " " + unit;
}

const megabytes = (bytes) => Object.values(bytes).reduce((sum, value) => sum + value, 0) / 1e6;

function show(status) {
  const { running, waiting, draining, recent, memory, decisions, names } = status;
  find("state").textContent = draining ? "shutting down" : "up";
  find("counts").textContent = running + " running, " + waiting + " waiting, " + recent.requests + " in the last minute, " + recent.failed + " failed";
  const held = memory.models.reduce((sum, model) => sum + megabytes(model.bytes), 0);
  for (const [name, value, unit] of [["waiting", waiting, "requests"], ["p50", recent.p50 ?? 0, "ms"], ["memory", held, "MB"]]) {
    history[name].push(value);
    if (history[name].length > maxPoints) history[name].shift();
    draw(name, history[name], unit);
  }
  fill("models", ["model", "target", "state", "memory"], memory.models.map((model) => [model.reference, model.target, model.state, megabytes(model.bytes).toFixed(0) + " MB"]), "no model is loaded: the first request loads one");
  fill("decisions", ["model", "candidate", "verdict", "why"], decisions.flatMap((decision) => decision.candidates.map((candidate) => [decision.model.reference, candidate.target, candidate.verdict, candidate.reason ?? ""])), "no decision was made yet");
  const chosen = find("model").value;
  if (find("model").options.length !== names.length) {
    find("model").replaceChildren(...names.map((name) => new Option(name, name, false, name === chosen)));
  }
}

async function refresh() {
  try {
    const answer = await fetch("/api/status", { headers: headers() });
    if (answer.ok) show(await answer.json());
    else find("state").textContent = answer.status === 401 ? "an API key is required" : "status " + answer.status;
  } catch {
    find("state").textContent = "cannot be reached";
  }
}

function headers() {
  const key = find("key").value;
  return key === "" ? {} : { authorization: "Bearer " + key };
}

const requests = {
  embed: (model, text) => ["/api/embed", { model, input: text }],
  classify: (model, text) => ["/api/classify", { model, texts: [text] }],
  recognize: (model, text) => ["/api/recognize", { model, texts: [text] }],
  rerank: (model, text) => ["/api/rerank", { model, query: text.split("\\n")[0], documents: text.split("\\n").slice(1) }],
  rewrite: (model, text) => ["/api/rewrite", { model, texts: [text] }],
};

find("try").addEventListener("submit", async (event) => {
  event.preventDefault();
  const [path, body] = requests[find("task").value](find("model").value, find("text").value);
  const started = performance.now();
  find("answer").textContent = "…";
  try {
    const answer = await fetch(path, { method: "POST", headers: { "content-type": "application/json", ...headers() }, body: JSON.stringify(body) });
    const took = (performance.now() - started).toFixed(1) + " ms on " + (answer.headers.get("x-inferyard-target") ?? "nothing");
    const text = JSON.stringify(await answer.json(), (key, value) => (Array.isArray(value) && value.length > 12 && typeof value[0] === "number" ? [...value.slice(0, 8), "… " + value.length + " numbers"] : value), 2);
    find("answer").textContent = took + "\\n" + text.slice(0, 20000);
  } catch (error) {
    find("answer").textContent = String(error);
  }
  refresh();
});

find("key").addEventListener("change", refresh);
refresh();
setInterval(refresh, 2000);
`;

const wholeScript = script + chatScript;

const style = `
:root { color-scheme: light dark; --line: #8884; --accent: #2a6fdb; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 60rem; padding: 1rem; }
h1 { font-size: 1.3rem; } h2 { font-size: 1rem; margin: 2rem 0 .5rem; }
#state { border: 1px solid var(--line); border-radius: 1rem; padding: .1rem .7rem; font-size: .85rem; margin-left: .5rem; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(15rem, 1fr)); gap: 1rem; }
figure { margin: 0; border: 1px solid var(--line); border-radius: .5rem; padding: .6rem; }
figcaption { display: flex; justify-content: space-between; font-size: .85rem; }
canvas { width: 100%; height: 4rem; color: var(--accent); }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; padding: .25rem .6rem .25rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
form { display: grid; gap: .5rem; } .line { display: flex; gap: .5rem; flex-wrap: wrap; }
textarea { width: 100%; min-height: 4rem; font: inherit; box-sizing: border-box; }
#talk p { border: 1px solid var(--line); border-radius: .5rem; padding: .4rem .6rem; margin: 0 0 .5rem; white-space: pre-wrap; overflow-wrap: anywhere; }
#talk p:empty { display: none; } #talk .user { margin-left: 15%; border-color: var(--accent); } #talk .assistant { margin-right: 15%; }
#talk .thoughts { margin-right: 15%; opacity: .65; font-size: .9rem; } #talk .fault { border-color: #c33; } #longest { width: 5rem; }
pre { border: 1px solid var(--line); border-radius: .5rem; padding: .6rem; overflow: auto; max-height: 20rem; }
`;

const chart = (id: string, title: string): string =>
  `<figure><figcaption><span>${title}</span><b id="${id}-now"></b></figcaption><canvas id="${id}" width="450" height="120"></canvas></figure>`;

const table = (id: string): string => `<table id="${id}"></table><p id="${id}-empty"></p>`;

/** The HTML document of the dashboard, with its styles and script. */
export const page: string = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Inferyard</title>
<link rel="icon" href="data:,">
<style>${style}</style>
<h1>Inferyard <span id="state">…</span></h1>
<p id="counts"></p>
<div class="charts">${chart("waiting", "waiting")}${chart("p50", "median of the last minute")}${chart("memory", "models in memory")}</div>
<h2>Models</h2>
${table("models")}
<h2>Decisions</h2>
${table("decisions")}
<h2>Try it</h2>
<form id="try">
  <div class="line">
    <select id="task" aria-label="task"><option>embed</option><option>classify</option><option>recognize</option><option>rerank</option><option>rewrite</option></select>
    <select id="model" aria-label="model"></select>
    <input id="key" type="password" placeholder="API key, if required" aria-label="key" autocomplete="off">
    <button>Run</button>
  </div>
  <textarea id="text" aria-label="text" placeholder="A text. For rerank: the query on the first line, a document on each line after.">hello</textarea>
  <pre id="answer"></pre>
</form>
<h2>Chat</h2>
${chatForm}
<script>${wholeScript}</script>
</html>
`;

const hash = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** Content security policy: only the document's own script and style run, and only the server itself is requested. */
export const pagePolicy: string = [
  "default-src 'none'",
  `script-src ${hash(wholeScript)}`,
  `style-src ${hash(style)}`,
  "connect-src 'self'",
  "img-src data:",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");
