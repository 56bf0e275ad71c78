/** What the environment says about Hugging Face and the network, under the names that its own tools obey. */
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { InferyardError, messageOf } from "../../errors.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export interface HubConfig {
  /** Address of the hub, without a slash at its end. */
  readonly endpoint: string;
  /** Sent to the endpoint and to no other host. */
  readonly token?: string;
  /** Hugging Face's own cache. */
  readonly cacheFolder: string;
  /** Nothing may be fetched. */
  readonly offline: boolean;
}

/**
 * HF_ENDPOINT, HF_TOKEN, HF_TOKEN_PATH, HF_HOME, HF_HUB_CACHE and HF_HUB_OFFLINE, as huggingface_hub reads them
 * (https://huggingface.co/docs/huggingface_hub/package_reference/environment_variables).
 */
export async function readHubConfig(environment: Environment = process.env, offline?: boolean): Promise<HubConfig> {
  const variable = (name: string): string | undefined => environment[name]?.trim() || undefined;
  const home = resolve(variable("HF_HOME") ?? join(variable("XDG_CACHE_HOME") ?? join(homedir(), ".cache"), "huggingface"));
  const token =
    variable("HF_TOKEN") ??
    variable("HUGGING_FACE_HUB_TOKEN") ??
    (await tokenIn(variable("HF_TOKEN_PATH") ?? join(home, "token")));
  return {
    endpoint: endpointOf(variable("HF_ENDPOINT") ?? "https://huggingface.co"),
    ...(token === undefined ? {} : { token: checkToken(token) }),
    cacheFolder: resolve(variable("HF_HUB_CACHE") ?? variable("HUGGINGFACE_HUB_CACHE") ?? join(home, "hub")),
    offline: offline ?? isTrue(variable("HF_HUB_OFFLINE")),
  };
}

/** As huggingface_hub reads a switch. */
function isTrue(text: string | undefined): boolean {
  return ["1", "ON", "YES", "TRUE"].includes((text ?? "").toUpperCase());
}

function endpointOf(text: string): string {
  if (URL.canParse(text) && /^https?:/i.test(text)) return text.replace(/\/+$/, "");
  throw new InferyardError("CONFIG_INVALID", `HF_ENDPOINT is "${text}", which is not the address of a hub`, {
    remedy: "write it with https://, or leave it out",
  });
}

/** Where `hf auth login` puts it. */
async function tokenIn(path: string): Promise<string | undefined> {
  try {
    return (await readFile(path, "utf8")).trim() || undefined;
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw new InferyardError("CONFIG_INVALID", `the token in ${path} cannot be read: ${messageOf(error)}`, {
      remedy: "check its permissions, or set HF_TOKEN",
      cause: error,
    });
  }
}

/** The token itself stays out of the message. */
function checkToken(token: string): string {
  if (/^[\x21-\x7E]+$/.test(token)) return token;
  throw new InferyardError("CONFIG_INVALID", "the Hugging Face token holds a space or a character that no token has", {
    remedy: "set HF_TOKEN to a token of https://huggingface.co/settings/tokens",
  });
}
