/** The worker host of a browser: each loaded model has a worker of its own, whose memory is freed when it ends. */
import { InferyardError, getMessage } from "../../contract/errors.ts";
import type { Host } from "../../hosts/host.ts";
import type { Peer, PeerEvents } from "../../hosts/peer.ts";
import type { AnswerMessage } from "../../hosts/protocol.ts";
import { remoteHost } from "../../hosts/remote-model.ts";
import type { BrowserWorker } from "../../platform/browser/global-scope.ts";

declare const Worker: new (program: URL, options: { readonly type: "module"; readonly name: string }) => BrowserWorker;

/**
 * Creates the host that runs each model in a web worker. `program` is the URL of `inferyard-worker.js`; default: beside the
 * bundle, or where the bundler put it.
 */
export function browserWorkerHost(program: URL | undefined): Host {
  return remoteHost("worker", (events) => startWorker(program, events));
}

function startWorker(program: URL | undefined, { onAnswer, onDeath }: PeerEvents): Peer {
  const worker = newWorker(program);
  worker.addEventListener("message", ({ data }) => onAnswer(data as AnswerMessage));
  // A missing program gives an error event without a message.
  worker.addEventListener("error", ({ message = "" }) =>
    onDeath(
      message === ""
        ? `the worker did not start: is inferyard-worker.js ${getLocation(program)}?`
        : `the worker failed: ${message}`,
    ),
  );
  return {
    kind: "worker",
    send: (message) => worker.postMessage(message),
    setBusy: () => {}, // a page ends when it is closed, whatever works
    interruptible: true, // no engine of a page is native
    end: async () => worker.terminate(),
    kill: async () => worker.terminate(),
  };
}

function newWorker(program: URL | undefined): BrowserWorker {
  const options = { type: "module", name: "inferyard" } as const;
  try {
    if (program !== undefined) return new Worker(program, options);
    // Bundlers recognize exactly this expression and build the worker with the page.
    return new Worker(new URL("./inferyard-worker.ts", import.meta.url), { type: "module", name: "inferyard" });
  } catch (cause) {
    throw new InferyardError(
      "BACKEND_UNAVAILABLE",
      `the browser refuses the worker ${getLocation(program)}: ${getMessage(cause)}`,
      {
        cause,
        remedy: "serve inferyard-worker.js from the page's own origin and name it with the setting `worker`",
      },
    );
  }
}

function getLocation(program: URL | undefined): string {
  return program === undefined ? "beside the bundle" : `at ${program.href}`;
}
