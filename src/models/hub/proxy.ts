/** The fetch that goes through a proxy where the environment names one. */
import type { Environment } from "./hub-config.ts";

/** What we use of an answer. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: AsyncIterable<Uint8Array> | null;
}

/** What we use of `fetch`. */
export type FetchFunction = (
  url: string,
  options: { readonly headers: Record<string, string>; readonly signal: AbortSignal; readonly redirect: "manual" },
) => Promise<HttpResponse>;

/** HTTPS_PROXY, HTTP_PROXY and NO_PROXY, in either spelling. Node.js 20 has no proxies of its own, so the library is loaded only then. */
export async function proxiedFetch(environment: Environment = process.env): Promise<FetchFunction> {
  const variable = (name: string): string | undefined => environment[name.toLowerCase()] || environment[name] || undefined;
  const [httpProxy, httpsProxy] = [variable("HTTP_PROXY"), variable("HTTPS_PROXY")];
  if (httpProxy === undefined && httpsProxy === undefined) return globalThis.fetch;
  const { EnvHttpProxyAgent, fetch } = await import("undici");
  // "" where a variable is not set: the library would look for it in the environment of the process.
  const dispatcher = new EnvHttpProxyAgent({
    httpProxy: httpProxy ?? "",
    httpsProxy: httpsProxy ?? "",
    noProxy: variable("NO_PROXY") ?? "",
  });
  return (url, options) => fetch(url, { ...options, dispatcher });
}
