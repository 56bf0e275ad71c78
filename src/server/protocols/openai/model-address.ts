/** Models that clients name by the address of this server: @huggingface/inference writes the address that it was given as the model. */
import type { Context } from "hono";
import type { Env } from "../../http/context.ts";

/** The name of the model; of an address of this server, what follows /models/ in it, or undefined for the default model. */
export function modelOfAddress(context: Context<Env>, written: string | undefined): string | undefined {
  if (written === undefined || !/^https?:\/\//.test(written) || !URL.canParse(written)) return written;
  const { host, pathname } = new URL(written);
  if (host !== context.req.header("host")) return written;
  const name = /\/models\/(?<name>.+?)(?:\/v1)?\/?$/.exec(pathname)?.groups?.["name"];
  return name === undefined ? undefined : decodeURIComponent(name);
}
