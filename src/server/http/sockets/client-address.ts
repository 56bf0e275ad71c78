/** Which connections count as one client's. */
import { isIPv6 } from "node:net";

/** The address of a client, by which its connections are counted: of IPv6 the network of 64 bits, which one client has whole (RFC 6177). */
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
