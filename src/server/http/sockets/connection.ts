/** One client connection. */
import type { Socket } from "node:net";
import { InferyardError } from "../../../contract/errors.ts";
import { type OpenResponse, probeClient } from "./half-closed.ts";
import type { Reader } from "./unread-responses.ts";

/**
 * Requests that a client may send ahead (HTTP pipelining, RFC 9112 section 9.3.2) before the first is responded to. The first one beyond is refused in its
 * turn, and the connection closes after that response. A pending request takes about 10 kB.
 */
const maxPipelined = 256;
/** The same while all connections together have more than `maxTotalPending` pending requests. */
const maxPipelinedWhenFull = 16;
const maxTotalPending = 8192;
/** Pending requests at which the connection is closed at once: clients that send more do not read. */
const maxPending = 4096;

/** Number of pending requests of all connections of a server. */
export interface PendingRequests {
  count: number;
}

/** One connection, with the requests on it that are not responded to yet, in their order. */
export class Connection implements Reader {
  /** Key by which it is counted: `clientAddress` of its other end. */
  readonly client: string;
  /** If set, every request on the connection is refused with this error. */
  readonly refusal: InferyardError | undefined;
  /** When it last became idle, in milliseconds of `performance.now()`. */
  idleSince: number = performance.now();
  /** Whether it has carried a request yet. */
  hadRequest = false;
  /** The socket; with TLS, the TLS socket once the handshake is done. */
  socket: Socket;
  /** Responses that are not completely written, in the order of their requests. No set: V8 keeps what was in one for long. */
  readonly #open: OpenResponse[] = [];
  readonly #pending: PendingRequests;
  readonly #waiting = new Map<OpenResponse, (isOpen: boolean) => void>();
  /** The first request beyond `maxPipelined`. */
  #excess: OpenResponse | undefined;
  #isClosed = false;
  #stopProbing = (): void => {};

  /** `pending`: shared by all connections of a server. */
  constructor(socket: Socket, client: string, pending: PendingRequests, refusal?: InferyardError) {
    this.#pending = pending;
    this.socket = socket;
    this.client = client;
    this.refusal = refusal;
  }

  /** Number of requests without a complete response. */
  get open(): number {
    return this.#open.length;
  }

  /** Registers a request by its response object. */
  begin(response: OpenResponse): void {
    if (this.#isClosed) return; // Node.js still parses what arrived before the end
    this.hadRequest = true;
    this.#open.push(response);
    this.#pending.count += 1;
    if (this.open > maxPending) return this.destroy();
    if (this.open <= (this.#pending.count > maxTotalPending ? maxPipelinedWhenFull : maxPipelined)) return;
    this.#excess ??= response;
    this.socket.pause(); // what is after it is not read
  }

  /** Why the request is refused; undefined if it is not. */
  getRefusal(response: OpenResponse): InferyardError | undefined {
    if (response !== this.#excess) return this.refusal;
    return new InferyardError(
      "OVERLOADED",
      `more requests were sent ahead on one connection than the ${maxPipelined} that may be`,
      {
        remedy: "send the requests from this one on again on another connection, and fewer before the first is answered",
        data: { limit: maxPipelined },
        retryAfterMs: 1000,
      },
    );
  }

  /** The response is complete, or never will be. */
  end(response: OpenResponse): void {
    const at = this.#open.indexOf(response);
    if (at !== -1) {
      this.#open.splice(at, 1);
      this.#pending.count -= 1;
    }
    const [next] = this.#open;
    if (next !== undefined) this.#resolve(next, true);
  }

  /**
   * Resolves when every earlier request on the connection has been responded to and the response was taken, so that one connection has at most
   * one request computed or unread. False if the connection is closed.
   */
  waitForTurn(response: OpenResponse): Promise<boolean> | boolean {
    if (this.#open[0] === response) return true;
    if (!this.#open.includes(response)) return false;
    return new Promise((resolve) => this.#waiting.set(response, resolve));
  }

  /** The client has ended its side of the connection: closes it unless a response is to be written that the client still takes. */
  halfClosed(): void {
    if (this.open === 0) return; // Node.js closes it
    const stop = probeClient(() => this.#open[0]);
    if (stop === undefined) this.destroy();
    else this.#stopProbing = stop;
  }

  /** Closes the connection at once. */
  destroy(): void {
    this.socket.destroy();
    this.forget();
  }

  /** The socket is closed. Responses that wait for their turn get no "close" event from Node.js. */
  forget(): void {
    this.#isClosed = true;
    this.#stopProbing();
    this.#pending.count -= this.open;
    this.#open.length = 0;
    for (const response of this.#waiting.keys()) this.#resolve(response, false);
  }

  #resolve(response: OpenResponse, isOpen: boolean): void {
    this.#waiting.get(response)?.(isOpen);
    this.#waiting.delete(response);
  }
}
