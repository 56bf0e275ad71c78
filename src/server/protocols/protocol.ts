/** What the server knows of a protocol. */
import type { RouteTable } from "../http/routes/router.ts";
import type { Route } from "../http/routes/route.ts";
import type { Readiness } from "../serving/readiness.ts";
import type { Service } from "../serving/service.ts";

/** One protocol: its routes, the format of its errors, and what else its table has. */
export interface Protocol extends Omit<RouteTable, "routes"> {
  readonly routes: (service: Service, readiness: Readiness) => readonly Route[];
}
