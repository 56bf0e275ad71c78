/** JSON bodies of requests. */
import type { Context } from "hono";
import { InferyardError } from "../../contract/errors.ts";
import type { Env } from "./context.ts";

/** The JSON body; a missing body is an empty object. Throws INPUT_INVALID and LIMIT_EXCEEDED. */
export async function jsonBody(context: Context<Env>): Promise<unknown> {
  const body = context.get("body");
  if ((await body.text()).trim() === "") return {};
  try {
    return await body.json();
  } catch {
    throw new InferyardError("INPUT_INVALID", "the body is not JSON", {
      remedy: "send a JSON object; GET /openapi.json describes every request",
    });
  }
}

/** Throws MEDIA_TYPE_UNSUPPORTED for a body whose content type is not JSON; `requestBodies` has replaced those that stand for it. */
export function refuseOtherTypes({ req }: Context<Env>): void {
  const type = req.header("content-type")?.split(";", 1)[0]?.trim() ?? "";
  if (/^application\/(?:[\w.+-]+\+)?json$/i.test(type)) return;
  throw new InferyardError("MEDIA_TYPE_UNSUPPORTED", "this route does not support the content-type of the request", {
    remedy: "send content-type: application/json",
  });
}
