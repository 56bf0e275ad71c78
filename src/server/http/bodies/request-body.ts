/**
 * Request bodies: read once, within the limits on their size and the budget of all bodies; as text only if they are UTF-8 and within the limits
 * on JSON.
 */
import type { Context } from "hono";
import { InferyardError } from "../../../contract/errors.ts";
import { serverDefaults } from "../../../settings/server-options.ts";
import type { BodyReservation } from "./body-budget.ts";
import { type JsonLimits, countJsonValues } from "./json-limits.ts";
import type { LargeBodyQueue } from "./large-body-queue.ts";
import type { ServerSettings } from "../../server-settings.ts";
import { decompress, isCompressed } from "./content-encoding.ts";
import { decodeUtf8 } from "./utf8.ts";

/**
 * A body whose Content-Length is at most this is read without a counting stream, which costs a third of the time of a small request; its bytes
 * are counted once it is complete. A connection buffers about as much anyway.
 */
const smallBodyBytes = 16_384;
/** Bounds of the size of a block of received bytes. */
const minBlockBytes = 65_536;
const maxBlockBytes = 1_048_576;
/**
 * A body may arrive in this many chunks of any size, and in one more for each `bytesPerChunk` bytes. A chunk takes the thread about 5 us, whatever its size: a body of
 * 3 MB in chunks of one byte takes 2 s.
 */
const freeChunks = 4096;
const bytesPerChunk = 64;
/** Memory of one JSON value besides its text, in bytes: an array element and its copy. */
export const bytesPerValue = 16;
/** The limit on arrays, objects and members is `maxJsonValues` divided by this, and at least `minStructures`. */
const valuesPerStructure = 16;
const minStructures = 1024;
/** Limits on one request body. */
export interface BodyLimits {
  /** Maximum size of any body in bytes. */
  readonly bytes: number;
  /** Maximum size of a JSON text in bytes. */
  readonly jsonBytes: number;
  readonly json: JsonLimits;
}

/** The limits that the settings give. */
export function bodyLimits(settings: ServerSettings): BodyLimits {
  const { maxBodyBytes: bytes, maxJsonBytes, maxJsonDepth, maxJsonValues } = { ...serverDefaults, ...settings };
  const structures = Math.max(minStructures, Math.floor(maxJsonValues / valuesPerStructure));
  const json = { depth: maxJsonDepth, values: maxJsonValues, structures };
  return { bytes, jsonBytes: Math.min(bytes, maxJsonBytes), json };
}

/** The part of a request's context that reading its body needs. */
interface RequestContext extends Pick<Context, "req"> {
  readonly env?: { readonly closeAfterResponse?: (() => void) | undefined };
}

/** The body of one request. It is read at most once. */
export class RequestBody {
  readonly #context: RequestContext;
  readonly #limits: BodyLimits;
  readonly #reservation: BodyReservation;
  readonly #largeBodies: LargeBodyQueue;
  #text: Promise<string> | undefined;
  #bytes: Promise<Uint8Array<ArrayBuffer>> | undefined;

  constructor(context: RequestContext, limits: BodyLimits, reservation: BodyReservation, largeBodies: LargeBodyQueue) {
    this.#largeBodies = largeBodies;
    this.#context = context;
    this.#limits = limits;
    this.#reservation = reservation;
  }

  /** Throws LIMIT_EXCEEDED if Content-Length exceeds the maximum size of any body. */
  refuseAnnounced(): void {
    this.#refuseAnnounced(this.#limits.bytes, "maxBodyBytes");
  }

  /** The whole body as checked JSON text. Its bytes are not kept. */
  text(): Promise<string> {
    this.#text ??=
      this.#bytes === undefined ? this.#read(true).then((bytes) => this.#json(bytes)) : this.#textOfBytes(this.#bytes);
    return this.#text;
  }

  /** Waits until a JSON text of this length may be parsed: large ones one at a time. The caller parses it before it awaits anything else. */
  waitToParse(characters: number): Promise<void> | undefined {
    return this.#largeBodies.wait(characters);
  }

  /** The whole body. */
  bytes(): Promise<Uint8Array<ArrayBuffer>> {
    this.#bytes ??= this.#text === undefined ? this.#read(false) : this.#text.then((text) => new TextEncoder().encode(text));
    return this.#bytes;
  }

  /** JSON that is a part of the body, checked as `text` is. */
  async jsonPart(bytes: Uint8Array): Promise<string> {
    if (bytes.byteLength > this.#limits.jsonBytes) throw tooLarge(this.#limits.jsonBytes, "maxJsonBytes");
    return this.#json(bytes);
  }

  /** The whole body in a buffer of its own. */
  async arrayBuffer(): Promise<ArrayBuffer> {
    const bytes = await this.bytes();
    return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  }

  async #textOfBytes(bytes: Promise<Uint8Array>): Promise<string> {
    return this.jsonPart(await bytes);
  }

  async #json(bytes: Uint8Array): Promise<string> {
    await this.#largeBodies.wait(bytes.byteLength);
    const values = countJsonValues(bytes, this.#limits.json);
    this.#reservation.grow(bytesPerValue * values);
    return decodeUtf8(bytes);
  }

