/** Entry point of a worker thread that renders chat templates: one call at a time. It imports nothing else, so that it starts fast and stays small. */
import { InferyardError, messageOf } from "../../contract/errors.ts";
import { TemplateEngine } from "../../templates/render-call.ts";
import type { Operations, ResultMessage } from "./protocol.ts";
import { lowerPriority, requirePort } from "./thread-port.ts";

const port = requirePort("template-thread.js");
lowerPriority();
const engine = new TemplateEngine();

port.on("message", ({ args }: { readonly args: Operations["render"]["args"] }) => port.postMessage(render(args)));

function render(args: Operations["render"]["args"]): ResultMessage {
  try {
    return { ok: true, result: engine.render(args) };
  } catch (error) {
    const failure = error instanceof InferyardError ? error : new InferyardError("CONTRACT_VIOLATION", messageOf(error));
    return { ok: false, error: failure.toJSON() };
  }
}
