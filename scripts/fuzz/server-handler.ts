/** The server's handler without a socket, over a runtime that fetches nothing, with an oracle for its responses. */
import { createRuntime } from "../../src/api/create-runtime.ts";
import { createHandler, type Handler, RuntimeEvents } from "../../src/server/index.ts";
import { Broken, mustHold } from "./target.ts";
import { scratchFolder } from "./scratch-folder.ts";

export interface OpenServer {
  readonly handler: Handler;
  /** Asks and checks the response; the bytes of a response that is accepted. */
  ask(request: Request): Promise<void>;
  close(): Promise<void>;
}

/** Responses with a status that only a defect or a machine without a working engine gives. */
const defects: ReadonlySet<number> = new Set([500, 502, 507]);

export async function openServer(): Promise<OpenServer> {
  const folder = scratchFolder();
  process.env["INFERYARD_HOME"] = folder.path;
  const events = new RuntimeEvents();
  const runtime = await createRuntime({
    offline: true,
    host: "inline",
    onEvent: (event) => events.emit(event),
    onBatch: (batch) => events.emitBatch(batch),
  });
  const handler = createHandler(runtime, { events, requestTimeout: "20s", maxTexts: 64 });
  return { handler, ask, close };

  async function ask(request: Request): Promise<void> {
    const response = await handler(request, { remoteAddress: "192.0.2.1" });
    const { status } = response;
    if (isEndless(response)) {
      await response.body?.cancel();
      return;
    }
    const text = await response.text();
    const shown = (): string => `${status} ${text.slice(0, 500)}`;
    mustHold(!defects.has(status), shown);
    mustHold(
      !/node_modules|\.ts:\d|\/src\/|\[object Object\]/.test(text) || status === 200,
      () => `it tells of the machine: ${shown()}`,
    );
    mustHold(!text.includes(folder.path), () => `it tells of the machine: ${shown()}`);
    if (status < 400) return;
    mustHold(text.length <= 16_384, () => `an error of ${text.length} characters: ${shown()}`);
    if ((response.headers.get("content-type") ?? "").includes("json") && request.method !== "HEAD") parseOrFail(text);
  }

  async function close(): Promise<void> {
    await runtime.dispose();
    folder.remove();
  }
}

function isEndless(response: Response): boolean {
  return (response.headers.get("content-type") ?? "").startsWith("text/event-stream");
}

function parseOrFail(text: string): void {
  try {
    JSON.parse(text);
  } catch {
    throw new Broken(`an error that is no JSON: ${text.slice(0, 300)}`);
  }
}
