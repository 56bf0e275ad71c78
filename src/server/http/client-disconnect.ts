/** A client that leaves before its body is whole: its own ending, and no failure of the server. */
import { InferyardError } from "../../errors.ts";

/**
 * ABORTED for what reading a body throws when the connection ends within it; everything else as it is. Node.js says ECONNRESET "aborted"
 * (lib/_http_server.js), @hono/node-server "Client connection prematurely closed.".
 */
export function abortedIfDisconnected(thrown: unknown): unknown {
  if (!(thrown instanceof Error) || thrown instanceof InferyardError) return thrown;
  const isAborted = "code" in thrown && thrown.code === "ECONNRESET" && thrown.message === "aborted";
  if (!isAborted && thrown.message !== "Client connection prematurely closed.") return thrown;
  return new InferyardError("ABORTED", "the client left before its request was whole", { cause: thrown });
}
