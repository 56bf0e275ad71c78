/** Which web pages may use the server, and under which names it answers: the checks against foreign pages and DNS rebinding. */
import { isIP } from "node:net";
import { InferyardError } from "../../../errors.ts";

type Header = (name: string) => string | undefined;

/** The other end of a request's socket, and the address it was taken on. */
export interface ConnectionAddresses {
  /** Address of the client; undefined where there is no socket. */
  readonly address: string | undefined;
  /** What the server listens on, as the settings write it; undefined where there is no socket. */
  readonly listenAddress?: string | undefined;
}

/**
 * FORBIDDEN for a page of another origin that `cors` does not name: without keys, any page a person has open could use the server. A browser
 * says in `Sec-Fetch-Site` who caused a request, also where it sends no `Origin`: images, scripts, forms and navigations with GET.
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
 * FORBIDDEN for a `Host` that is not a name of this server. A page whose name was pointed at our address (DNS rebinding) is of the same origin
 * as the server for its browser, and only `Host` tells. Checked where `allowedHosts` is set, and on a server without keys that listens on
 * loopback.
 */
export function refuseUnknownHost(
  header: Header,
  { address, listenAddress }: ConnectionAddresses,
  { allowedHosts, hasKeys }: { readonly allowedHosts: readonly string[] | undefined; readonly hasKeys: boolean },
): void {
  const written = header("host");
  if (written === undefined && address === undefined) return; // a call of this program
  const local = !hasKeys && listenAddress !== undefined && isLoopback(listenAddress);
  if (allowedHosts === undefined && !local) return;
  const host = hostOf(written ?? "");
  if (host === listenAddress?.toLowerCase() || allowedHosts?.some((allowed) => isNamed(host, allowed)) === true) return;
  const fromHere = address === undefined || isLoopback(address);
  if (fromHere && (isLoopback(host) || host.endsWith(".localhost"))) return;
  throw new InferyardError("FORBIDDEN", `this server does not answer under the host name ${JSON.stringify(host.slice(0, 200))}`, {
    remedy: `ask for it under the address it listens on${local ? ", as localhost," : ""} or add the name to its setting allowedHosts`,
  });
}

/** ".example.com" allows example.com and every name below it. */
function isNamed(host: string, allowed: string): boolean {
  const name = allowed.toLowerCase();
  return host === name || (name.startsWith(".") && (host === name.slice(1) || host.endsWith(name)));
}

/** The name of `host`, `host:port` or `[address]:port`, in small letters. */
export function hostOf(written: string): string {
  const host = written.startsWith("[") ? written.slice(1, written.indexOf("]")) : written.replace(/:\d*$/, "");
  return host.toLowerCase();
}

export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/^::ffff:/, "");
  if (name === "localhost" || name === "::1") return true;
  return isIP(name) === 4 && name.startsWith("127.");
}
