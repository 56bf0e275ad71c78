// The example page: one runtime, one form. What a program needs of Inferyard is in `embed` below; the rest is the page.
import { InferyardError, createRuntime } from "inferyard";
import { startMedia } from "./media.mjs";

const element = (id) => document.getElementById(id);
const megabytes = (bytes) => (bytes / 1e6).toFixed(1);

const runtime = await createRuntime({ onEvent: showProgress });
/** The form's wish: one call at a time, and Stop cancels it. */
let work;

element("model").value = new URL(location.href).searchParams.get("model") ?? "builtin";
element("form").addEventListener("submit", (event) => {
  event.preventDefault();
  void embed();
});
element("stop").addEventListener("click", () => work?.abort());
startMedia({ runtime, showFailure, showDecision, row });

async function embed() {
  const model = element("model").value.trim();
  const variant = element("variant").value;
  const texts = element("texts")
    .value.split("\n")
    .filter((line) => line.trim() !== "");
  work = new AbortController();
  begin();
  try {
    const result = await runtime.embed(texts, { model, signal: work.signal, ...(variant === "" ? {} : { variant }) });
    showResult(texts, result);
  } catch (error) {
    showFailure(error);
  } finally {
    end();
  }
}

function begin() {
  for (const id of ["failure", "result", "decision"]) element(id).hidden = true;
  element("run").disabled = true;
  element("stop").hidden = false;
  element("progress").hidden = false;
  element("bar").removeAttribute("value");
  element("doing").textContent = "looking at the model's files";
}

function end() {
  element("run").disabled = false;
  element("stop").hidden = true;
  element("progress").hidden = true;
}

function showProgress({ type, progress }) {
  if (type !== "download") return;
  const { bytes, totalBytes, bytesPerSecond, secondsLeft, stage } = progress;
  if (stage === "done") {
    element("bar").removeAttribute("value");
    element("doing").textContent = "loading it into the engine";
    return;
  }
  if (totalBytes !== undefined) element("bar").value = bytes / totalBytes;
  const amount = totalBytes === undefined ? `${megabytes(bytes)} MB` : `${megabytes(bytes)} of ${megabytes(totalBytes)} MB`;
  const left = secondsLeft === undefined ? "" : ` · ${megabytes(bytesPerSecond)} MB/s · ${Math.ceil(secondsLeft)} s left`;
  element("doing").textContent = amount + left;
}

function showResult(texts, { embeddings, dimensions, target, milliseconds, model, decision }) {
  const count = texts.length === 1 ? "1 text" : `${texts.length} texts`;
  element("summary").textContent =
    `${nameOf(model)} · ${dimensions} dimensions · ${target} · ${count} in ${milliseconds < 10 ? milliseconds.toFixed(1) : Math.round(milliseconds)} ms`;
  const rows = texts.map((text, index) => {
    const similarity = cosine(embeddings[0], embeddings[index]);
    const meter = Object.assign(document.createElement("meter"), { min: 0, max: 1, value: Math.max(0, similarity) });
    const numbers = Array.from(embeddings[index].slice(0, 3), (value) => value.toFixed(4).padStart(7, "\u2007")).join(", ");
    return row([text], [similarity.toFixed(3), "number"], [meter, "meter"], [`[${numbers}, … ]`, "vector"]);
  });
  element("similarities").tBodies[0].replaceChildren(...rows);
  element("result").hidden = false;
  showDecision(decision);
}

function showDecision({ model, selected, candidates }) {
  const { target, library, host, evidence } = selected;
  const place = {
    worker: "in a worker of its own, so that this page stays free",
    inline: "on this page's own thread, in short slices",
  };
  const list = document.createElement("ul");
  list.append(...evidence.map((sentence) => Object.assign(document.createElement("li"), { textContent: sentence })));
  const facts = [
    ["target", `${target}, ${library.name} ${library.version}`],
    ["where", place[host] ?? host],
    ["model", `${model.reference} · ${model.variant} · ${model.digest}`],
    ["evidence", list],
  ];
  element("ran").replaceChildren(...facts.flatMap(([term, fact]) => [cell("dt", term), cell("dd", fact)]));
  const rows = candidates.map(({ target, verdict, reason }) => {
    const line = row([target, "target"], [verdict], [reason]);
    line.className = verdict;
    return line;
  });
  element("candidates").tBodies[0].replaceChildren(...rows);
  element("decision").hidden = false;
}

function showFailure(error) {
  const known = error instanceof InferyardError;
  element("message").textContent = error.message;
  element("code").textContent = known ? error.code : error.name;
  element("remedy").textContent = (known && error.remedy) || "";
  element("failure").hidden = false;
  const candidates = known ? error.data.decision?.candidates : undefined;
  if (candidates === undefined) return;
  element("ran").replaceChildren();
  element("candidates").tBodies[0].replaceChildren(
    ...candidates.map(({ target, verdict, reason }) => row([target, "target"], [verdict], [reason])),
  );
  element("decision").hidden = false;
}

function row(...cells) {
  const line = document.createElement("tr");
  line.append(...cells.map(([content, className = ""]) => Object.assign(cell("td", content), { className })));
  return line;
}

function cell(tag, content) {
  const made = document.createElement(tag);
  made.append(content);
  return made;
}

/** Vectors of length 1, as these models give them: the product is the cosine. */
function cosine(a, b) {
  return a.reduce((sum, value, index) => sum + value * b[index], 0);
}

function nameOf(reference) {
  return reference.split("/").findLast((part) => part !== "");
}
