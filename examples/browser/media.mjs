// The example's forms for a picture and for the microphone.

const element = (id) => document.getElementById(id);

/** `showFailure`, `showDecision` and `row` are the page's own. */
export function startMedia({ runtime, showFailure, showDecision, row }) {
  element("picture-form").addEventListener("submit", (event) => {
    event.preventDefault();
    void classify();
  });
  element("microphone-form").addEventListener("submit", (event) => {
    event.preventDefault();
    if (recording === undefined) void listen();
    else recording.end();
  });

  /** What is recorded now. */
  let recording;

  async function classify() {
    const [file] = element("picture").files;
    if (file === undefined) return;
    element("failure").hidden = element("labels").hidden = true;
    element("classify").disabled = true;
    element("picture-state").textContent = "…";
    try {
      const model = element("picture-model").value.trim();
      const { results, target, milliseconds, decision } = await runtime.classifyImage(file, { model, topK: 5 });
      element("picture-state").textContent = `${target} · ${Math.round(milliseconds)} ms`;
      const rows = results[0].map(({ label, score }) => row([label], [score.toFixed(4), "number"]));
      element("labels").tBodies[0].replaceChildren(...rows);
      element("labels").hidden = false;
      showDecision(decision);
    } catch (error) {
      element("picture-state").textContent = "";
      showFailure(error);
    }
    element("classify").disabled = false;
  }

  async function listen() {
    element("failure").hidden = true;
    element("said").replaceChildren();
    element("speech-state").textContent = "waiting for the microphone";
    try {
      recording = await openMicrophone((seconds) => {
        element("speech-state").textContent = `${seconds.toFixed(1)} s heard`;
      });
      element("listen").textContent = "Stop";
      const voice = element("voice-model").value.trim();
      const stream = await runtime.transcribe(recording.sound, {
        model: element("speech-model").value.trim(),
        stream: true,
        provisionalSeconds: 1,
        temperature: 0, // a text that comes while somebody speaks does not wait for further tries
        ...(voice === "" ? {} : { vadModel: voice }),
      });
      await show(stream);
      const { language, duration, target, decision } = await stream.result;
      element("speech-state").textContent = `${duration.toFixed(1)} s heard · ${language} · ${target}`;
      showDecision(decision);
    } catch (error) {
      element("speech-state").textContent = "";
      showFailure(error);
    }
    recording?.end();
    recording = undefined;
    element("listen").textContent = "Listen";
  }

  /** Final segments stay; a provisional one is replaced by what comes next. */
  async function show(stream) {
    const said = element("said");
    for await (const { text, isProvisional } of stream) {
      said.querySelector("em")?.remove();
      said.append(isProvisional ? Object.assign(document.createElement("em"), { textContent: text }) : text);
    }
    said.querySelector("em")?.remove();
  }
}

/** The sound of the microphone as chunks that come in, until `end` is called. `onHeard` is told the seconds so far. */
async function openMicrophone(onHeard) {
  const device = await navigator.mediaDevices.getUserMedia({ audio: true });
  const context = new AudioContext();
  await context.audioWorklet.addModule("microphone-worklet.js");
  const node = new AudioWorkletNode(context, "microphone");
  context.createMediaStreamSource(device).connect(node);
  let heard = 0;
  let end;
  let hear;
  let isOpen = true;
  const close = () => {
    isOpen = false;
    node.port.removeEventListener("message", hear);
    for (const track of device.getTracks()) track.stop();
    void context.close();
  };
  const chunks = new ReadableStream({
    start: (controller) => {
      hear = ({ data }) => {
        controller.enqueue(data);
        heard += data.length;
        onHeard(heard / context.sampleRate);
      };
      node.port.addEventListener("message", hear);
      node.port.start();
      end = () => {
        if (!isOpen) return;
        close();
        controller.close(); // what was heard until now is still transcribed
      };
    },
    cancel: close,
  });
  return { sound: { sampleRate: context.sampleRate, chunks }, end };
}
