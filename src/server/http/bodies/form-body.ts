/** Bodies of HTML forms (multipart/form-data, RFC 7578) in which clients send files. */
import type { Context } from "hono";
import { InferyardError } from "../../../contract/errors.ts";
import type { Env } from "../context.ts";

/** A form: its texts by the name of their field, and its files. */
export interface FormBody {
  /** The last text of each field. */
  readonly fields: Readonly<Record<string, string>>;
  /** All texts of each field. */
  readonly texts: Readonly<Record<string, readonly string[]>>;
  readonly files: readonly FormFile[];
}

/** A file of a form. */
export interface FormFile {
  /** Name of the field. */
  readonly field: string;
  /** Name of the file as the client wrote it; "" if it wrote none. */
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** Parts of a form, at most. */
const maxParts = 1024;
/** Bytes of the header of a part, and before the first part, at most. */
const maxHeaderBytes = 16_384;

/** Whether the body is a form. */
export function isForm({ req }: Context<Env>): boolean {
  return /^multipart\/form-data\s*;/i.test(req.header("content-type") ?? "");
}

/** Reads the body as a form, within the limits on bodies. Throws INPUT_INVALID for a damaged one, and LIMIT_EXCEEDED for one with more than 1,024 parts. */
export async function readForm(context: Context<Env>): Promise<FormBody> {
  const bytes = await context.get("body").bytes();
  const contentType = context.req.header("content-type") ?? "";
  checkParts(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), contentType);
  const entries = await parse(new Response(bytes, { headers: { "content-type": contentType } }));
  const fields: Record<string, string> = {};
  const texts = new Map<string, string[]>();
  const files: FormFile[] = [];
  for (const [field, value] of entries) {
    if (typeof value === "string") {
      Object.defineProperty(fields, field, { value, enumerable: true, configurable: true });
      texts.set(field, [...(texts.get(field) ?? []), value]);
    } else files.push({ field, name: value.name, bytes: new Uint8Array(await value.arrayBuffer()) });
  }
  return { fields, texts: Object.fromEntries(texts), files };
}

/**
 * Refuses what would take long to parse: a part takes about 20 us, a line of its header 0.3 us. Throws LIMIT_EXCEEDED for more than `maxParts` parts, or a longer header
 * than `maxHeaderBytes`. Whether the body is a form is left to the parser.
 */
function checkParts(bytes: Buffer, contentType: string): void {
  const { quoted, plain = "" } = /;\s*boundary=(?:"(?<quoted>[^"]*)"|(?<plain>[^;\s]*))/i.exec(contentType)?.groups ?? {};
  const boundary = Buffer.from(`--${quoted ?? plain}`);
  let parts = 0;
  for (let at = bytes.indexOf(boundary); at !== -1; at = bytes.indexOf(boundary, at + boundary.length)) {
    const isLate = parts === 0 && at > maxHeaderBytes;
    parts += 1;
    if (parts > maxParts + 1)
      throw new InferyardError("LIMIT_EXCEEDED", `the form has more than ${maxParts} parts, which is the limit`); // the last delimiter begins none
    const head = bytes.subarray(at, at + maxHeaderBytes);
    if (isLate || (head.length === maxHeaderBytes && !head.includes("\r\n\r\n")))
      throw new InferyardError("LIMIT_EXCEEDED", `the header of a part of the form is longer than ${maxHeaderBytes} bytes`);
  }
}

async function parse(form: Response): Promise<readonly (readonly [string, string | File])[]> {
  try {
    return [...(await form.formData())];
  } catch (error) {
    throw new InferyardError("INPUT_INVALID", "the body is not a form, or is cut off", {
      remedy: "send multipart/form-data with a boundary, as curl -F does",
      cause: error,
    });
  }
}
