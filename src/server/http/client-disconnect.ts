/** Recognizes clients that disconnect before their request is complete, which is no failure of the server. */
import { InferyardError } from "../../contract/errors.ts";

/**
 * The error ABORTED if `thrown` is the error of reading a body whose connection was closed: ECONNRESET "aborted" of Node.js (lib/_http_server.js), or "Client
 * connection prematurely closed." of @hono/node-server. Other values are returned unchanged.
 */
export function abortedIfDisconnected(thrown: unknown): unknown {
  if (!(thrown instanceof Error) || thrown instanceof InferyardError) return thrown;
  const isAborted = "code" in thrown && thrown.code === "ECONNRESET" && thrown.message === "aborted";
  if (!isAborted && thrown.message !== "Client connection prematurely closed.") return thrown;
  return new InferyardError("ABORTED", "the client disconnected before its request was complete", { cause: thrown });
}
