/** Who asks, and what they may do. */
import { isIP } from "node:net";
import { InferyardError } from "../../../errors.ts";
import { type KeyRing, presentedKey } from "./api-keys.ts";
import { hostOf, isLoopback } from "./origin.ts";
import type { Role } from "../../server-settings.ts";

export interface Identity {
  /** Tells clients apart: "key:NAME", or the address. */
  readonly client: string;
  readonly role: Role;
  /** Whether requests may name any reference (a path, hf:owner/name), and not only models that have a name here. */
  readonly anyReference: boolean;
  /** Requests a minute, where the key has a limit of its own. */
  readonly requestsPerMinute?: number;
}

/** What is known of one request before its body is read. */
export interface RequestFacts {
  readonly header: (name: string) => string | undefined;
  /** Names of all its headers, in small letters. */
  readonly headerNames: () => Iterable<string>;
  /** The other end of the socket; undefined where there is none. */
  readonly address: string | undefined;
  /** "1.1"; undefined where it is not known. */
  readonly httpVersion?: string | undefined;
}

/** Probes carry no key: these say nothing but that the server is there. The document says what requests look like. */
const publicPaths: ReadonlySet<string> = new Set([
  "/dashboard",
  "/health",
  "/health/live",
  "/health/ready",
  "/v2/health/live",
  "/v2/health/ready",
  "/openapi.json",
]);

export function isPublicPath(path: string): boolean {
  return publicPaths.has(path);
}

/**
 * UNAUTHORIZED where keys are set and none of them is presented. Without keys a program of this machine is an admin, who loads and unloads
 * models by name; only the key of an admin gives the right to name any reference, since pages and other users of this machine have none.
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

/**
 * The address that the nearest proxy saw: the last of the list. Those before it are what the client says of itself.
 */
function forwardedFor(header: RequestFacts["header"]): string | undefined {
  const last = header("x-forwarded-for")?.split(",").at(-1)?.trim();
  return last !== undefined && isIP(last) !== 0 ? last : undefined;
}

/** Headers that proxies, tunnels and content delivery networks add, and programs of this machine do not. */
const proxyHeaders =
  /^(?:via|forwarded|cdn-loop|true-client-ip|(?:x-)?(?:real|client|cluster-client|fastly-client|fly-client|azure-clientip)(?:-ip)?|x-(?:forwarded|original|envoy|proxy|arr)-.*|(?:cf|ngrok|tailscale)-.*)$/;

/**
 * From this machine, meant for this machine, through no proxy. A page of elsewhere whose name was turned to our address writes that name in
 * `Host`, and is no administrator. nginx speaks HTTP/1.0 to what is behind it unless it is told otherwise. A request without a socket comes
 * from our own program.
 */
function isLocal({ header, headerNames, address, httpVersion }: RequestFacts): boolean {
  if (address === undefined) return true;
  if (!isLoopback(address) || !isLoopback(hostOf(header("host") ?? "")) || httpVersion === "1.0") return false;
  return ![...headerNames()].some((name) => proxyHeaders.test(name));
}
