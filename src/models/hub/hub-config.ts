/** Reads the configuration of the hub from the environment variables of huggingface_hub. */
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { InferyardError, getMessage } from "../../contract/errors.ts";
import { homeFolder } from "../../platform/node/home-folder.ts";

/** Environment variables by name. */
export type HubEnvironment = Readonly<Record<string, string | undefined>>;

/** Access to the Hugging Face hub: its URL, the access token, the cache folder, and whether the network may be used. */
export interface HubConfig {
  /** URL of the hub, without a slash at the end. */
  readonly endpoint: string;
  /** Access token, which is sent to the endpoint only. */
  readonly token?: string;
  /** Absolute path of Hugging Face's cache. */
  readonly cacheFolder: string;
  /** Whether nothing may be fetched. */
  readonly offline: boolean;
}

/**
 * Reads the hub's configuration from HF_ENDPOINT, HF_TOKEN, HF_TOKEN_PATH, HF_HOME, HF_HUB_CACHE and HF_HUB_OFFLINE as
 * huggingface_hub does (https://huggingface.co/docs/huggingface_hub/package_reference/environment_variables). `offline` overrides
 * HF_HUB_OFFLINE. Throws CONFIG_INVALID for an invalid endpoint or token.
 */
export async function readHubConfig(environment: HubEnvironment = process.env, offline?: boolean): Promise<HubConfig> {
  const variable = (name: string): string | undefined => environment[name]?.trim() || undefined;
  const home = resolve(variable("HF_HOME") ?? join(variable("XDG_CACHE_HOME") ?? join(homeFolder(), ".cache"), "huggingface"));
  const token =
    variable("HF_TOKEN") ??
    variable("HUGGING_FACE_HUB_TOKEN") ??
    (await tokenIn(variable("HF_TOKEN_PATH") ?? join(home, "token")));
  return {
    endpoint: getEndpoint(variable("HF_ENDPOINT") ?? "https://huggingface.co"),
    ...(token === undefined ? {} : { token: checkToken(token) }),
    cacheFolder: resolve(variable("HF_HUB_CACHE") ?? variable("HUGGINGFACE_HUB_CACHE") ?? join(home, "hub")),
    offline: offline ?? isTrue(variable("HF_HUB_OFFLINE")),
  };
}

/** Whether a variable is on, by the rules of huggingface_hub. */
function isTrue(text: string | undefined): boolean {
  return ["1", "ON", "YES", "TRUE"].includes((text ?? "").toUpperCase());
}

function getEndpoint(text: string): string {
  if (URL.canParse(text) && /^https?:/i.test(text)) return text.replace(/\/+$/, "");
  throw new InferyardError("CONFIG_INVALID", `HF_ENDPOINT is "${text}", which is not the address of a hub`, {
    remedy: "write it with https://, or leave it out",
  });
}

/** The token in the file that `hf auth login` writes, or undefined if there is none. */
async function tokenIn(path: string): Promise<string | undefined> {
  try {
    return (await readFile(path, "utf8")).trim() || undefined;
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw new InferyardError("CONFIG_INVALID", `the token in ${path} cannot be read: ${getMessage(error)}`, {
      remedy: "check its permissions, or set HF_TOKEN",
      cause: error,
    });
  }
}

/** Returns the token. The message of the error does not contain it. */
function checkToken(token: string): string {
  if (/^[\x21-\x7E]+$/.test(token)) return token;
  throw new InferyardError("CONFIG_INVALID", "the Hugging Face token holds a space or a character that no token has", {
    remedy: "set HF_TOKEN to a token of https://huggingface.co/settings/tokens",
  });
}
