/** The dashboard as one HTML document without external resources. Data is only ever inserted as text. */
import { createHash } from "node:crypto";
import { dashboardChatForm, chatScript } from "./chat.ts";
import { mediaFields, mediaResult, mediaScript, mediaStyle, mediaTaskOptions } from "./media.ts";

const script = `
"use strict";
const find = (id) => document.getElementById(id);
let capabilities = new Map(); // of each model, by its name

function row(cells, header) {
  const line = document.createElement("tr");
  for (const cell of cells) {
    const box = document.createElement(header ? "th" : "td");
    box.textContent = cell.text ?? cell;
    if (cell.title !== undefined) box.title = cell.title;
    line.append(box);
  }
  return line;
}

function fill(table, head, rows, empty) {
  find(table).hidden = rows.length === 0;
  find(table).replaceChildren(row(head, true), ...rows.map((cells) => row(cells)));
  find(table + "-empty").hidden = rows.length > 0;
  find(table + "-empty").textContent = empty;
}

function draw(id, values, unit, seconds) {
  const canvas = find(id), context = canvas.getContext("2d");
  const { width, height } = canvas, top = Math.max(...values, 1), wide = width / values.length;
  context.clearRect(0, 0, width, height);
  context.fillStyle = getComputedStyle(canvas).color;
  values.forEach((value, index) => {
    const tall = value === 0 ? 1 : Math.max(3, (value / top) * (height - 2));
    context.fillRect(index * wide, height - tall, Math.max(wide - 2, 1), tall);
  });
  // The newest period has not ended, so the one before it is told.
  const told = values.at(-2) ?? 0;
  find(id + "-now").textContent = (Number.isInteger(told) ? told : told.toFixed(1)) + " " + unit;
  canvas.title = "the last " + Math.round((values.length * seconds) / 60) + " minutes; the tallest: " + (Number.isInteger(top) ? top : top.toFixed(1)) + " " + unit;
}

const megabytes = (bytes) => Object.values(bytes).reduce((sum, value) => sum + value, 0) / 1e6;

function show(status) {
  const { running, waiting, draining, recent, history, memory, decisions, names } = status;
  find("state").textContent = draining ? "shutting down" : "up";
  find("counts").textContent = running + " running, " + waiting + " waiting, " + recent.requests + " in the last minute, " + recent.failed + " failed" + (recent.p50 === null ? "" : ", half of them within " + recent.p50.toFixed(1) + " ms");
  const perSecond = (values) => values.map((value) => value / history.seconds);
  draw("requests", perSecond(history.requests), "per second", history.seconds);
  draw("tokens", perSecond(history.tokens), "per second", history.seconds);
  draw("waiting", history.waiting, "at once", history.seconds);
  const nameOf = new Map(memory.models.map((model) => [model.reference, model.name]));
  fill("models", ["model", "target", "state", "memory"], memory.models.map((model) => [{ text: model.name, title: model.reference }, model.target, model.state, megabytes(model.bytes).toFixed(0) + " MB"]), "no model is loaded: the first request loads one");
  const candidates = decisions.flatMap((decision) => decision.candidates.map((candidate) => [{ text: nameOf.get(decision.model.reference) ?? decision.model.name ?? decision.model.reference, title: decision.model.reference }, candidate.target, candidate.verdict, candidate.reason ?? ""]));
  fill("decisions", ["model", "candidate", "verdict", "why"], candidates, "no decision was made yet");
  find("decisions-count").textContent = candidates.length;
  if (names.length !== capabilities.size || names.some((name) => !capabilities.has(name))) readModels();
}

function choose(id, names) {
  const chosen = find(id).value;
  find(id).replaceChildren(...names.map((name) => new Option(name, name, false, name === chosen)));
}

const needed = { embed: ["embed"], classify: ["classify"], recognize: ["recognize"], rerank: ["rerank"], rewrite: ["rewrite"] };

const able = (wanted) => [...capabilities].filter(([, has]) => wanted.some((one) => has.includes(one))).map(([name]) => name);

function listModels() {
  showTask();
  const runners = able(needed[find("task").value] ?? [find("task").value]);
  choose("model", runners);
  find("run").disabled = runners.length === 0;
  const writers = able(["chat"]);
  choose("chat-model", writers);
  find("chat-empty").hidden = writers.length > 0;
  find("send").disabled = find("message").disabled = writers.length === 0;
}

async function readModels() {
  const answer = await fetch("/api/models", { headers: headers() });
  if (!answer.ok) return;
  capabilities = new Map((await answer.json()).models.map((model) => [model.name, model.capabilities]));
  listModels();
}

find("task").addEventListener("change", listModels);

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
  if (find("task").value in mediaTasks) return runMedia();
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

const wholeScript = script + chatScript + mediaScript;

const style = `
:root { color-scheme: light dark; --line: #8884; --accent: #2a6fdb; }
* { box-sizing: border-box; }
[hidden] { display: none !important; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 90rem; padding: 1rem; }
h1 { font-size: 1.3rem; margin: 0; } h2 { font-size: 1rem; margin: 0 0 .5rem; }
header { display: flex; flex-wrap: wrap; gap: .3rem 1rem; align-items: center; margin-bottom: 1rem; } #counts { margin: 0; flex: 1 1 20rem; }
#state { border: 1px solid var(--line); border-radius: 1rem; padding: .1rem .7rem; font-size: .85rem; margin-left: .5rem; font-weight: normal; }
main { display: grid; gap: 1.5rem 2rem; grid-template-columns: minmax(0, 1fr); }
@media (min-width: 60rem) {
  main { grid-template-columns: minmax(0, 3fr) minmax(22rem, 2fr); grid-template-rows: auto auto auto 1fr; }
  #talking { grid-column: 2; grid-row: 1 / span 4; } #chat { position: sticky; top: 1rem; } #talk { max-height: 60vh; overflow: auto; }
}
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: 1rem; }
figure { margin: 0; border: 1px solid var(--line); border-radius: .5rem; padding: .5rem .6rem; }
figcaption { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 .5rem; font-size: .85rem; }
canvas { display: block; width: 100%; height: 3rem; color: var(--accent); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; padding: .25rem .6rem .25rem 0; border-bottom: 1px solid var(--line); vertical-align: top; overflow-wrap: anywhere; }
td:last-child { min-width: 5rem; }
summary { cursor: pointer; font-weight: bold; }
form { display: grid; gap: .5rem; } .line { display: flex; gap: .5rem; flex-wrap: wrap; align-items: center; }
select { max-width: 100%; } input, select, button, textarea { font: inherit; }
textarea { width: 100%; min-height: 4rem; }
#talk p { border: 1px solid var(--line); border-radius: .5rem; padding: .4rem .6rem; margin: 0 0 .5rem; white-space: pre-wrap; overflow-wrap: anywhere; }
#talk p:empty { display: none; } #talk .user { margin-left: 15%; border-color: var(--accent); } #talk .assistant { margin-right: 15%; }
#talk .thoughts { margin-right: 15%; opacity: .65; font-size: .9rem; } #talk .fault { border-color: #c33; } #longest { width: 5rem; }
pre { border: 1px solid var(--line); border-radius: .5rem; padding: .6rem; margin: 0; overflow: auto; max-height: 20rem; } pre:empty { display: none; }
${mediaStyle}`;

const chart = (id: string, title: string): string =>
  `<figure><figcaption><span>${title}</span><b id="${id}-now"></b></figcaption><canvas id="${id}" width="480" height="96"></canvas></figure>`;

const table = (id: string): string => `<div class="wide"><table id="${id}"></table></div><p id="${id}-empty"></p>`;

/** The HTML document of the dashboard, with its styles and script. */
export const page: string = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Inferyard</title>
<link rel="icon" href="data:,">
<style>${style}</style>
<header>
<h1>Inferyard <span id="state">…</span></h1>
<p id="counts"></p>
<input id="key" type="password" placeholder="API key, if required" aria-label="key" autocomplete="off">
</header>
<main>
<div class="charts">${chart("requests", "requests")}${chart("tokens", "tokens")}${chart("waiting", "waiting")}</div>
<section>
<h2>Models in memory</h2>
${table("models")}
</section>
<section id="talking">
<h2>Chat</h2>
${dashboardChatForm}
</section>
<section>
<h2>Try it</h2>
<form id="try">
  <div class="line">
    <select id="task" aria-label="task">
    <optgroup label="texts"><option>embed</option><option>classify</option><option>recognize</option><option>rerank</option><option>rewrite</option></optgroup>
    ${mediaTaskOptions}
    </select>
    <select id="model" aria-label="model"></select>
    <button id="run" disabled>Run</button>
  </div>
  <textarea id="text" aria-label="text" placeholder="A text. For rerank: the query on the first line, a document on each line after.">hello</textarea>
  ${mediaFields}
  <pre id="answer" role="status"></pre>
  ${mediaResult}
</form>
</section>
<section>
<details><summary>Decisions: <span id="decisions-count">0</span> candidates with their reasons</summary>
${table("decisions")}
</details>
</section>
</main>
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
  "media-src blob:",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");
