/** Routers and paths of the HTTP framework. */
import { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { Env, Routes } from "./context.ts";
import { refuseInvalid } from "./validation.ts";

/** Makes the response for whatever a route throws, in the error format of its protocol. */
export type ErrorHandler = (thrown: unknown, context: Context<Env>) => Response;

/** An empty router whose errors, invalid requests included, are formatted by `handleError`. */
export function createRoutes(handleError: ErrorHandler): Routes {
  const routes = new OpenAPIHono<Env>({ defaultHook: refuseInvalid });
  routes.onError(handleError);
  return routes;
}

/** A path of the OpenAPI document ("/v2/models/{model}") as the framework writes it ("/v2/models/:model"). */
export function routerPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ":$1");
}
