/** The dashboard's chat: part of its page, and the script after it. Answers are streamed, and inserted as text. */

/** The form of the chat. The API key is read from the field at the top of the page. */
export const dashboardChatForm: string = `<form id="chat">
  <p id="chat-empty" hidden>no model of this server holds conversations: name one under server.models, or fetch one with inferyard pull</p>
  <div id="talk" aria-live="polite"></div>
  <div class="line">
    <select id="chat-model" aria-label="model of the chat"></select>
    <label>at most <input id="longest" type="number" min="1" value="256" aria-label="longest answer"> tokens</label>
  </div>
  <textarea id="message" aria-label="message" placeholder="A message; Enter sends it"></textarea>
  <div class="line">
    <button id="send">Send</button>
    <button id="stop" type="button" hidden>Stop</button>
    <button id="anew" type="button">New chat</button>
    <span id="speed"></span>
  </div>
</form>`;

/** The script of the chat. It uses `find`, `headers` and `refresh` of the page's script. */
export const chatScript: string = `
let messages = [];
let running;

function bubble(role) {
  const box = document.createElement("p");
  box.className = role;
  find("talk").append(box);
  return box;
}

async function* events(body) {
  let rest = "";
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const blocks = (rest + part.value).split("\\n\\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const data = block.split("\\n").filter((line) => line.startsWith("data: ")).map((line) => line.slice(6)).join("\\n");
      if (data !== "" && data !== "[DONE]") yield JSON.parse(data);
    }
  }
}

async function answer(signal) {
  const body = { model: find("chat-model").value, messages, stream: true, stream_options: { include_usage: true }, max_completion_tokens: Number(find("longest").value) };
  const response = await fetch("/v1/chat/completions", { method: "POST", headers: { "content-type": "application/json", ...headers() }, body: JSON.stringify(body), signal });
  if (!response.ok) throw new Error((await response.json()).error?.message ?? response.statusText);
  const [thoughts, text] = [bubble("thoughts"), bubble("assistant")];
  const started = performance.now();
  let first, tokens = 0;
  try {
    for await (const { error, choices, usage } of events(response.body)) {
      if (error) throw new Error(error.message);
      const { content, reasoning_content: thought } = choices?.[0]?.delta ?? {};
      if (content || thought) first ??= performance.now();
      thoughts.textContent += thought ?? "";
      text.textContent += content ?? "";
      tokens = usage?.completion_tokens ?? tokens;
    }
  } finally {
    if (text.textContent !== "") messages.push({ role: "assistant", content: text.textContent });
  }
  const seconds = (performance.now() - (first ?? started)) / 1000;
  find("speed").textContent = tokens + " tokens, the first after " + ((first ?? started) - started).toFixed(0) + " ms, then " + (Math.max(tokens - 1, 0) / Math.max(seconds, 0.001)).toFixed(1) + " per second";
}

find("chat").addEventListener("submit", async (event) => {
  event.preventDefault();
  const said = find("message").value.trim();
  if (running !== undefined || said === "" || find("chat-model").value === "") return;
  const started = (running = new AbortController());
  messages.push({ role: "user", content: said });
  bubble("user").textContent = said;
  find("message").value = "";
  find("speed").textContent = "…";
  find("stop").hidden = false;
  try {
    await answer(started.signal);
  } catch (error) {
    if (!started.signal.aborted) bubble("fault").textContent = error.message;
    find("speed").textContent = started.signal.aborted ? "stopped" : "";
  }
  if (messages.at(-1)?.role === "user") messages.pop(); // a message without an answer would make the next one the second of the user
  running = undefined;
  find("stop").hidden = true;
  refresh();
});

find("message").addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  find("chat").requestSubmit();
});

find("stop").addEventListener("click", () => running?.abort());
find("anew").addEventListener("click", () => {
  running?.abort();
  messages = [];
  find("talk").replaceChildren();
  find("speed").textContent = "";
});
`;
