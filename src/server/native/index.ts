/** Our own protocol, under /api: the shape of Termite's, and what only we have. */
import { OpenAPIHono } from "@hono/zod-openapi";
import type { Env, Routes } from "../context.ts";
import { refuseInvalid } from "../validation.ts";
import type { Service } from "../service.ts";
import { version } from "../../version.ts";
import { addEmbed } from "./embed.ts";
import { nativeError } from "./errors.ts";

export function nativeRoutes(service: Service): Routes {
  const routes = new OpenAPIHono<Env>({ defaultHook: refuseInvalid });
  routes.onError(nativeError);
  addEmbed(routes, service);
  routes.get("/api/version", (context) => context.json({ version }));
  return routes;
}
