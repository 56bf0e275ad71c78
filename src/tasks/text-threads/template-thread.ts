/** Entry point of a worker thread that renders chat templates: one call at a time. It imports nothing else, so that it starts fast and stays small. */
import { TemplateEngine } from "../../templates/render-call.ts";
import { runProgram } from "../threads/thread-program.ts";
import type { RenderMessage } from "./template-threads.ts";

const engine = new TemplateEngine();

runProgram({ name: "template-thread.js", perform: ({ args }: RenderMessage) => engine.render(args) });
