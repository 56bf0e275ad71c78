/** Pictures, sounds and files in requests that no engine reads: they are refused by their place, and never left out; no socket, and no model is loaded. */
import { createRuntime } from "inferyard";
import { type Handler, createHandler } from "inferyard/server";
import { afterAll, beforeAll, expect, it } from "vitest";

let runtime: Awaited<ReturnType<typeof createRuntime>>;
let handler: Handler;
beforeAll(async () => {
  runtime = await createRuntime({ threads: 1 });
  handler = createHandler(runtime);
});
afterAll(() => runtime.dispose());

const url = "data:image/png;base64,iVBORw0KGgo=";
const user = (...content: readonly object[]): object => ({
  messages: [{ role: "user", content: [{ type: "text", text: "hi" }, ...content] }],
});
const second = "messages.0.content.1";

it.each([
  ["/v1/chat/completions", user({ type: "image_url", image_url: { url } }), second],
  ["/v1/chat/completions", user({ type: "image_url", image_url: { url: "http://169.254.169.254/" } }), second],
  ["/v1/chat/completions", user({ type: "input_audio", input_audio: { data: "AA==", format: "wav" } }), second],
  ["/v1/chat/completions", user({ type: "video_url", video_url: { url } }), second],
  ["/v1/chat/completions", user({ type: "file", file: { file_data: "AA==" } }), second],
  ["/v1/chat/completions", user({ type: "text", text: "hi", image_url: { url } }), second],
  ["/v1/chat/completions", { messages: [{ role: "user", content: "hi", images: [url] }] }, "images"],
  ["/v1/chat/completions", { ...user(), multi_modal_data: { image: url } }, "multi_modal_data"],
  ["/openai/v1/chat/completions", user({ type: "image_url", image_url: { url } }), second],
  ["/v1/completions", { prompt: "hi", images: [url] }, "images"],
  ["/completion", { prompt: "hi", image_data: [{ id: 1, data: "AA==" }] }, "image_data"],
  ["/completion", { prompt: { prompt_string: "hi", multimodal_data: ["AA=="] } }, "prompt"],
  ["/v1/responses", { input: [{ role: "user", content: [{ type: "input_image", image_url: url }] }] }, "input.0.content.0"],
  [
    "/v1/responses",
    { input: [{ type: "function_call_output", call_id: "a", output: [{ type: "input_image", image_url: url }] }] },
    "input.0.output.0",
  ],
  [
    "/v1/messages",
    { max_tokens: 1, ...user({ type: "image", source: { type: "base64", media_type: "image/png", data: "AA==" } }) },
    second,
  ],
  [
    "/v1/messages",
    { max_tokens: 1, ...user({ type: "document", source: { type: "base64", media_type: "application/pdf", data: "AA==" } }) },
    second,
  ],
  [
    "/v1/messages",
    {
      max_tokens: 1,
      ...user({ type: "tool_result", tool_use_id: "a", content: [{ type: "image", source: { type: "url", url: "http://x/" } }] }),
    },
    `${second}.content.0`,
  ],
  ["/v1/messages/count_tokens", user({ type: "image", source: { type: "url", url: "file:///etc/passwd" } }), second],
  ["/api/chat", { messages: [{ role: "user", content: "hi", images: ["AA=="] }] }, "messages.0.images"],
  ["/api/generate", { prompt: "hi", images: ["AA=="] }, "images"],
])("%s refuses %j", async (path, fields, place) => {
  const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(fields) };
  const response = await handler(new Request(`http://localhost${path}`, init));
  expect([response.status, await response.text()]).toEqual([400, expect.stringContaining(place)]);
  expect(runtime.memory().models).toEqual([]);
});

it("a field of pictures that holds none is left out like others", async () => {
  const body = JSON.stringify({ input: "hi", images: [], image: null });
  const init = { method: "POST", headers: { "content-type": "application/json" }, body };
  const response = await handler(new Request("http://localhost/v1/embeddings", init));
  expect([response.status, response.headers.get("x-inferyard-ignored")]).toEqual([200, "/images"]);
});
