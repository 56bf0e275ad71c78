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

/** Whether the body is a form. */
export function isForm({ req }: Context<Env>): boolean {
  return /^multipart\/form-data\s*;/i.test(req.header("content-type") ?? "");
}

/** Reads the body as a form, within the limits on bodies. Throws INPUT_INVALID for a damaged one, and LIMIT_EXCEEDED for one with more than 1,024 parts. */
export async function readForm(context: Context<Env>): Promise<FormBody> {
  const bytes = await context.get("body").bytes();
  const headers = { "content-type": context.req.header("content-type") ?? "" };
  const entries = await parse(new Response(bytes, { headers }));
  if (entries.length > maxParts)
    throw new InferyardError("LIMIT_EXCEEDED", `the form has ${entries.length} parts; the limit is ${maxParts}`);
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