  async #read(isJson: boolean): Promise<Uint8Array<ArrayBuffer>> {
    const { req } = this.#context;
    const compressed = isCompressed(req.header("content-encoding"));
    if (isJson) refuseCharset(req.header("content-type"));
    const { bytes, jsonBytes } = this.#limits;
    const [limit, setting] =
      isJson && jsonBytes < bytes ? ([jsonBytes, "maxJsonBytes"] as const) : ([bytes, "maxBodyBytes"] as const);
    const announced = this.#refuseAnnounced(limit, setting);
    try {
      // Accessing `body` creates a web stream, which doubles the CPU time of reading a small body.
      const isSmall = !compressed && announced !== undefined && announced <= smallBodyBytes;
      const body = isSmall ? null : req.raw.body;
      if (compressed && body !== null) return await this.#receive(decompress(body), limit, setting);
      if (!isSmall) return await this.#receive(body ?? [], limit, setting);
      const small = new Uint8Array(await req.raw.arrayBuffer());
      this.#count(small.byteLength, small.byteLength, limit, setting);
      return small;
    } catch (error) {
      if (error instanceof InferyardError) throw error;
      throw new InferyardError("ABORTED", "the connection ended before the request body was complete", { cause: error });
    }
  }

  /** The value of Content-Length; undefined if there is none. Throws LIMIT_EXCEEDED if it exceeds the limit. */
  #refuseAnnounced(limit: number, setting: LimitSetting): number | undefined {
    const { req } = this.#context;
    const written = req.header("content-length");
    if (written === undefined || req.header("transfer-encoding") !== undefined) return undefined;
    const announced = Number(written);
    if (announced <= limit) return announced;
    throw tooLarge(limit, setting);
  }

  /**
   * Reads the body from its stream, decompressed. Every chunk is counted when it arrives and copied to a block, since many small chunks take many times their
   * size.
   */
  async #receive(
    pieces: AsyncIterable<Uint8Array> | readonly Uint8Array[],
    limit: number,
    setting: LimitSetting,
  ): Promise<Uint8Array<ArrayBuffer>> {
    const blocks = new Blocks();
    let chunks = 0;
    for await (const piece of pieces) {
      chunks += 1;
      if (chunks > freeChunks + blocks.size / bytesPerChunk) {
        this.#context.env?.closeAfterResponse?.();
        throw tooManyChunks(chunks);
      }
      this.#count(piece.byteLength, blocks.size + piece.byteLength, limit, setting);
      blocks.append(piece);
    }
    return blocks.joined();
  }

  #count(added: number, size: number, limit: number, setting: LimitSetting): void {
    if (size > limit) throw tooLarge(limit, setting);
    this.#reservation.grow(added);
  }
}

/** Received bytes in blocks that grow up to a megabyte, of which at most one is not full. */
class Blocks {
  readonly #blocks: Uint8Array<ArrayBuffer>[] = [];
  #last = new Uint8Array(0);
  #used = 0;
  size = 0;

  append(piece: Uint8Array): void {
    let rest = piece;
    while (rest.byteLength > 0) {
      if (this.#used === this.#last.byteLength) this.#add();
      const part = rest.subarray(0, this.#last.byteLength - this.#used);
      this.#last.set(part, this.#used);
      this.#used += part.byteLength;
      this.size += part.byteLength;
      rest = rest.subarray(part.byteLength);
    }
  }

  joined(): Uint8Array<ArrayBuffer> {
    if (this.#blocks.length <= 1) return this.#last.subarray(0, this.size);
    const whole = new Uint8Array(this.size);
    let offset = 0;
    for (const block of this.#blocks) {
      whole.set(block.subarray(0, this.size - offset), offset);
      offset += block.byteLength;
    }
    return whole;
  }

  #add(): void {
    this.#last = new Uint8Array(Math.min(maxBlockBytes, Math.max(minBlockBytes, this.size)));
    this.#used = 0;
    this.#blocks.push(this.#last);
  }
}

type LimitSetting = "maxBodyBytes" | "maxJsonBytes";

function tooLarge(limit: number, setting: LimitSetting): InferyardError {
  const what = setting === "maxJsonBytes" ? "the JSON body" : "the body";
  return new InferyardError("LIMIT_EXCEEDED", `${what} is larger than ${limit} bytes`, {
    remedy: `send less at once, or raise ${setting}`,
    data: { limit },
  });
}

function tooManyChunks(chunks: number): InferyardError {
  return new InferyardError("LIMIT_EXCEEDED", `the body arrives in more than ${chunks - 1} chunks that are too small`, {
    remedy: `send chunks of ${bytesPerChunk} bytes or more`,
    data: { limit: chunks - 1 },
  });
}

/** Throws MEDIA_TYPE_UNSUPPORTED for JSON in an encoding other than UTF-8 or its subset ASCII. */
function refuseCharset(contentType = ""): void {
  const charset = /;\s*charset\s*=\s*"?(?<name>[^";\s]*)/i.exec(contentType)?.groups?.["name"];
  if (charset === undefined || /^(?:utf-?8|us-ascii)$/i.test(charset)) return;
  throw new InferyardError("MEDIA_TYPE_UNSUPPORTED", `the charset ${JSON.stringify(charset.slice(0, 80))} is not supported`, {
    remedy: "send JSON as UTF-8",
  });
}
