/** Identifies the client of a request and its rights. */
import { isIP } from "node:net";
import { InferyardError } from "../../../contract/errors.ts";
import { type KeyRing, presentedKey } from "./api-keys.ts";
import { parseHost, isLoopback } from "./origin.ts";
import type { Role } from "../../server-settings.ts";

/** The client of a request, and its permissions. */
export interface Identity {
  /** Identifies the client: "key:NAME", or the address. */
  readonly client: string;
  readonly role: Role;
  /** Whether requests may name any reference (a path, hf:owner/name), and not only the models that have a name on this server. */
  readonly anyReference: boolean;
  /** Rate limit of the key, where it has its own. */
  readonly requestsPerMinute?: number;
}

/** Facts about a request before its body is read. */
export interface RequestFacts {
  /** Value of a header; undefined if the request does not have it. */
  readonly header: (name: string) => string | undefined;
  /** Names of all headers of the request, in lower case. */
  readonly headerNames: () => Iterable<string>;
  /** Address of the client's end of the socket; undefined where there is no socket. */
  readonly address: string | undefined;
  /** "1.0" or "1.1"; undefined if unknown. */
  readonly httpVersion?: string | undefined;
}

/**
 * Paths that need no key: health probes and the dashboard page reveal nothing but that the server is there, and the OpenAPI document describes
 * the routes.
 */
const publicPaths: ReadonlySet<string> = new Set([
  "/dashboard",
  "/health",
  "/health/live",
  "/health/ready",
  "/ping",
  "/v2/health/live",
  "/v2/health/ready",
  "/openapi.json",
]);

/** Whether requests for the path are exempt from keys, rates, and the checks of host and origin. `POST /` runs a model; `GET /` does not. */
export function isPublicPath(path: string, method: string): boolean {
  return publicPaths.has(path) || (path === "/" && (method === "GET" || method === "HEAD"));
}

/**
 * Identifies the client. Throws UNAUTHORIZED if keys are configured and the request presents none of them. Without keys, programs on this machine
 * are admins, who load and unload models by name. Only an admin key permits arbitrary references, since web pages and other users of this machine
 * have none.
 */
export function identify(sender: RequestFacts, keys: KeyRing, trustProxy: boolean): Identity {
  const { header, address } = sender;
  const client = (trustProxy ? forwardedFor(header) : undefined) ?? address ?? "";
  if (keys.empty) return { client, role: isLocal(sender) ? "admin" : "reader", anyReference: false };
  const presented = presentedKey(header);
  const key = presented === undefined ? undefined : keys.find(presented);
  if (key === undefined) {
    throw new InferyardError("UNAUTHORIZED", presented === undefined ? "a key is needed" : "this key is not known here", {
      remedy: "send the header Authorization: Bearer KEY",
    });
  }
  const { name, role, requestsPerMinute } = key;
  const rate = requestsPerMinute === undefined ? {} : { requestsPerMinute };
  return { client: `key:${name}`, role, anyReference: role === "admin", ...rate };
}

/** The address that the nearest proxy saw: the last one of X-Forwarded-For. The client itself may have written those before it. */
function forwardedFor(header: RequestFacts["header"]): string | undefined {
  const last = header("x-forwarded-for")?.split(",").at(-1)?.trim();
  return last !== undefined && isIP(last) !== 0 ? last : undefined;
}

/** Headers that proxies, tunnels and content delivery networks add and local programs do not. */
const proxyHeaders =
  /^(?:via|forwarded|cdn-loop|true-client-ip|(?:x-)?(?:real|client|cluster-client|fastly-client|fly-client|azure-clientip)(?:-ip)?|x-(?:forwarded|original|envoy|proxy|arr)-.*|(?:cf|ngrok|tailscale)-.*)$/;

/**
 * Whether the request comes from this machine directly. The Host header must be a loopback name: a page whose domain resolves to this address
 * (DNS rebinding) sends its own. There must be no sign of a proxy; nginx uses HTTP/1.0 by default. A request without a socket was made by this
 * program.
 */
function isLocal({ header, headerNames, address, httpVersion }: RequestFacts): boolean {
  if (address === undefined) return true;
  if (!isLoopback(address) || !isLoopback(parseHost(header("host") ?? "")) || httpVersion === "1.0") return false;
  return ![...headerNames()].some((name) => proxyHeaders.test(name));
}
