/** Runs the handler on a port of Node.js. Only this file and `http/sockets/` know sockets. */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type Http2Bindings, type HttpBindings, serve } from "@hono/node-server";
import { omitUndefined } from "../contract/checked.ts";
import { InferyardError } from "../contract/errors.ts";
import { parseDuration } from "../runtime/options/duration.ts";
import type { ServerDefaults, SocketSettings } from "../settings/generated-server-settings.ts";
import { serverDefaults } from "../settings/server-options.ts";
import type { Handler } from "./handler.ts";
import { cannotListen, refuseAnonymous } from "./check-address.ts";
import type { Connection } from "./http/sockets/connection.ts";
import { Connections } from "./http/sockets/connections.ts";
import { keepHalfClosed } from "./http/sockets/half-closed.ts";
import { memoryShare } from "./http/sockets/memory-share.ts";
import { meteredResponse } from "./http/sockets/metered-response.ts";
import { UnreadResponses } from "./http/sockets/unread-responses.ts";

/** Where the server listens, and the limits on its connections. Times are milliseconds, or durations such as "30s". */
export interface ListenOptions extends SocketSettings {
  /** Certificate chain and private key, as PEM. Default: no TLS. */
  readonly tls?: { readonly cert: string; readonly key: string };
}

/** A server that listens. */
export interface Listening {
  /** Base URL, with the port that was bound. */
  readonly url: string;
  /**
   * Shuts the server down: new requests get SHUTTING_DOWN, running ones have `drainTimeout` to finish, then the port is released. Resolves with
   * the number of requests that were interrupted.
   */
  close(): Promise<number>;
}

/** Idle connections are kept longer than load balancers keep them, so that the load balancer is the side that closes. */
const keepAliveMs = 75_000;
/**
 * During shutdown the server checks this often, with nothing to do, before it stops listening: requests sent before the signal may not have been
 * read yet. Checks are counted instead of time, since one turn of a busy event loop may take long, and each turn accepts connections once.
 */
const quietChecks = 5;
const drainCheckMs = 20;
/** Maximum number of checks where new connections keep coming, or open ones carry no request. */
const maxChecks = 50;
/** Interval of the checks for connections that are too slow, in milliseconds. */
const checkMs = 500;
const maxDefaultUnreadBytes = 2 ** 30;

/**
 * Starts to listen. Throws CONFIG_INVALID if the address is in use, is not an address of this machine, or would be open to other machines without
 * keys.
 */
export async function listen(handler: Handler, given: ListenOptions = {}): Promise<Listening> {
  const options = { ...serverDefaults, ...omitUndefined(given) };
  const { address, allowAnonymous, stallTimeout, maxConnections: max, maxConnectionsPerClient: maxPerClient } = options;
  const { keys = [], drainTimeout = serverDefaults.drainTimeout, trustProxy = false } = handler.service.settings;
  refuseAnonymous({ address, keys, allowAnonymous });
  const { maxUnreadBytes = memoryShare(1 / 8, maxDefaultUnreadBytes) } = options;
  const responses = new UnreadResponses({ maxBytes: maxUnreadBytes, stallMs: parseDuration(stallTimeout) });
  const limits = { max, ...omitUndefined({ maxPerClient }), isProxied: trustProxy };
  const connections = new Connections(limits, (connection) => responses.forget(connection));
  handler.watchConnections(() => ({
    open: connections.size,
    unreadBytes: responses.bytes,
    refused: connections.refused,
    disconnected: responses.disconnected,
  }));
  const server = await startServer(handler, options, connections, responses);
  const stallTimer = setInterval(() => responses.endStalled(), checkMs).unref();
  const { port: boundPort } = server.address() as AddressInfo;
  const scheme = options.tls === undefined ? "http" : "https";
  let closing: Promise<number> | undefined;
  return {
    url: `${scheme}://${address.includes(":") ? `[${address}]` : address}:${boundPort}`,
    close: () =>
      (closing ??= drain(handler, server, connections, parseDuration(drainTimeout)).finally(() => clearInterval(stallTimer))),
  };
}

