/** Which protocol's errors a path gets where no route of it was reached: a request without a key, too large, or to nowhere. */
import type { Context } from "hono";
import type { Env } from "./context.ts";
import { kserveError } from "./kserve/errors.ts";
import { nativeError } from "./native/errors.ts";

export type ErrorShape = (thrown: unknown, context: Context<Env>) => Response;

const shapes: readonly { readonly path: RegExp; readonly shape: ErrorShape }[] = [
  { path: /^\/v2(\/?$|\/(health|models|repository)\b)/, shape: kserveError },
];

export const errorShape: ErrorShape = (thrown, context) => {
  const { shape } = shapes.find(({ path }) => path.test(context.req.path)) ?? { shape: nativeError };
  return shape(thrown, context);
};
