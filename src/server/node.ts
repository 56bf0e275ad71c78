/** The socket. Nothing else of the server knows that there is one. */
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import { InferyardError } from "../errors.ts";
import { parseDuration } from "../runtime/duration.ts";
import type { Handler } from "./handler.ts";

export interface ListenOptions {
  /** Default: "127.0.0.1". */
  readonly address?: string;
  /** Default: 8080; 0 takes a free one. */
  readonly port?: number;
  /** Default: "30s". */
  readonly drainTimeout?: number | string;
}

export interface Listening {
  readonly url: string;
  /** Takes no new requests, waits for those that run, and frees the port. */
  close(): Promise<void>;
}

export async function listen(handler: Handler, options: ListenOptions = {}): Promise<Listening> {
  const { address = "127.0.0.1", port = 8080, drainTimeout = "30s" } = options;
  const server = await started(handler, address, port);
  const { port: taken } = server.address() as AddressInfo;
  return {
    url: `http://${address.includes(":") ? `[${address}]` : address}:${taken}`,
    close: async () => {
      handler.service.drain();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      const timer = setTimeout(() => server.closeAllConnections(), parseDuration(drainTimeout));
      await closed;
      clearTimeout(timer);
    },
  };
}

function started(handler: Handler, hostname: string, port: number): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = serve({ fetch: handler, hostname, port }, () => resolve(server)) as Server;
    server.once("error", (error: NodeJS.ErrnoException) => {
      const taken = error.code === "EADDRINUSE";
      reject(
        new InferyardError("CONFIG_INVALID", `cannot listen on ${hostname}:${port}: ${taken ? "it is in use" : error.message}`, {
          remedy: taken ? "choose another port: --port" : "choose another address or port",
          cause: error,
        }),
      );
    });
  });
}
