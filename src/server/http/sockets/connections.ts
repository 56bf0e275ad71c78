/** All connections of a server: limits on their number, in all and per client, and which idle ones are closed for new ones. */
import type { Socket } from "node:net";
import { required } from "../../../contract/checked.ts";
import { InferyardError } from "../../../contract/errors.ts";
import { isLoopback } from "../access/origin.ts";
import { clientAddress } from "./client-address.ts";
import { Connection, type PendingRequests } from "./connection.ts";
import type { OpenResponse } from "./half-closed.ts";

/** Limits on connections. */
export interface ConnectionLimits {
  /** Maximum number of connections. */
  readonly max: number;
  /** Maximum number of connections of one client. Default: a quarter of `max`; unlimited for loopback addresses, where a proxy may be. */
  readonly maxPerClient?: number;
  /** Whether all connections come from proxies, so that addresses do not identify clients. */
  readonly isProxied: boolean;
}

/**
 * Connections beyond the limits that stay open for a moment so that their first request gets a response with the reason; in all, and per client.
 */
const maxRefusing = 16;
const maxRefusingPerClient = 2;
const refusingMs = 2000;
/** A connection without a request for this long may be closed in favor of a new one. */
const idleMs = 1000;

/** The open connections of a server, within their limits. */
export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #all = new Set<Connection>();
  /** Connections without a request, the one that is idle for longest first. */
  readonly #idle = new Set<Connection>();
  readonly #clients = new Map<string, number>();
  /** Connections beyond the limits, with the timer that closes them. */
  readonly #refusing = new Map<Connection, NodeJS.Timeout>();
  readonly #bySocket = new WeakMap<Socket, Connection>();
  /** By address and port of the other end; a TLS socket finds the connection of its plain socket by these. */
  readonly #byPeer = new Map<string, Connection>();
  readonly #onClose: (connection: Connection) => void;
  readonly #pending: PendingRequests = { count: 0 };
  #refused = 0;

  constructor(limits: ConnectionLimits, onClose: (connection: Connection) => void) {
    this.#limits = limits;
    this.#onClose = onClose;
  }

  /** Number of open connections. */
  get size(): number {
    return this.#all.size + this.#refusing.size;
  }

  /** Number of connections that were refused because of a limit. */
  get refused(): number {
    return this.#refused;
  }

  /** Number of requests without a complete response. */
  get open(): number {
    return [...this.#all, ...this.#refusing.keys()].reduce((sum, { open }) => sum + open, 0);
  }

  /** Whether there is a connection that has not carried a request yet. */
  get hasUnused(): boolean {
    return [...this.#idle].some(({ hadRequest }) => !hadRequest);
  }

  /** The connection of a socket; undefined once it is closed. */
  find(socket: Socket): Connection | undefined {
    return this.#bySocket.get(socket);
  }

  /** Registers an accepted connection. Beyond the limits, its first request is refused with the reason, or it is closed at once. */
  accept(socket: Socket): void {
    const { remoteAddress, remotePort } = socket;
    if (remoteAddress === undefined) return void socket.destroy(); // already closed
    const client = clientAddress(remoteAddress);
    const refusal = this.#limitError(client);
    if (refusal !== undefined) this.#refused += 1;
    if (refusal !== undefined && !this.#mayExplain(client)) return void socket.destroy();
    const connection = new Connection(socket, client, this.#pending, refusal);
    const peer = `${remoteAddress} ${remotePort}`;
    if (refusal === undefined) {
      this.#all.add(connection);
      this.#idle.add(connection);
      this.#clients.set(client, (this.#clients.get(client) ?? 0) + 1);
    } else {
      const timer = setTimeout(() => connection.destroy(), refusingMs).unref();
      this.#refusing.set(connection, timer);
    }
    this.#bySocket.set(socket, connection);
    this.#byPeer.set(peer, connection);
    socket.once("end", () => connection.halfClosed());
    socket.once("close", () => {
      if (this.#byPeer.get(peer) === connection) this.#byPeer.delete(peer);
      connection.forget();
      this.#forget(connection);
    });
  }

  /** The TLS handshake is done: requests arrive on this socket. */
  secure(socket: Socket): void {
    const connection = this.#byPeer.get(`${socket.remoteAddress} ${socket.remotePort}`);
    if (connection === undefined) return void socket.destroy();
    connection.socket = socket;
    socket.once("end", () => connection.halfClosed());
    this.#bySocket.set(socket, connection);
  }

  /** Registers a request; `response` is its key for `end`. */
  begin(connection: Connection, response: OpenResponse): void {
    this.#idle.delete(connection);
    connection.begin(response);
  }

  /** The response is complete, or never will be. */
  end(connection: Connection, response: OpenResponse): void {
    connection.end(response);
    if (connection.open > 0 || !this.#all.has(connection)) return;
    connection.idleSince = performance.now();
    this.#idle.add(connection);
  }

  /** Closes all connections, including connections in a handshake. */
  destroyAll(): void {
    for (const connection of [...this.#all, ...this.#refusing.keys()]) connection.destroy();
  }

  /** Why one more connection of this client exceeds a limit; undefined if there is capacity, or if an idle connection could be closed. */
  #limitError(client: string): InferyardError | undefined {
    const { max } = this.#limits;
    const own = this.#clients.get(client) ?? 0;
    const maxOwn = this.#maxFor(client);
    if (own >= maxOwn && !this.#closeIdle((other) => other.client === client))
      return tooMany(`${own} connections of this client are open`, `maxConnectionsPerClient is ${maxOwn}`);
    if (this.#all.size < max || this.#closeIdle(() => true)) return undefined;
    return tooMany(`${this.#all.size} connections are open`, `maxConnections is ${max}`);
  }

  #maxFor(client: string): number {
    const { max, maxPerClient, isProxied } = this.#limits;
    if (isProxied) return Number.POSITIVE_INFINITY;
    if (maxPerClient !== undefined) return maxPerClient;
    return isLoopback(client) ? Number.POSITIVE_INFINITY : Math.max(1, Math.floor(max / 4));
  }

  #mayExplain(client: string): boolean {
    const own = [...this.#refusing.keys()].filter((other) => other.client === client);
    return this.#refusing.size < maxRefusing && own.length < maxRefusingPerClient;
  }

  /** Closes the matching connection that is idle for longest. False if none could be closed. */
  #closeIdle(fits: (connection: Connection) => boolean): boolean {
    const before = performance.now() - idleMs;
    for (const connection of this.#idle) {
      if (connection.idleSince > before) return false;
      if (!fits(connection)) continue;
      connection.destroy();
      this.#forget(connection); // its "close" event comes later
      return true;
    }
    return false;
  }

  #forget(connection: Connection): void {
    clearTimeout(this.#refusing.get(connection));
    this.#refusing.delete(connection);
    this.#idle.delete(connection);
    this.#onClose(connection);
    if (!this.#all.delete(connection)) return;
    const remaining = required(this.#clients.get(connection.client), "the count of the client") - 1;
    if (remaining === 0) this.#clients.delete(connection.client);
    else this.#clients.set(connection.client, remaining);
  }
}

function tooMany(found: string, limit: string): InferyardError {
  return new InferyardError("OVERLOADED", `${found}, and ${limit}`, {
    remedy: "send the request again later, as Retry-After says, and keep fewer connections",
    retryAfterMs: 1000,
  });
}
