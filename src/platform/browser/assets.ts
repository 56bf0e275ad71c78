/** URLs of the files that cannot be part of a bundle. */
import { InferyardError } from "../../contract/errors.ts";
import { browserScope } from "./global-scope.ts";

/** The setting `assets` as a URL that ends in "/". Default: the folder of the bundle, or of the page if the bundler hides it. */
export function assetsFolder(assets?: string): string {
  if (assets !== undefined) return getAddress("assets", assets.endsWith("/") ? assets : `${assets}/`).href;
  const bundle = import.meta.url;
  return new URL(".", /^https?:/.test(bundle) ? bundle : browserScope().location.href).href;
}

/**
 * Parses `address`, the value of a setting, as a URL relative to the page. `setting` is its name for the message. Throws
 * CONFIG_INVALID for a malformed one.
 */
export function getAddress(setting: string, address: string): URL {
  const page = browserScope().location.href;
  if (URL.canParse(address, page)) return new URL(address, page);
  throw new InferyardError("CONFIG_INVALID", `${setting} is "${address}", which is no address`, {
    remedy: 'give an address, for example "/assets/"',
  });
}
