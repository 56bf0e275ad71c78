/** Checks against cross-origin requests and DNS rebinding: which web pages may use the server, and under which host names it responds. */
import { isIP } from "node:net";
import { InferyardError } from "../../../contract/errors.ts";

type Header = (name: string) => string | undefined;

/** Both ends of a request's socket. */
export interface ConnectionAddresses {
  /** Address of the client; undefined where there is no socket. */
  readonly address: string | undefined;
  /** Address the server listens on, as the settings have it; undefined where there is no socket. */
  readonly listenAddress?: string | undefined;
}

/**
 * Throws FORBIDDEN for a request of a web page whose origin is not in `cors`: on a server without keys, any page in a user's browser could use it otherwise.
 * Browsers send no Origin for images, scripts, forms and navigations with GET; Sec-Fetch-Site shows the initiator of these.
 */
export function refuseCrossOrigin(header: Header, cors: readonly string[]): void {
  const origin = header("origin");
  if (cors.includes("*") || (origin !== undefined && cors.includes(origin))) return;
  if (origin !== undefined && !(URL.canParse(origin) && new URL(origin).host === header("host"))) {
    throw crossOriginError(`pages of ${JSON.stringify(origin.slice(0, 200))} may not use this server`);
  }
  const site = header("sec-fetch-site");
  if (site === undefined || site === "same-origin" || site === "none") return;
  throw crossOriginError(`a page of another origin caused this request (Sec-Fetch-Site: ${site.slice(0, 20)})`);
}

function crossOriginError(message: string): InferyardError {
  return new InferyardError("FORBIDDEN", message, { remedy: "name the origin in the server's setting cors" });
}

/**
 * Throws FORBIDDEN if `Host` is not a name of this server. To the browser, a page whose domain was pointed at this address (DNS rebinding) has
 * the same origin as the server, and only `Host` differs. Checked if `allowedHosts` is set, and on servers without keys that listen on loopback.
 */
export function refuseUnknownHost(
  header: Header,
  { address, listenAddress }: ConnectionAddresses,
  { allowedHosts, hasKeys }: { readonly allowedHosts: readonly string[] | undefined; readonly hasKeys: boolean },
): void {
  const written = header("host");
  if (written === undefined && address === undefined) return; // a request made by this program
  const local = !hasKeys && listenAddress !== undefined && isLoopback(listenAddress);
  if (allowedHosts === undefined && !local) return;
  const host = parseHost(written ?? "");
  if (host === listenAddress?.toLowerCase() || allowedHosts?.some((allowed) => isNamed(host, allowed)) === true) return;
  const fromHere = address === undefined || isLoopback(address);
  if (fromHere && (isLoopback(host) || host.endsWith(".localhost"))) return;
  throw new InferyardError("FORBIDDEN", `this server does not answer under the host name ${JSON.stringify(host.slice(0, 200))}`, {
    remedy: `ask for it under the address it listens on${local ? ", as localhost," : ""} or add the name to its setting allowedHosts`,
  });
}

/** Whether the host is allowed; ".example.com" allows example.com and all names below it. */
function isNamed(host: string, allowed: string): boolean {
  const name = allowed.toLowerCase();
  return host === name || (name.startsWith(".") && (host === name.slice(1) || host.endsWith(name)));
}

/** The host name of `host`, `host:port` or `[address]:port`, in lower case. */
export function parseHost(written: string): string {
  const host = written.startsWith("[") ? written.slice(1, written.indexOf("]")) : written.replace(/:\d*$/, "");
  return host.toLowerCase();
}

/** Whether the host is localhost or a loopback address. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/^::ffff:/, "");
  if (name === "localhost" || name === "::1") return true;
  return isIP(name) === 4 && name.startsWith("127.");
}
