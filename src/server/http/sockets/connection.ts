/** One client connection. */
import type { Socket } from "node:net";
import type { InferyardError } from "../../../contract/errors.ts";
import { type OpenResponse, probeClient } from "./half-closed.ts";
import type { Reader } from "./unread-responses.ts";

/** Requests that a client may send ahead (HTTP pipelining) before the first is responded to. A connection with more is closed. */
const maxPipelined = 64;

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
  /** Responses that are not completely written, in the order of their requests. */
  readonly #open = new Set<OpenResponse>();
  readonly #waiting = new Map<OpenResponse, (isOpen: boolean) => void>();
  #isClosed = false;
  #stopProbing = (): void => {};

  constructor(socket: Socket, client: string, refusal?: InferyardError) {
    this.socket = socket;
    this.client = client;
    this.refusal = refusal;
  }

  /** Number of requests without a complete response. */
  get open(): number {
    return this.#open.size;
  }

  /** Registers a request by its response object. */
  begin(response: OpenResponse): void {
    if (this.#isClosed) return; // Node.js still parses what arrived before the end
    this.hadRequest = true;
    this.#open.add(response);
    if (this.#open.size > maxPipelined) this.destroy();
  }

  /** The response is complete, or never will be. */
  end(response: OpenResponse): void {
    this.#open.delete(response);
    const [next] = this.#open;
    if (next !== undefined) this.#resolve(next, true);
  }

  /**
   * Resolves when every earlier request on the connection has been responded to and the response was taken, so that one connection has at most
   * one request computed or unread. False if the connection is closed.
   */
  waitForTurn(response: OpenResponse): Promise<boolean> | boolean {
    if (!this.#open.has(response)) return false;
    const [first] = this.#open;
    if (first === response) return true;
    return new Promise((resolve) => this.#waiting.set(response, resolve));
  }

  /** The client has ended its side of the connection: closes it unless a response is to be written that the client still takes. */
  halfClosed(): void {
    if (this.open === 0) return; // Node.js closes it
    const stop = probeClient(() => [...this.#open][0]);
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
    this.#open.clear();
    for (const response of this.#waiting.keys()) this.#resolve(response, false);
  }

  #resolve(response: OpenResponse, isOpen: boolean): void {
    this.#waiting.get(response)?.(isOpen);
    this.#waiting.delete(response);
  }
}
