/** How large a body may be. */
import type { MiddlewareHandler } from "hono";
import { bodyLimit } from "hono/body-limit";
import { InferyardError } from "../errors.ts";
import type { Env } from "./context.ts";

/**
 * LIMIT_EXCEEDED for a body of more than `maxSize` bytes. Where its length is announced that is all that is looked at: the socket takes no
 * more than was announced, and to wrap a body in a stream that counts costs a third of a small request.
 */
export function limitBytes(maxSize: number): MiddlewareHandler<Env> {
  const refuse = (): never => {
    throw new InferyardError("LIMIT_EXCEEDED", `the body is larger than ${maxSize} bytes`, {
      remedy: "send less at once",
      data: { limit: maxSize },
    });
  };
  const counting = bodyLimit({ maxSize, onError: refuse });
  return async (context, next) => {
    const announced = context.req.header("content-length");
    if (announced === undefined || context.req.header("transfer-encoding") !== undefined) return counting(context, next);
    if (!(Number(announced) <= maxSize)) refuse();
    return next();
  };
}
