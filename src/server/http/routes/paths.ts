/** Paths of routes: as the framework writes them, as the OpenAPI document does, and as names. */
import { z } from "@hono/zod-openapi";

/** A path of the OpenAPI document ("/v2/models/{model}") as the framework writes it ("/v2/models/:model"). */
export function routerPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ":$1");
}

/** A path as the framework writes it ("/v1/models/:model{.+}") as the OpenAPI document has it ("/v1/models/{model}"). */
export function documentPath(path: string): string {
  return path.replaceAll(/\/:(\w+)(?:\{[^}]*\})?/g, "/{$1}");
}

/** Schema of the parameters of a path of the OpenAPI document, which are texts; undefined if it has none. */
export function pathParameters(path: string, descriptions: Readonly<Record<string, string>> = {}): z.ZodObject | undefined {
  const schemas = [...path.matchAll(/\{(?<name>\w+)\}/g)].map(({ groups }) => {
    const { name = "" } = groups ?? {};
    const description = descriptions[name];
    return [name, description === undefined ? z.string() : z.string().openapi({ description })] as const;
  });
  return schemas.length === 0 ? undefined : z.object(Object.fromEntries(schemas));
}

/**
 * Name of a route, for metrics and as `operationId` of the OpenAPI document: `post_v2_models_model_infer`. `path`: as the document has it.
 */
export function routeName(method: string, path: string): string {
  const words = path.split(/\W+/).filter((word) => word !== "");
  return [method.toLowerCase(), ...(words.length === 0 ? ["root"] : words)].join("_");
}
