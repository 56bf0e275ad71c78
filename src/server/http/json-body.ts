/** JSON bodies of requests. */
import type { Context } from "hono";
import { InferyardError, invalidInput } from "../../contract/errors.ts";
import { isObject } from "../../contract/shapes/shape.ts";
import { keepWritten } from "../../formats/json/exact-json.ts";
import type { Env } from "./context.ts";

/**
 * The JSON body; a missing body is an empty object. Where objects nest in others, which is where clients have schemas, arguments of tools and the like, numbers and the order of
 * keys are kept for `jsonText`. `hasTensors`: whether nested numbers are only computed with. Throws INPUT_INVALID and LIMIT_EXCEEDED.
 */
export async function jsonBody(context: Context<Env>, hasTensors = false): Promise<unknown> {
  const body = context.get("body");
  const text = await body.text();
  if (text.trim() === "") return {};
  await body.waitToParse(text.length);
  const value = parsed(text);
  if (!hasTensors && nestsObjects(value)) keepWritten(value, text);
  return value;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalidInput("the body is not JSON", "send a JSON object; GET /openapi.json describes every request");
  }
}

function nestsObjects(value: unknown): boolean {
  if (!isObject(value)) return false;
  return Object.values(value).some((member) => isObject(member) || (Array.isArray(member) && member.some(isObject)));
}

/** Throws MEDIA_TYPE_UNSUPPORTED for a body whose content type is not JSON; `requestBodies` has replaced equivalent types. */
export function refuseOtherTypes({ req }: Context<Env>): void {
  const type = req.header("content-type")?.split(";", 1)[0]?.trim() ?? "";
  if (/^application\/(?:[\w.+-]+\+)?json$/i.test(type)) return;
  throw new InferyardError("MEDIA_TYPE_UNSUPPORTED", "this route does not support the content-type of the request", {
    remedy: "send content-type: application/json",
  });
}
