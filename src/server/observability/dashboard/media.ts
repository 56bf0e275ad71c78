/** The dashboard's tasks on pictures and sounds: parts of its page, and the script after it. Files are dropped or chosen, and what is found is inserted as text. */

/** Options of the list of tasks. Their values are names of `mediaTasks` in the script. */
export const mediaTaskOptions = `<optgroup label="pictures">
      <option value="classify_image">classify a picture</option>
      <option value="detect">find things in a picture</option>
      <option value="read">read a page</option>
    </optgroup>
    <optgroup label="sounds">
      <option value="transcribe">transcribe a sound</option>
      <option value="detect_speech">find speech in a sound</option>
      <option value="classify_sound">classify a sound</option>
    </optgroup>`;

/** The field for a file, and the field for labels, inside the form of tasks. */
export const mediaFields = `<label id="drop" hidden>
    <span id="drop-hint"></span>
    <input id="file" type="file">
  </label>
  <input id="labels" aria-label="labels of your own" placeholder="Labels of your own, with commas between them: for models of pictures and texts" hidden>`;

/** What is shown of a file, and of what was found in it. */
export const mediaResult = `<div id="media" aria-live="polite" hidden>
    <canvas id="picture" role="img" hidden></canvas>
    <audio id="sound" controls hidden></audio>
    <p id="transcript"></p>
    <div class="wide"><table id="found"></table></div><p id="found-empty"></p>
  </div>`;

/** The styles of these parts. */
export const mediaStyle = `
#drop { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; border: 2px dashed var(--line); border-radius: .5rem; padding: 1rem; }
#drop:focus-within, #drop.over { border-color: var(--accent); } #file { max-width: 100%; }
#picture { width: auto; height: auto; max-width: 100%; border-radius: .5rem; } #sound { width: 100%; }
#transcript { white-space: pre-wrap; overflow-wrap: anywhere; margin: .5rem 0; } #transcript:empty, #found-empty:empty { display: none; }
`;

