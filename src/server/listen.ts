/** The server on a port of Node.js. Nothing else of it knows that there are sockets, but `sockets/`. */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type Http2Bindings, type HttpBindings, serve } from "@hono/node-server";
import { InferyardError } from "../errors.ts";
import { parseDuration } from "../runtime/options/duration.ts";
import { serverDefaults } from "../settings/server-section.ts";
import type { Handler } from "./handler.ts";
import { isLoopback } from "./http/access/origin.ts";
import type { Connection } from "./http/sockets/connection.ts";
import { Connections } from "./http/sockets/connections.ts";
import { memoryShare } from "./http/sockets/memory-share.ts";
import { meteredResponse } from "./http/sockets/metered-response.ts";
import { UnreadResponses } from "./http/sockets/unread-responses.ts";

export interface ListenOptions {
  /** Default: "127.0.0.1". */
  readonly address?: string;
  /** Default: 8080; 0 takes a free one. */
  readonly port?: number;
  /** Whether an address that others can reach may be listened on without keys. Default: false. */
  readonly allowAnonymous?: boolean;
  /** Longest time for a client to send the head of a request, and for the handshake of TLS; at most `bodyTimeout`. 0: no limit. Default: "10s". */
  readonly headersTimeout?: number | string;
  /** Longest time for a client to send a whole request; after it the answer is 408. 0: no limit. Default: "60s". */
  readonly bodyTimeout?: number | string;
  /** A client that takes nothing of its answer for so long is disconnected. 0: no limit. Default: "30s". */
  readonly stallTimeout?: number | string;
  /** Bytes of answers that clients have not taken yet, in all. Default: an eighth of the memory, at most 1 GiB. */
  readonly maxUnreadBytes?: number;
  /** Connections in all. Default: 1024. */
  readonly maxConnections?: number;
  /**
   * Connections of one address, or network of IPv6. Not counted with the handler's `trustProxy`. Default: a quarter of `maxConnections`, and
   * no limit for addresses of this machine.
   */
  readonly maxConnectionsPerClient?: number;
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
const quietChecks = 5;
const drainCheckMs = 20;
/** Where something comes all the time, or nothing on open connections, it looks no more often than this. */
const maxChecks = 50;
/** How often connections are looked at for those that are too slow. */
const checkMs = 500;
const maxDefaultUnreadBytes = 2 ** 30;

/** CONFIG_INVALID where the address is taken, is not one of this machine, or would be open to everybody. */
export async function listen(handler: Handler, options: ListenOptions = {}): Promise<Listening> {
  const { address = serverDefaults.address, port = serverDefaults.port, allowAnonymous = false } = options;
  const { keys = [], drainTimeout = serverDefaults.drainTimeout, trustProxy = false } = handler.service.settings;
  if (!isLoopback(address) && keys.length === 0 && !allowAnonymous) refuseAnonymous(address);
  const { stallTimeout = serverDefaults.stallTimeout, maxUnreadBytes = memoryShare(1 / 8, maxDefaultUnreadBytes) } = options;
  const answers = new UnreadResponses({ maxBytes: maxUnreadBytes, stallMs: parseDuration(stallTimeout) });
  const { maxConnections: max = serverDefaults.maxConnections, maxConnectionsPerClient: maxPerClient } = options;
  const limits = { max, ...(maxPerClient === undefined ? {} : { maxPerClient }), isProxied: trustProxy };
  const connections = new Connections(limits, (connection) => answers.forget(connection));
  handler.watchConnections(() => ({
    open: connections.size,
    unreadBytes: answers.bytes,
    refused: connections.refused,
    disconnected: answers.disconnected,
  }));
  const server = await startServer(handler, { ...options, address, port }, connections, answers);
  const stalls = setInterval(() => answers.endStalled(), checkMs).unref();
  const { port: taken } = server.address() as AddressInfo;
  const scheme = options.tls === undefined ? "http" : "https";
  let closing: Promise<number> | undefined;
  return {
    url: `${scheme}://${address.includes(":") ? `[${address}]` : address}:${taken}`,
    close: () =>
      (closing ??= drain(handler, server, connections, parseDuration(drainTimeout)).finally(() => clearInterval(stalls))),
  };
}

async function drain(handler: Handler, server: Server, connections: Connections, longestMs: number): Promise<number> {
  handler.service.drain();
  const deadline = performance.now() + longestMs;
  let quiet = 0;
  // The port stays open meanwhile: who comes now is told so, which is better than a refused connection.
  for (let look = 0; performance.now() < deadline; look += 1) {
    const isLate = look >= maxChecks;
    quiet = connections.open > 0 || (connections.hasUnused && !isLate) ? 0 : quiet + 1;
    if (quiet >= quietChecks || (quiet > 0 && isLate)) break;
    await sleep(Math.min(drainCheckMs, longestMs));
  }
  const cut = connections.open;
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  connections.destroyAll();
  await closed;
  return cut;
}

function refuseAnonymous(address: string): never {
  throw new InferyardError("CONFIG_INVALID", `${address} can be reached by others, and no keys are set`, {
    remedy: "set keys (docs/guide/serving.md), listen on 127.0.0.1, or say --allow-anonymous",
  });
}

function startServer(
  handler: Handler,
  { address: hostname, port, ...options }: ListenOptions & { readonly address: string; readonly port: number },
  connections: Connections,
  answers: UnreadResponses,
): Promise<Server> {
  const { tls } = options;
  const serverOptions = {
    ...timesOf(options),
    ServerResponse: meteredResponse(answers, ({ socket }) => connections.find(socket)),
  };
  const secure =
    tls === undefined
      ? { serverOptions }
      : { createServer: createTlsServer, serverOptions: { ...serverOptions, ...handshakeOf(serverOptions), ...tls } };
  const fetch = async (request: Request, { incoming, outgoing }: HttpBindings | Http2Bindings): Promise<Response> => {
    const { httpVersion, socket } = incoming;
    const { remoteAddress = "" } = socket; // a socket that is closed already has none, and is nobody
    const connection = connections.find(socket);
    const turn = connection?.waitForTurn(outgoing) ?? false;
    if (connection === undefined || !(turn === true || (await turn))) return new Response(null, { status: 499 }); // nobody reads it
    const refusal = connection.refusal ?? (answers.isFull() ? unreadRefusal(answers.bytes) : undefined);
    return handler(request, {
      remoteAddress,
      listenAddress: hostname,
      httpVersion,
      ...(refusal === undefined ? {} : { refusal }),
    });
  };
  return new Promise((resolve, reject) => {
    const server = serve({ fetch, hostname, port, ...secure }, () => resolve(server)) as Server;
    server.prependListener("connection", (socket: Socket) => connections.accept(socket));
    if (tls !== undefined) server.prependListener("secureConnection", (socket: Socket) => connections.secure(socket));
    // Before the handler, which may have sent its head already when others are told.
    server.prependListener("request", ({ socket }: IncomingMessage, response: ServerResponse) => {
      const connection = connections.find(socket);
      if (connection === undefined) return;
      follow(connections, connection, response);
      if (handler.service.draining || connection.refusal !== undefined) response.setHeader("connection", "close");
    });
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

function follow(connections: Connections, connection: Connection, response: ServerResponse): void {
  connections.begin(connection, response);
  response.once("close", () => connections.end(connection, response));
}

/** Milliseconds, as Node.js takes them: whole, and no longer for the head than for the whole request. 0: no limit. */
function timesOf({
  headersTimeout = serverDefaults.headersTimeout,
  bodyTimeout = serverDefaults.bodyTimeout,
}: Pick<ListenOptions, "headersTimeout" | "bodyTimeout">): ServerTimes {
  const [headersMs, requestTimeout] = [Math.ceil(parseDuration(headersTimeout)), Math.ceil(parseDuration(bodyTimeout))];
  return {
    headersTimeout: requestTimeout === 0 || headersMs === 0 ? headersMs : Math.min(headersMs, requestTimeout),
    requestTimeout,
    connectionsCheckingInterval: checkMs,
    keepAliveTimeout: keepAliveMs,
  };
}

interface ServerTimes {
  readonly headersTimeout: number;
  readonly requestTimeout: number;
  readonly connectionsCheckingInterval: number;
  readonly keepAliveTimeout: number;
}

/** A handshake of TLS has the time of a head; without a limit for that, the one of Node.js. */
function handshakeOf({ headersTimeout }: ServerTimes): { readonly handshakeTimeout?: number } {
  return headersTimeout === 0 ? {} : { handshakeTimeout: headersTimeout };
}

function unreadRefusal(bytes: number): InferyardError {
  return new InferyardError("OVERLOADED", `${bytes} bytes of answers wait for their readers, and nothing more is computed`, {
    remedy: "send the request again later, as Retry-After says, and read answers as they come",
    retryAfterMs: 1000,
  });
}
