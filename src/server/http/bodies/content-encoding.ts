/** Compressed request bodies: gzip and deflate (RFC 9110, section 8.4.1). */
import { Readable, pipeline } from "node:stream";
import type { ReadableStream as NodeReadableStream } from "node:stream/web";
import { createUnzip } from "node:zlib";
import { InferyardError } from "../../../contract/errors.ts";

/** The encodings that request bodies may have, for the response header Accept-Encoding. */
export const acceptedEncodings = "gzip, deflate, identity";

/** Whether a body with this Content-Encoding is compressed. Throws MEDIA_TYPE_UNSUPPORTED for an encoding that is not supported. */
export function isCompressed(encoding = "identity"): boolean {
  const name = encoding.trim().toLowerCase();
  if (name === "" || name === "identity") return false;
  if (name === "gzip" || name === "x-gzip" || name === "deflate") return true;
  throw new InferyardError(
    "MEDIA_TYPE_UNSUPPORTED",
    `the content-encoding ${JSON.stringify(encoding.slice(0, 80))} is not supported`,
    { remedy: "send the body uncompressed, or as gzip or deflate", data: { acceptEncoding: acceptedEncodings } },
  );
}

/**
 * The decompressed bytes, in pieces that are made as they are read, so that a reader who stops early bounds what is decompressed. Throws
 * INPUT_INVALID where the body is damaged or not complete.
 */
export async function* decompress(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const decompressed = createUnzip(); // recognizes gzip and zlib ("deflate") by their heads
  pipeline(Readable.fromWeb(body as NodeReadableStream), decompressed, () => {}); // the reader below gets the error
  try {
    for await (const piece of decompressed) yield piece as Uint8Array;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (!code.startsWith("Z_")) throw error;
    throw new InferyardError("INPUT_INVALID", `the body is not what its content-encoding says: ${(error as Error).message}`, {
      remedy: "send the whole body in the encoding that the header names, or uncompressed",
      cause: error,
    });
  }
}
