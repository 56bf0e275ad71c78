/** Routes under /api that only admins may use. */
import type { Context } from "hono";
import { InferyardError } from "../../../contract/errors.ts";
import type { Env } from "../../http/context.ts";

/** Throws FORBIDDEN if the client is not an admin. */
export function requireAdmin(context: Context<Env>): void {
  if (context.get("role") === "admin") return;
  throw new InferyardError("FORBIDDEN", `${context.req.method} ${context.req.path} is for admins`, {
    remedy: "use a key with the role admin",
  });
}
