/** All connections of a server: how many there may be, in all and of one client, and which of them make room for others. */
import type { Socket } from "node:net";
import { InferyardError } from "../../../errors.ts";
import { isLoopback } from "../access/origin.ts";
import { clientAddress } from "./client-address.ts";
import { Connection } from "./connection.ts";

export interface ConnectionLimits {
  /** Connections in all. */
  readonly max: number;
  /** Connections of one address. Default: a quarter of `max`, and no limit for addresses of this machine, where a proxy may be. */
  readonly maxPerClient?: number;
  /** Whether all connections come from proxies, so that an address tells no client. */
  readonly isProxied: boolean;
}

/** Connections beyond the limits that are kept for a moment, so that their first request is told why; of one client fewer. */
const maxRefusing = 16;
const maxRefusingPerClient = 2;
const refusingMs = 2000;
/** A connection without a request for so long makes room for a new one. */
const idleMs = 1000;

export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #all = new Set<Connection>();
  /** Without a request, the one that is longest so first. */
  readonly #idle = new Set<Connection>();
  readonly #clients = new Map<string, number>();
  readonly #refusing = new Map<Connection, NodeJS.Timeout>();
  readonly #bySocket = new WeakMap<Socket, Connection>();
  /** By address and port of the other end: how a secure socket finds the connection of its plain one. */
  readonly #byPeer = new Map<string, Connection>();
  readonly #onClose: (connection: Connection) => void;
  #refused = 0;

  constructor(limits: ConnectionLimits, onClose: (connection: Connection) => void) {
    this.#limits = limits;
    this.#onClose = onClose;
  }

  get size(): number {
    return this.#all.size + this.#refusing.size;
  }

  /** Connections that were refused because of a limit. */
  get refused(): number {
    return this.#refused;
  }

  /** Requests without a whole answer. */
  get open(): number {
    return [...this.#all, ...this.#refusing.keys()].reduce((sum, { open }) => sum + open, 0);
  }

  /** Whether there is a connection on which no request came yet. */
  get hasUnused(): boolean {
    return [...this.#idle].some(({ hadRequest }) => !hadRequest);
  }

  find(socket: Socket): Connection | undefined {
    return this.#bySocket.get(socket);
  }

  /** A connection was accepted. Beyond the limits it is refused: told so at its first request, or closed at once. */
  accept(socket: Socket): void {
    const { remoteAddress, remotePort } = socket;
    if (remoteAddress === undefined) return void socket.destroy(); // it is closed already
    const client = clientAddress(remoteAddress);
    const refusal = this.#limitError(client);
    if (refusal !== undefined) this.#refused += 1;
    if (refusal !== undefined && !this.#mayExplain(client)) return void socket.destroy();
    const connection = new Connection(socket, client, refusal);
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
    socket.once("close", () => {
      if (this.#byPeer.get(peer) === connection) this.#byPeer.delete(peer);
      connection.forget();
      this.#forget(connection);
    });
  }

  /** The handshake of TLS is done: requests come from this socket. */
  secure(socket: Socket): void {
    const connection = this.#byPeer.get(`${socket.remoteAddress} ${socket.remotePort}`);
    if (connection === undefined) return void socket.destroy();
    connection.socket = socket;
    this.#bySocket.set(socket, connection);
  }

  /** A request came; `response` is its key for `end`. */
  begin(connection: Connection, response: object): void {
    this.#idle.delete(connection);
    connection.begin(response);
  }

  end(connection: Connection, response: object): void {
    connection.end(response);
    if (connection.open > 0 || !this.#all.has(connection)) return;
    connection.idleSince = performance.now();
    this.#idle.add(connection);
  }

  /** Ends all of them, those in a handshake too. */
  destroyAll(): void {
    for (const connection of [...this.#all, ...this.#refusing.keys()]) connection.destroy();
  }

  /** Why one more connection of this client is too many; undefined where there is room, or where an idle one made some. */
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

  /** Closes the connection that is idle for longest, of those that fit. */
  #closeIdle(fits: (connection: Connection) => boolean): boolean {
    const before = performance.now() - idleMs;
    for (const connection of this.#idle) {
      if (connection.idleSince > before) return false;
      if (!fits(connection)) continue;
      connection.destroy();
      this.#forget(connection); // the socket says "close" later
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
    const left = (this.#clients.get(connection.client) ?? 1) - 1;
    if (left === 0) this.#clients.delete(connection.client);
    else this.#clients.set(connection.client, left);
  }
}

function tooMany(found: string, limit: string): InferyardError {
  return new InferyardError("OVERLOADED", `${found}, and ${limit}`, {
    remedy: "send the request again later, as Retry-After says, and keep fewer connections",
    retryAfterMs: 1000,
  });
}