async function drain(handler: Handler, server: Server, connections: Connections, maxMs: number): Promise<number> {
  handler.service.drain();
  const deadline = performance.now() + maxMs;
  let quiet = 0;
  // The port stays open meanwhile: a response SHUTTING_DOWN is better than a refused connection.
  for (let check = 0; performance.now() < deadline; check += 1) {
    const isLate = check >= maxChecks;
    quiet = connections.open > 0 || (connections.hasUnused && !isLate) ? 0 : quiet + 1;
    if (quiet >= quietChecks || (quiet > 0 && isLate)) break;
    await sleep(Math.min(drainCheckMs, maxMs));
  }
  const interrupted = connections.open;
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  connections.destroyAll();
  await closed;
  return interrupted;
}

function startServer(
  handler: Handler,
  { address: hostname, port, ...options }: ListenOptions & ServerDefaults,
  connections: Connections,
  responses: UnreadResponses,
): Promise<Server> {
  const { tls } = options;
  const serverOptions = {
    ...serverTimes(options),
    ServerResponse: meteredResponse(responses, ({ socket }) => connections.find(socket)),
  };
  const secure =
    tls === undefined
      ? { serverOptions }
      : { createServer: createTlsServer, serverOptions: { ...serverOptions, ...handshakeTimes(serverOptions), ...tls } };
  const { turns } = handler.service;
  const fetch = async (request: Request, { incoming, outgoing }: HttpBindings | Http2Bindings): Promise<Response> => {
    const { httpVersion, socket } = incoming;
    const { remoteAddress = "" } = socket; // undefined on a socket that is already closed
    const connection = connections.find(socket);
    const isFirst = connection?.waitForTurn(outgoing) ?? false;
    if (connection === undefined || !(isFirst === true || (await isFirst))) return gone();
    await turns.wait(connection.client);
    if (connections.find(socket) === undefined) return gone();
    const refusal =
      connection.getRefusal(outgoing) ?? (responses.isFull(connection.client) ? overloadError(responses.bytes) : undefined);
    return handler(request, {
      remoteAddress,
      listenAddress: hostname,
      httpVersion,
      closeAfterResponse: () => outgoing.once("finish", () => socket.destroySoon()),
      ...omitUndefined({ refusal }),
    });
  };
  return new Promise((resolve, reject) => {
    const server = serve({ fetch, hostname, port, ...secure }, () => resolve(server)) as Server;
    keepHalfClosed(server);
    server.prependListener("connection", (socket: Socket) => connections.accept(socket));
    if (tls !== undefined) server.prependListener("secureConnection", (socket: Socket) => connections.secure(socket));
    // Before the handler, which may have sent the head when later listeners run.
    server.prependListener("request", ({ socket }: IncomingMessage, response: ServerResponse) => {
      const connection = connections.find(socket);
      if (connection === undefined) return;
      follow(connections, connection, response);
      if (handler.service.draining || connection.getRefusal(response) !== undefined) response.setHeader("connection", "close");
    });
    server.once("error", (error: NodeJS.ErrnoException) => reject(cannotListen(hostname, port, error)));
  });
}

/** The answer to a client that has left. */
function gone(): Response {
  return new Response(null, { status: 499 });
}

function follow(connections: Connections, connection: Connection, response: ServerResponse): void {
  connections.begin(connection, response);
  response.once("close", () => connections.end(connection, response));
}

/** The timeouts as Node.js takes them: whole milliseconds, and not more for the head than for the whole request. 0: no limit. */
function serverTimes({ headersTimeout, bodyTimeout }: Pick<ServerDefaults, "headersTimeout" | "bodyTimeout">): ServerTimes {
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

/** The TLS handshake has the timeout of the head; without one, the default of Node.js. */
function handshakeTimes({ headersTimeout }: ServerTimes): { readonly handshakeTimeout?: number } {
  return headersTimeout === 0 ? {} : { handshakeTimeout: headersTimeout };
}

function overloadError(bytes: number): InferyardError {
  return new InferyardError("OVERLOADED", `${bytes} bytes of responses wait for their readers, and no more are computed`, {
    remedy: "send the request again later, as Retry-After says, and read responses as they arrive",
    retryAfterMs: 1000,
  });
}
