/** Files and batches of the client that makes a request. */
import type { Context } from "hono";
import { InferyardError } from "../../../../contract/errors.ts";
import type { Batches } from "../../../batches/batches.ts";
import type { Identity } from "../../../http/access/identity.ts";
import type { Env } from "../../../http/context.ts";
import type { Service } from "../../../serving/service.ts";

/** The client of a request, with its rights. */
export function identityOf(context: Context<Env>): Identity {
  return { client: context.get("client"), role: context.get("role"), anyReference: context.get("anyReference") };
}

/** The files and batches of the server. Throws NOT_BUILT if it has no folder for them. */
export function batchesOf({ batches }: Service): Batches {
  if (batches !== undefined) return batches;
  throw new InferyardError("NOT_BUILT", "this server keeps no files", {
    remedy: "give createHandler a dataFolder; inferyard serve has one",
  });
}

/** A page of a list: the items after the one with the id `after`. Throws NOT_FOUND if there is none. */
export function pageOf<Item extends { readonly id: string }>(
  all: readonly Item[],
  { after, limit }: { readonly after?: string | undefined; readonly limit: number },
): { readonly items: readonly Item[]; readonly hasMore: boolean } {
  const start = after === undefined ? 0 : all.findIndex(({ id }) => id === after) + 1;
  if (after !== undefined && start === 0)
    throw new InferyardError("NOT_FOUND", `there is no ${JSON.stringify(after.slice(0, 80))} in this list`);
  return { items: all.slice(start, start + limit), hasMore: all.length > start + limit };
}
