/** Program of a worker in a browser. It is built as a file of its own and contains the engines `native` and `wasm`. */
import { native } from "../../backends/native/index.ts";
import { wasm } from "../../backends/wasm/index.ts";
import { ModelServer } from "../../hosts/model-server.ts";
import type { CallMessage, Results } from "../../hosts/protocol.ts";
import { transferables } from "../../contract/tensor.ts";
import { bundledEntry } from "./bundled-entry.ts";
import type { MessageEnd } from "../../platform/browser/global-scope.ts";

const page = globalThis as typeof globalThis & MessageEnd;
const server = new ModelServer("worker", async (module) => (module === bundledEntry ? { native, wasm } : import(module)));

page.addEventListener("message", ({ data }) => void answer(data as CallMessage));

async function answer(message: CallMessage): Promise<void> {
  const answered = await server.answer(message, (work) => work());
  try {
    page.postMessage(
      answered,
      answered.ok && message.operation === "run" ? transferables(answered.result as Results["run"]) : [],
    );
  } catch (thrown) {
    page.postMessage({ number: message.number, ok: false, error: server.failure(message.operation, thrown).toJSON() });
  }
}
