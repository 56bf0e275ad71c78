/** Node.js' ServerResponse, with every byte of its body counted until the operating system has taken it. */
import { type IncomingMessage, type OutgoingHttpHeader, type OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { Reader, UnreadResponses } from "./unread-responses.ts";

/**
 * Bytes handed to the operating system at once. A larger body is written in pieces one after the other, so that each piece taken shows that the
 * reader makes progress.
 */
const pieceBytes = 65_536;
/** Types of bodies that are written while they are made. */
const streamTypes: ReadonlySet<unknown> = new Set(["text/event-stream", "application/x-ndjson"]);

type Head = OutgoingHttpHeaders | OutgoingHttpHeader[];
type Done = (error?: Error | null) => void;

/** Body of the response that replaces one for which there is no memory. */
const refusal = JSON.stringify({
  error: {
    code: "OVERLOADED",
    message: "too many bytes of responses wait for their readers; this response was dropped",
    remedy: "send the request again later, as Retry-After says",
    retryable: true,
    retry_after_ms: 1000,
  },
});

/** The response class for `createServer`. `getReader`: the connection of a request; undefined once it is closed. */
export function meteredResponse(
  responses: UnreadResponses,
  readerOf: (request: IncomingMessage) => Reader | undefined,
): typeof ServerResponse {
  return class MeteredResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
    /** Status and headers, held back until the body comes: only then is it known whether there is memory for the response. */
    #head: { readonly status: number; readonly message?: string; readonly headers?: Head } | undefined;

    /** Whether the body is a stream of events, which goes on until one side ends it. */
    isEventStream = false;

    override writeHead(status: number, message?: string | Head, headers?: Head): this {
      const rest =
        typeof message === "string" ? { message, ...(headers && { headers }) } : { ...(message && { headers: message }) };
      this.#head = { status, ...rest };
      return this;
    }

    override flushHeaders(): void {
      this.#sendHead();
      super.flushHeaders();
    }

    override write(chunk: string | Uint8Array, encoding?: BufferEncoding | Done, done?: Done): boolean {
      const [form, onWritten] = typeof encoding === "function" ? [undefined, encoding] : [encoding, done];
      const bytes = typeof chunk === "string" ? Buffer.from(chunk, form) : chunk;
      const reader = readerOf(this.req);
      if (reader !== undefined && !responses.reserve(reader, bytes.length)) {
        this.destroy(); // a part of the response was sent and cannot be withdrawn
        return false;
      }
      this.#sendHead();
      return super.write(bytes, (error) => {
        if (reader !== undefined) responses.sent(reader, bytes.length);
        onWritten?.(error);
      });
    }

    override end(chunk?: string | Uint8Array | Done | null, encoding?: BufferEncoding | Done, done?: Done): this {
      if (typeof chunk === "function") return this.end(undefined, chunk);
      const [form = "utf8", onEnd] = typeof encoding === "function" ? [undefined, encoding] : [encoding, done];
      const reader = readerOf(this.req);
      if (chunk === undefined || chunk === null || reader === undefined || this.writableEnded) {
        this.#sendHead();
        return super.end(chunk, form, onEnd);
      }
      const length = typeof chunk === "string" ? Buffer.byteLength(chunk, form) : chunk.length;
      if (!responses.reserve(reader, length)) return this.#refuse();
      this.#sendHead();
      if (length <= pieceBytes) {
        return super.end(chunk, form, () => {
          responses.sent(reader, length);
          onEnd?.();
        });
      }
      if (onEnd !== undefined) this.once("finish", onEnd);
      this.#writePieces(typeof chunk === "string" ? Buffer.from(chunk, form) : chunk, reader);
      return this;
    }

    #sendHead(): void {
      if (this.#head === undefined) return;
      const { status, message, headers } = this.#head;
      this.#head = undefined;
      this.isEventStream = Object.values(headers ?? {}).some((value) => streamTypes.has(value));
      if (message === undefined) super.writeHead(status, headers);
      else super.writeHead(status, message, headers);
    }

    #writePieces(bytes: Uint8Array, reader: Reader): void {
      const piece = bytes.subarray(0, pieceBytes);
      super.write(piece, (error) => {
        responses.sent(reader, piece.length);
        if (error || this.destroyed) return;
        if (piece.length === bytes.length) super.end();
        else this.#writePieces(bytes.subarray(pieceBytes), reader);
      });
    }

    #refuse(): this {
      if (this.headersSent) return this.destroy();
      const headers = { "content-type": "application/json", "content-length": refusal.length, "retry-after": "1" };
      super.writeHead(503, headers);
      return super.end(refusal);
    }
  };
}
