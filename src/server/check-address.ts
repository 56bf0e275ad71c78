/** Checks that the server can listen on an address. Called before models are loaded, so that a port in use is reported at once. */
import { once } from "node:events";
import { createServer } from "node:net";
import { InferyardError, quoteOption } from "../contract/errors.ts";
import { serverDefaults } from "../settings/server-options.ts";
import { isLoopback } from "./http/access/origin.ts";
import type { ServerKey } from "../settings/server-maps.ts";

/** An address, and the settings that decide whether other machines may reach it. */
export interface CheckedAddress {
  readonly address?: string | undefined;
  readonly port?: number | undefined;
  readonly allowAnonymous?: boolean | undefined;
  readonly keys?: readonly ServerKey[] | undefined;
}

/**
 * Listens on the address briefly and closes again. Throws CONFIG_INVALID if the address is in use, does not belong to this machine, or would be
 * reachable from other machines without API keys.
 */
export async function checkAddress(asked: CheckedAddress): Promise<void> {
  const { address = serverDefaults.address, port = serverDefaults.port } = asked;
  refuseAnonymous(asked);
  const server = createServer((socket) => socket.destroy());
  server.listen(port, address);
  try {
    await once(server, "listening");
  } catch (error) {
    throw cannotListen(address, port, error as NodeJS.ErrnoException);
  }
  await new Promise<void>((resolve) => server.close(() => resolve()));
}

/** Throws CONFIG_INVALID for an address that other machines can reach, if there are no API keys and `allowAnonymous` is not set. */
export function refuseAnonymous({ address = serverDefaults.address, keys = [], allowAnonymous = false }: CheckedAddress): void {
  if (isLoopback(address) || keys.length > 0 || allowAnonymous) return;
  throw new InferyardError("CONFIG_INVALID", `${address} can be reached by other machines, and no keys are set`, {
    remedy: `set keys (docs/guide/serving.md), listen on 127.0.0.1, or set ${quoteOption("allowAnonymous", true)}`,
  });
}

/** Creates the error for an address that the server cannot listen on. */
export function cannotListen(address: string, port: number, error: NodeJS.ErrnoException): InferyardError {
  const inUse = error.code === "EADDRINUSE";
  return new InferyardError("CONFIG_INVALID", `cannot listen on ${address}:${port}: ${inUse ? "it is in use" : error.message}`, {
    remedy: inUse ? `choose another ${quoteOption("port")}` : "choose another address or port",
    cause: error,
  });
}
