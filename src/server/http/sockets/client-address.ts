/** Identifies clients by address. */
import { isIPv6 } from "node:net";

/**
 * The key by which connections of a client are counted: its IPv4 address, or its IPv6 /64 network, which is assigned to one site as a whole (RFC
 * 6177).
 */
export function clientAddress(address: string): string {
  const plain = address.toLowerCase().replace(/^::ffff:(?=\d+\.)/, "");
  if (!isIPv6(plain) || plain === "::1") return plain;
  const [front = "", back] = plain.replace(/%.*$/, "").split("::");
  const groups = front === "" ? [] : front.split(":");
  const behind = back === undefined || back === "" ? [] : back.split(":");
  const zeros = back === undefined ? [] : Array.from({ length: 8 - groups.length - behind.length }, () => "0");
  const network = [...groups, ...zeros, ...behind].slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16));
  return `${network.join(":")}::/64`;
}
