/** Recognizes clients that disconnect before their request is complete, which is no failure of the server. */
import { InferyardError } from "../../contract/errors.ts";

/**
 * The error ABORTED if `thrown` is what reading a body throws when the connection closes within it: ECONNRESET "aborted" of Node.js
 * (lib/_http_server.js), or "Client connection prematurely closed." of @hono/node-server. Anything else is returned as it is.
 */
export function abortedIfDisconnected(thrown: unknown): unknown {
  if (!(thrown instanceof Error) || thrown instanceof InferyardError) return thrown;
  const isAborted = "code" in thrown && thrown.code === "ECONNRESET" && thrown.message === "aborted";
  if (!isAborted && thrown.message !== "Client connection prematurely closed.") return thrown;
  return new InferyardError("ABORTED", "the client disconnected before its request was complete", { cause: thrown });
}
