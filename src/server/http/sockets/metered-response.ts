/** The response of Node.js, with every byte of its body counted until the system has taken it for the client. */
import { type IncomingMessage, type OutgoingHttpHeader, type OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { Reader, UnreadResponses } from "./unread-responses.ts";

/**
 * Bytes handed to the system at once. A larger body is written in pieces, one after the other, so that each piece taken is a sign that the
 * reader goes on.
 */
const pieceBytes = 65_536;

type Head = OutgoingHttpHeaders | OutgoingHttpHeader[];
type Done = (error?: Error | null) => void;

/** The answer in place of one that has no room. */
const refusal = JSON.stringify({
  error: {
    code: "OVERLOADED",
    message: "too many bytes of answers wait for their readers: this answer was dropped",
    remedy: "send the request again later, as Retry-After says",
    retryable: true,
    retry_after_ms: 1000,
  },
});

/** The class of responses for `createServer`. `readerOf`: the connection of a request; undefined once it is gone. */
export function meteredResponse(
  answers: UnreadResponses,
  readerOf: (request: IncomingMessage) => Reader | undefined,
): typeof ServerResponse {
  return class MeteredResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
    /** Status and headers, kept until the body comes: only then is it known whether the answer has room. */
    #head: { readonly status: number; readonly message?: string; readonly headers?: Head } | undefined;

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
      if (reader !== undefined && !answers.reserve(reader, bytes.length)) {
        this.destroy(); // what was sent of it cannot be taken back
        return false;
      }
      this.#sendHead();
      return super.write(bytes, (error) => {
        if (reader !== undefined) answers.sent(reader, bytes.length);
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
      if (!answers.reserve(reader, length)) return this.#refuse();
      this.#sendHead();
      if (length <= pieceBytes) {
        return super.end(chunk, form, () => {
          answers.sent(reader, length);
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
      if (message === undefined) super.writeHead(status, headers);
      else super.writeHead(status, message, headers);
    }

    #writePieces(bytes: Uint8Array, reader: Reader): void {
      const piece = bytes.subarray(0, pieceBytes);
      super.write(piece, (error) => {
        answers.sent(reader, piece.length);
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
