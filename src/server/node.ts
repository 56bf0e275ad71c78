/** The socket. Nothing else of the server knows that there is one. */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type Http2Bindings, type HttpBindings, serve } from "@hono/node-server";
import { InferyardError } from "../errors.ts";
import { parseDuration } from "../runtime/duration.ts";
import { serverDefaults } from "../settings/server-section.ts";
import type { Handler } from "./handler.ts";
import { isLoopback } from "./origin.ts";

export interface ListenOptions {
  /** Default: "127.0.0.1". */
  readonly address?: string;
  /** Default: 8080; 0 takes a free one. */
  readonly port?: number;
  /** Whether an address that others can reach may be listened on without keys. Default: false. */
  readonly allowAnonymous?: boolean;
  /** Longest time for a client to send the head of a request. Default: "10s". */
  readonly headersTimeout?: number | string;
  /** Longest time for a client to send a whole request; after it the answer is 408. Default: "60s". */
  readonly bodyTimeout?: number | string;
  /** Certificate chain and private key, as PEM. Default: no TLS. */
  readonly tls?: { readonly cert: string; readonly key: string };
}

export interface Listening {
  readonly url: string;
  /**
   * Takes no new requests, which get SHUTTING_DOWN; waits for those that run, at most `drainTimeout`; frees the port. Says how many were cut
   * off.
   */
  close(): Promise<number>;
}

/** Connections at rest are kept for longer than the load balancers in front do, so that it is they who close. */
const keepAliveMs = 75_000;
/**
 * A server that ends looks so often, at rest, until it stops listening: what was sent before the signal may not have been read yet. Looks are
 * counted and not time, since a turn of a busy event loop may take long, and connections are taken once in each.
 */
const quietLooks = 5;
const lookMs = 20;
/** Where something comes all the time, or nothing on open connections, it looks no more often than this. */
const mostLooks = 50;
/** How often connections are looked at for those that are too slow. */
const checkMs = 500;

/** CONFIG_INVALID where the address is taken, is not one of this machine, or would be open to everybody. */
export async function listen(handler: Handler, options: ListenOptions = {}): Promise<Listening> {
  const { address = serverDefaults.address, port = serverDefaults.port, allowAnonymous = false } = options;
  const { keys = [], drainTimeout = serverDefaults.drainTimeout } = handler.service.settings;
  if (!isLoopback(address) && keys.length === 0 && !allowAnonymous) refuseOpen(address);
  const server = await started(handler, { ...options, address, port });
  const open = new Set<ServerResponse>();
  /** Connections on which nothing has been asked yet. */
  const fresh = new Set<Socket>();
  server.on(options.tls === undefined ? "connection" : "secureConnection", (socket: Socket) => {
    fresh.add(socket);
    socket.once("close", () => fresh.delete(socket));
  });
  // Before the handler, which may have sent its head already when others are told.
  server.prependListener("request", (request: IncomingMessage, response: ServerResponse) => {
    open.add(response);
    fresh.delete(request.socket);
    response.once("close", () => open.delete(response));
    if (handler.service.draining) response.setHeader("connection", "close");
  });
  const { port: taken } = server.address() as AddressInfo;
  const scheme = options.tls === undefined ? "http" : "https";
  let closing: Promise<number> | undefined;
  return {
    url: `${scheme}://${address.includes(":") ? `[${address}]` : address}:${taken}`,
    close: () => (closing ??= drain(handler, server, { open, fresh }, parseDuration(drainTimeout))),
  };
}

interface Work {
  readonly open: ReadonlySet<ServerResponse>;
  readonly fresh: ReadonlySet<Socket>;
}

async function drain(handler: Handler, server: Server, { open, fresh }: Work, longestMs: number): Promise<number> {
  handler.service.drain();
  const deadline = performance.now() + longestMs;
  let quiet = 0;
  // The port stays open meanwhile: who comes now is told so, which is better than a refused connection.
  for (let look = 0; performance.now() < deadline; look += 1) {
    const isLate = look >= mostLooks;
    quiet = open.size > 0 || (fresh.size > 0 && !isLate) ? 0 : quiet + 1;
    if (quiet >= quietLooks || (quiet > 0 && isLate)) break;
    await sleep(Math.min(lookMs, longestMs));
  }
  const cut = open.size;
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  await closed;
  return cut;
}

function refuseOpen(address: string): never {
  throw new InferyardError("CONFIG_INVALID", `${address} can be reached by others, and no keys are set`, {
    remedy: "set keys (docs/guide/serving.md), listen on 127.0.0.1, or say --allow-anonymous",
  });
}

function started(
  handler: Handler,
  { address: hostname, port, ...options }: ListenOptions & { readonly address: string; readonly port: number },
): Promise<Server> {
  const { headersTimeout = serverDefaults.headersTimeout, bodyTimeout = serverDefaults.bodyTimeout, tls } = options;
  const slow = {
    headersTimeout: parseDuration(headersTimeout),
    requestTimeout: parseDuration(bodyTimeout),
    connectionsCheckingInterval: checkMs,
    keepAliveTimeout: keepAliveMs,
  };
  const secure =
    tls === undefined ? { serverOptions: slow } : { createServer: createTlsServer, serverOptions: { ...slow, ...tls } };
  const fetch = (request: Request, env: HttpBindings | Http2Bindings): Promise<Response> => {
    const { httpVersion, socket } = env.incoming;
    const { remoteAddress = "" } = socket; // a socket that is closed already has none, and is nobody
    return handler(request, { remoteAddress, listenAddress: hostname, httpVersion });
  };
  return new Promise((resolve, reject) => {
    const server = serve({ fetch, hostname, port, ...secure }, () => resolve(server)) as Server;
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
