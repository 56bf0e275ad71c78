/** Who asks, and what they may do. */
import { isIP } from "node:net";
import { InferyardError } from "../errors.ts";
import { type KeyRing, presentedKey } from "./keys.ts";
import type { Role } from "./server-settings.ts";

export interface Identity {
  /** Tells clients apart: "key:NAME", or the address. */
  readonly client: string;
  readonly role: Role;
  /** Requests a minute, where the key has a limit of its own. */
  readonly requestsPerMinute?: number;
}

/** What is known of one request before its body is read. */
export interface Sender {
  readonly header: (name: string) => string | undefined;
  /** The other end of the socket; undefined where there is none. */
  readonly address: string | undefined;
}

/** Probes carry no key: these say nothing but that the server is there. The document says what requests look like. */
const open: ReadonlySet<string> = new Set([
  "/dashboard",
  "/health",
  "/health/live",
  "/health/ready",
  "/v2/health/live",
  "/v2/health/ready",
  "/openapi.json",
]);

export function isOpen(path: string): boolean {
  return open.has(path);
}

/** UNAUTHORIZED where keys are set and none of them is presented. */
export function identify({ header, address }: Sender, keys: KeyRing, trustProxy: boolean): Identity {
  const client = (trustProxy ? forwardedFor(header) : undefined) ?? address ?? "";
  if (keys.empty) return { client, role: isLocal({ header, address }) ? "admin" : "reader" };
  const presented = presentedKey(header);
  const key = presented === undefined ? undefined : keys.find(presented);
  if (key === undefined) {
    throw new InferyardError("UNAUTHORIZED", presented === undefined ? "a key is needed" : "this key is not known here", {
      remedy: "send the header Authorization: Bearer KEY",
    });
  }
  const { name, role, requestsPerMinute } = key;
  return { client: `key:${name}`, role, ...(requestsPerMinute === undefined ? {} : { requestsPerMinute }) };
}

/**
 * The address that the nearest proxy saw: the last of the list. Those before it are what the client says of itself.
 */
function forwardedFor(header: Sender["header"]): string | undefined {
  const last = header("x-forwarded-for")?.split(",").at(-1)?.trim();
  return last !== undefined && isIP(last) !== 0 ? last : undefined;
}

/**
 * From this machine, meant for this machine, through no proxy. A page of elsewhere whose name was turned to our address writes that name in
 * `Host`, and is no administrator. A request without a socket comes from our own program.
 */
function isLocal({ header, address }: Sender): boolean {
  if (address === undefined) return true;
  if (header("x-forwarded-for") !== undefined || header("forwarded") !== undefined) return false;
  return isLoopback(address) && isLoopback(hostOf(header("host") ?? ""));
}

/** `host` or `host:port`, with brackets around an address of six. */
function hostOf(written: string): string {
  return written.startsWith("[") ? written.slice(1, written.indexOf("]")) : written.replace(/:\d+$/, "");
}

export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/^::ffff:/, "");
  if (name === "localhost" || name === "::1") return true;
  return isIP(name) === 4 && name.startsWith("127.");
}

/** FORBIDDEN for a page of another origin that the settings do not name: without keys, any page a person has open could use the server. */
export function refuseForeignPage(header: Sender["header"], cors: readonly string[]): void {
  const origin = header("origin");
  if (origin === undefined || cors.includes("*") || cors.includes(origin)) return;
  if (URL.canParse(origin) && new URL(origin).host === header("host")) return;
  throw new InferyardError("FORBIDDEN", `pages of ${JSON.stringify(origin.slice(0, 200))} may not use this server`, {
    remedy: "name the origin in the server's setting cors",
  });
}
