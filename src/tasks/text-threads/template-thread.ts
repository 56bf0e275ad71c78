/** Entry point of a worker thread that renders chat templates: one call at a time. It imports nothing else, so that it starts fast and stays small. */
import { InferyardError, getMessage } from "../../contract/errors.ts";
import { TemplateEngine } from "../../templates/render-call.ts";
import type { Operations, ResultMessage } from "./protocol.ts";
import { startIdleHeapCollection } from "../../platform/node/idle-collection.ts";
import { lowerPriority } from "../../platform/node/lower-priority.ts";
import { requirePort } from "../threads/thread-port.ts";
import type { RenderReply } from "./template-threads.ts";

const port = requirePort("template-thread.js");
lowerPriority("thread");
startIdleHeapCollection();
const engine = new TemplateEngine();

port.on("message", ({ args }: { readonly args: Operations["render"]["args"] }) => {
  const started = performance.now();
  const result = render(args);
  port.postMessage({ ...result, tookMs: performance.now() - started } satisfies RenderReply);
});

function render(args: Operations["render"]["args"]): ResultMessage {
  try {
    return { ok: true, result: engine.render(args) };
  } catch (error) {
    const failure = error instanceof InferyardError ? error : new InferyardError("CONTRACT_VIOLATION", getMessage(error));
    return { ok: false, error: failure.toJSON() };
  }
}