/** The script. It uses `find`, `fill`, `headers`, `listModels`, `able` and `refresh` of the page's script. */
export const mediaScript = `
const seconds = (time) => time.toFixed(2) + " s";
const percent = (score) => (100 * score).toFixed(1) + " %";

const mediaTasks = {
  classify_image: { path: "/api/classify", takes: "picture", show: ({ classifications: [labels] }) => showLabels(labels) },
  detect: {
    path: "/api/detect",
    takes: "picture",
    show: ({ detections: [things] }) => {
      for (const { label, score, box } of things) outline([[box.xmin, box.ymin], [box.xmax, box.ymin], [box.xmax, box.ymax], [box.xmin, box.ymax]], label + " " + percent(score));
      fill("found", ["thing", "score", "left, top", "right, bottom"], things.map(({ label, score, box }) => [label, percent(score), box.xmin.toFixed(0) + ", " + box.ymin.toFixed(0), box.xmax.toFixed(0) + ", " + box.ymax.toFixed(0)]), "nothing was found");
    },
  },
  read: {
    path: "/api/read",
    takes: "picture",
    show: ({ results: [{ text, lines }] }) => {
      for (const { box } of lines) outline(box, "");
      find("transcript").textContent = text;
      fill("found", ["line", "score"], lines.map((line) => [line.text, percent(line.score)]), "no text was found");
    },
  },
  transcribe: {
    path: "/api/transcribe",
    takes: "sound",
    show: ({ text, segments }) => {
      find("transcript").textContent = text;
      fill("found", ["from", "to", "text"], segments.map((part) => [seconds(part.start), seconds(part.end), part.text.trim()]), "nobody speaks");
    },
  },
  detect_speech: {
    path: "/api/detect-speech",
    takes: "sound",
    show: ({ duration, segments }) => fill("found", ["from", "to"], segments.map((part) => [seconds(part.start), seconds(part.end)]), "nobody speaks in " + seconds(duration)),
  },
  classify_sound: { path: "/api/classify-sound", takes: "sound", show: ({ classifications: [labels] }) => showLabels(labels) },
};

let media; // the file that was dropped or chosen
let soundUrl;

const showLabels = (labels) => fill("found", ["label", "score"], labels.slice(0, 20).map(({ label, score }) => [label, percent(score)]), "the model has no labels");

/** What a file is, by the type that the system states, or by its name. */
function mediumOf({ type, name }) {
  if (type.startsWith("image/") || /\\.(?:png|jpe?g|webp|gif|tiff?|avif)$/i.test(name)) return "picture";
  return type.startsWith("audio/") || /\\.(?:wav|mp3|flac|ogg|oga|opus|m4a)$/i.test(name) ? "sound" : undefined;
}

/** Shows the fields of the chosen task. */
function showTask() {
  const task = mediaTasks[find("task").value];
  find("text").hidden = task !== undefined;
  find("drop").hidden = task === undefined;
  find("labels").hidden = find("task").value !== "classify_image";
  if (task === undefined) return find("media").hidden = true;
  const what = task.takes === "picture" ? "a picture" : "a sound";
  find("drop-hint").textContent = "Drop " + what + " anywhere on this page, or choose one:";
  find("file").accept = task.takes === "picture" ? "image/*" : "audio/*";
  find("file").setAttribute("aria-label", what);
}

/** Draws a polygon with a caption over the picture. */
function outline(corners, caption) {
  const canvas = find("picture"), context = canvas.getContext("2d");
  const unit = Math.max(canvas.width, canvas.height) / 300;
  context.strokeStyle = context.fillStyle = "#2a6fdb";
  context.lineWidth = Math.max(1, unit);
  context.beginPath();
  corners.forEach(([x, y], index) => (index === 0 ? context.moveTo(x, y) : context.lineTo(x, y)));
  context.closePath();
  context.stroke();
  if (caption === "") return;
  const [x, y] = corners[0], size = Math.max(8, 7 * unit);
  context.font = size + "px system-ui, sans-serif";
  const top = Math.max(y, size * 1.3);
  context.fillRect(x, top - size * 1.3, context.measureText(caption).width + unit * 4, size * 1.3);
  context.fillStyle = "#fff";
  context.fillText(caption, x + unit * 2, top - size * 0.3);
}

async function showFile(takes) {
  find("media").hidden = false;
  find("picture").hidden = takes !== "picture";
  find("sound").hidden = takes !== "sound";
  find("transcript").textContent = "";
  fill("found", [""], [], "");
  if (soundUrl !== undefined) URL.revokeObjectURL(soundUrl);
  soundUrl = takes === "sound" ? URL.createObjectURL(media) : undefined;
  if (takes === "sound") return void (find("sound").src = soundUrl);
  const canvas = find("picture");
  canvas.setAttribute("aria-label", media.name);
  const drawn = await createImageBitmap(media).catch(() => undefined); // a browser may not know what the server does
  canvas.hidden = drawn === undefined;
  if (drawn === undefined) return;
  [canvas.width, canvas.height] = [drawn.width, drawn.height]; // boxes are in pixels of the picture
  canvas.getContext("2d").drawImage(drawn, 0, 0);
  drawn.close();
}

async function runMedia() {
  const task = mediaTasks[find("task").value];
  if (media === undefined || mediumOf(media) !== task.takes) return void (find("answer").textContent = "choose a " + task.takes + " first");
  const form = new FormData();
  form.append("file", media);
  form.append("model", find("model").value);
  if (!find("labels").hidden) for (const label of find("labels").value.split(",").map((each) => each.trim())) if (label !== "") form.append("labels", label);
  const started = performance.now();
  find("answer").textContent = "…";
  find("run").disabled = true;
  try {
    await showFile(task.takes);
    const answer = await fetch(task.path, { method: "POST", headers: headers(), body: form });
    const body = await answer.json();
    if (!answer.ok) throw new Error(body.error.message + (body.error.remedy === undefined ? "" : " (" + body.error.remedy + ")"));
    find("answer").textContent = (performance.now() - started).toFixed(1) + " ms on " + (answer.headers.get("x-inferyard-target") ?? "nothing");
    task.show(body);
  } catch (error) {
    find("answer").textContent = String(error.message);
  }
  find("run").disabled = false;
  refresh();
}

/** Takes a file: chooses a task for it if the chosen one takes another medium, and runs it if a model can. */
function takeFile(file) {
  if (file === undefined) return;
  const medium = mediumOf(file);
  if (medium === undefined) return void (find("answer").textContent = file.name + " is neither a picture nor a sound");
  media = file;
  if (mediaTasks[find("task").value]?.takes !== medium) {
    const fitting = Object.keys(mediaTasks).filter((name) => mediaTasks[name].takes === medium);
    find("task").value = fitting.find((name) => able([name]).length > 0) ?? fitting[0];
    listModels();
  }
  if (find("run").disabled) find("answer").textContent = "no model of this server does this: name one under server.models";
  else runMedia();
}

find("file").addEventListener("change", () => takeFile(find("file").files[0]));
const holdsFiles = (event) => event.dataTransfer?.types.includes("Files") ?? false;
addEventListener("dragover", (event) => {
  if (!holdsFiles(event)) return;
  event.preventDefault();
  find("drop").classList.add("over");
});
addEventListener("dragleave", (event) => event.relatedTarget === null && find("drop").classList.remove("over"));
addEventListener("drop", (event) => {
  if (!holdsFiles(event)) return;
  event.preventDefault();
  find("drop").classList.remove("over");
  takeFile(event.dataTransfer.files[0]);
});
`;
