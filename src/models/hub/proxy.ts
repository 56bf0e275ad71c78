/** A `fetch` that uses the proxy that the environment names. */
import type { HubEnvironment } from "./hub-config.ts";

/** The part of a fetch Response that requests to the hub use. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: AsyncIterable<Uint8Array> | null;
}

/** The part of `fetch` that requests to the hub use. */
export type FetchFunction = (
  url: string,
  options: { readonly headers: Record<string, string>; readonly signal: AbortSignal; readonly redirect: "manual" },
) => Promise<HttpResponse>;

/**
 * Returns the `fetch` for requests to the hub: the global one, or undici's with a proxy if HTTPS_PROXY or HTTP_PROXY is set, in upper or lower case. NO_PROXY
 * is obeyed. The `fetch` of Node.js 20 does not support proxies; undici is loaded only if a proxy is set, or `certificates`: PEM texts of authorities that are
 * trusted in addition to Node.js's.
 */
export async function proxiedFetch(
  environment: HubEnvironment = process.env,
  certificates?: readonly string[],
): Promise<FetchFunction> {
  const variable = (name: string): string | undefined => environment[name.toLowerCase()] || environment[name] || undefined;
  const [httpProxy, httpsProxy] = [variable("HTTP_PROXY"), variable("HTTPS_PROXY")];
  if (httpProxy === undefined && httpsProxy === undefined && certificates === undefined) return globalThis.fetch;
  const { EnvHttpProxyAgent, fetch } = await import("undici");
  // "" for a variable that is not set: undici would otherwise read it from the environment of the process.
  const dispatcher = new EnvHttpProxyAgent({
    httpProxy: httpProxy ?? "",
    httpsProxy: httpsProxy ?? "",
    noProxy: variable("NO_PROXY") ?? "",
    ...(certificates === undefined ? {} : { connect: { ca: [...certificates] }, requestTls: { ca: [...certificates] } }),
  });
  return (url, options) => fetch(url, { ...options, dispatcher });
}
