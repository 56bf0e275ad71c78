/**
 * Clients that end their side of the connection after the request and wait for the answer (a half-close). On the wire this looks like a client
 * that has left: only a write shows which it is, since the system of a client that has left refuses it.
 */
import type { Server } from "node:http";

/** Members of an incomplete response that this module uses. */
export interface OpenResponse {
  readonly req: { readonly httpVersion: string };
  readonly headersSent: boolean;
  /** Whether the body is a stream of events, which continues until one side ends it. */
  readonly isEventStream?: boolean;
  /** Writes the interim answer "100 Continue". */
  writeContinue(): void;
}

/**
 * When "100 Continue" is written after the client has ended its side, in milliseconds. Clients must skip such interim answers (RFC 9110, section
 * 15.2); a client that has left refuses the first, so that the second fails and the connection closes. An answer that is ready sooner is not
 * preceded by any.
 */
const probeTimes = [100, 200, 500, 1500, 5000] as const;

/** Makes the server keep the connections of clients that have ended their side until their answers are written. */
export function keepHalfClosed(server: Server): void {
  Object.assign(server, { httpAllowHalfOpen: true }); // lib/_http_server.js; without it Node.js ends such a connection at once
}

/**
 * Finds out whether a client that has ended its side has left: then a write fails, and the connection closes. `current`: the response in progress; undefined if
 * there is none. Returns a function that stops the attempts. Undefined if the client counts as having left: clients of HTTP/1.0, which know no interim
 * responses, and readers of event streams, which never end.
 */
export function probeClient(current: () => OpenResponse | undefined): (() => void) | undefined {
  const response = current();
  if (response?.req.httpVersion === "1.0" || response?.isEventStream === true) return undefined;
  const timers = probeTimes.map((ms) =>
    setTimeout(() => {
      const open = current();
      if (open?.headersSent === false) open.writeContinue();
    }, ms).unref(),
  );
  return () => {
    for (const timer of timers) clearTimeout(timer);
  };
}
