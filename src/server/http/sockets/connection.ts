/** One connection: the requests on it that have no answer yet, and their order. */
import type { Socket } from "node:net";
import type { InferyardError } from "../../../errors.ts";
import type { Reader } from "./unread-responses.ts";

/** Requests that one connection may send ahead (HTTP pipelining) before the first is answered; one that sends more is ended. */
const maxPipelined = 64;

export class Connection implements Reader {
  /** By which it is counted: `clientAddress` of its other end. */
  readonly client: string;
  /** What each of its requests is told in place of an answer. Default: they are answered. */
  readonly refusal: InferyardError | undefined;
  /** When it last became idle, in milliseconds of `performance.now`. */
  idleSince: number = performance.now();
  /** Whether a request came on it. */
  hadRequest = false;
  /** The socket; with TLS, the secure one once the handshake is done. */
  socket: Socket;
  /** Responses that are not written whole, in the order of their requests. */
  readonly #open = new Set<object>();
  readonly #waiting = new Map<object, (isHere: boolean) => void>();
  #isClosed = false;

  constructor(socket: Socket, client: string, refusal?: InferyardError) {
    this.socket = socket;
    this.client = client;
    this.refusal = refusal;
  }

  /** Requests without a whole answer. */
  get open(): number {
    return this.#open.size;
  }

  /** A request came. */
  begin(response: object): void {
    if (this.#isClosed) return; // Node.js parses the rest of what had arrived
    this.hadRequest = true;
    this.#open.add(response);
    if (this.#open.size > maxPipelined) this.destroy();
  }

  /** Its answer is written whole, or never will be. */
  end(response: object): void {
    this.#open.delete(response);
    const [next] = this.#open;
    if (next !== undefined) this.#call(next, true);
  }

  /**
   * Resolves once every earlier request of the connection has been answered and the answer taken, so that one connection never has more than
   * one request computed or unread. false: the connection is gone.
   */
  waitForTurn(response: object): Promise<boolean> | boolean {
    if (!this.#open.has(response)) return false;
    const [first] = this.#open;
    if (first === response) return true;
    return new Promise((resolve) => this.#waiting.set(response, resolve));
  }

  destroy(): void {
    this.socket.destroy();
    this.forget();
  }

  /** The socket is closed: nothing on it goes on. Responses that were never the first get no "close" from Node.js. */
  forget(): void {
    this.#isClosed = true;
    this.#open.clear();
    for (const response of this.#waiting.keys()) this.#call(response, false);
  }

  #call(response: object, isHere: boolean): void {
    this.#waiting.get(response)?.(isHere);
    this.#waiting.delete(response);
  }
}
